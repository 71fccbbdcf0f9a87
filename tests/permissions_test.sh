#!/usr/bin/env bash
# What gradburst-collect does without the rights it would like to have: permissions_test.sh GRADBURST_COLLECT.
# In namespaces of its own, also without root. Exit code 77 = skipped, with a reason.
set -uo pipefail

here=$(dirname "$(readlink -f "$0")")
collect=$(readlink -f "${1:?path of gradburst-collect}")
if [[ ${2:-} != inside ]]; then
  for tool in setpriv unshare python3; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
  done
  unshare -Urnm --kill-child true 2>/dev/null || { echo "skipped: no user namespaces"; exit 77; }
  exec unshare -Urnm --kill-child "$0" "$collect" inside
fi
mount -t tmpfs tmpfs /mnt || { echo "skipped: no mounts in here"; exit 77; }
cd /mnt || exit 1

source "$here/checks.sh"
printed=/mnt/output
says() { grep -q -- "$1" output; }
sidecar() { grep -qE "\"$2\": $3" "$1"; } # FILE KEY VALUE
record() { "$@" >output 2>&1; code=$?; }
common=("$collect" record --iface lo --interval 1ms --duration 150ms)

# The network namespace: /sys was mounted in another one.
mkdir -p source
record "${common[@]}" --out source/t.csv
check "where /sys shows another network namespace, the counters come from procfs" \
  eval '[[ $code == 0 ]] && sidecar source/t.json source "\"procfs\""'
check "and the sidecar says why" sidecar source/t.json source_reason '"not sysfs: .*another network namespace'

# Real-time scheduling: not for the root of a user namespace.
ulimit -r 0
mkdir -p fifo
record "${common[@]}" --fifo --out fifo/t.csv
check "without the right to SCHED_FIFO it records as an ordinary thread" equal $code 0
check "and says so at once" says 'WARNING: .*SCHED_FIFO WAS REFUSED'
check "and in the sidecar" sidecar fifo/t.json scheduling '"SCHED_OTHER \(SCHED_FIFO was refused'

# The folder for the output: found before anything is touched.
without_override=(setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search)
if "${without_override[@]}" true 2>output; then
  mkdir -p closed && echo precious >closed/t.csv && chmod 555 closed
  for more in "" --overwrite; do
    record "${without_override[@]}" "${common[@]}" $more --out closed/new.csv
    check "a folder that may not be written is a mistake of the user ${more:-without --overwrite}" equal $code 2
    check "with its name and the reason" eval 'says "closed" && says "Permission denied"'
  done
  record "${without_override[@]}" "${common[@]}" --overwrite --out closed/t.csv
  check "a trace in it is not emptied before that is found" \
    eval '[[ $code == 2 && $(<closed/t.csv) == precious ]]'
  chmod 755 closed
else
  echo "not checked: capabilities cannot be dropped: $(<output)"
fi
record "${common[@]}" --out nowhere/t.csv
check "a folder that is not there is one, too" eval '[[ $code == 2 ]] && says "nowhere"'

# rtnetlink: a sandbox may refuse its sockets.
cat >without_netlink.py <<'EOF'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
AF_NETLINK, SYS_SOCKET, ERRNO_EPERM, ALLOW = 16, 41, 0x00050001, 0x7fff0000
program = b"".join(struct.pack("HBBI", *line) for line in [
    (0x20, 0, 0, 0),               # load the number of the call
    (0x15, 0, 3, SYS_SOCKET),
    (0x20, 0, 0, 16),              # load its first argument
    (0x15, 0, 1, AF_NETLINK),
    (0x06, 0, 0, ERRNO_EPERM),
    (0x06, 0, 0, ALLOW)])
text = ctypes.create_string_buffer(program)
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]
rule = Filter(6, ctypes.addressof(text))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(rule), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
EOF
if [[ $(uname -m) == x86_64 ]] && python3 without_netlink.py "$(type -P true)"; then
  mkdir -p sandbox
  record python3 without_netlink.py "${common[@]}" --out sandbox/t.csv
  check "without rtnetlink it records all the same" equal $code 0
  check "the slow lane is left out, and that is said" \
    eval 'says "WARNING: NO SLOW LANE: .*rtnetlink" && [[ ! -e sandbox/t.slow.csv ]]'
  "$collect" report sandbox/t.csv >output 2>&1
  check "the trace can be reported" equal $? 0
  record python3 without_netlink.py "${common[@]}" --queue --out sandbox/queue.csv
  check "a queue that was asked for and cannot be read is refused before anything is recorded" \
    eval '[[ $code == 2 ]] && says "--queue: .*rtnetlink" && [[ ! -e sandbox/queue.csv ]]'
else
  echo "not checked: system calls cannot be refused here"
fi

exit $((failures > 0))
