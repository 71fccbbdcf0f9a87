#!/usr/bin/env bash
# What may happen to an interface and to the disk while it is recorded: device_changes_test.sh GRADBURST_COLLECT.
# In namespaces of its own, also without root. Exit code 77 = skipped, with a reason.
set -uo pipefail

here=$(dirname "$(readlink -f "$0")")
collect=$(readlink -f "${1:?path of gradburst-collect}")
if [[ ${2:-} != inside ]]; then
  command -v ip >/dev/null || { echo "skipped: no ip"; exit 77; }
  unshare -Urnm --kill-child true 2>/dev/null || { echo "skipped: no user namespaces"; exit 77; }
  exec unshare -Urnm --kill-child "$0" "$collect" inside
fi

mount -t tmpfs tmpfs /mnt && mount -t sysfs sysfs /sys 2>/dev/null || { echo "skipped: no mounts in here"; exit 77; }
cd /mnt || exit 1
ip link add va type veth peer name vb 2>/mnt/output || { echo "skipped: no veth: $(<output)"; exit 77; }
for link in lo va vb; do ip link set "$link" up; done

source "$here/checks.sh"
printed=/mnt/output
says() { grep -q -- "$1" output; }
sidecar() { grep -qE "\"$2\": $3" "$1"; } # FILE KEY VALUE

record() { # NAME IFACE: starts a recording; it is in the middle of it when this returns
  mkdir -p "$1"
  # shellcheck disable=SC2086 # several options
  "$collect" record --iface "$2" --interval 1ms --no-slow-lane ${more:-} --out "$1/t.csv" >output 2>&1 &
  recorder=$!
  for _ in $(seq 200); do
    [[ $(cat "$1"/t*.csv 2>/dev/null | wc -c) -gt 400 ]] && return
    sleep 0.02
  done
}
stop() { # leaves the exit code in $code
  sleep 0.3
  kill -TERM "$recorder"
  code=0
  wait "$recorder" || code=$?
}

for source in sysfs procfs rtnetlink; do
  more="--source $source" record renamed.$source va
  ip link set va down && ip link set va name vx && ip link set vx up
  stop
  check "$source goes on when the interface is renamed" equal $code 0
  check "no read fails meanwhile, and no counter starts anew" \
    eval "sidecar renamed.$source/t.json failed 0 && ! grep -qE ',[2-7]$' renamed.$source/t.csv"
  check "the sidecar knows both names" \
    eval "sidecar renamed.$source/t.json interface '\"va\"' && sidecar renamed.$source/t.json name '\"vx\"'"
  "$collect" report renamed.$source/t.csv >output 2>&1
  check "and so does the report" says 'renamed  *to vx after'
  ip link set vx down && ip link set vx name va && ip link set va up
done

# Two recordings of one interface: reading disturbs nobody, but a trace has one writer.
record first va
"$collect" record --iface va --interval 1ms --duration 10s --no-slow-lane --out first/t.csv --overwrite >output 2>&1
check "a second recording does not take the first one's trace, not even with --overwrite" \
  eval "equal $? 2 && says 'somebody is recording into it'"
mkdir -p second
"$collect" record --iface va --interval 1ms --duration 400ms --out second/t.csv >output 2>&1
check "a second recording of the same interface into a trace of its own works" equal $? 0
stop
check "and both are complete, without a failed read" eval 'for trace in first second; do
  sidecar $trace/t.json complete true && sidecar $trace/t.json failed 0 || exit 1; done'
"$collect" sum first/t.csv second/t.csv >output 2>&1
check "but nobody adds them up" says 'would count twice'

record returned va
ip link del va
sleep 0.2
ip link add va type veth peer name vb
stop
check "an interface that comes back is recorded again" equal $code 0
check "what came after it is a new segment after failed reads" grep -qE ',[67]$' returned/t.csv

record gone '[vl][ao]'
ip link del va
stop
check "an interface that is gone at the end is told by the exit code" equal $code 1
check "and by its name" says "reading the counters of va failed at the end"
check "its trace is finished, and says since when its counters are unknown" \
  eval 'sidecar gone/t.va.json complete true && sidecar gone/t.va.json lost_from_ns "[0-9]+" &&
    sidecar gone/t.va.json reason "\"signal 15; interface vanished after [0-9.]+ m?s\""'
check "that of the other is known to its end" sidecar gone/t.lo.json lost_from_ns null
check "the other interface is not disturbed" sidecar gone/t.lo.json failed 0
check "both can be reported" eval '"$collect" report gone/t.va.csv >output && "$collect" report gone/t.lo.csv >output'

ip link add va type veth peer name vb
unshare -n sleep 20 &
other=$!
record moved va
sleep 0.1
ip link set va netns $other 2>output
stop
kill $other
check "a recording ends properly when the interface moves to another namespace" sidecar moved/t.json complete true
check "exit code 0 if its counters could still be read, 1 otherwise" test $code -le 1
"$collect" report moved/t.csv >output 2>&1
check "the report tells that it moved" says 'gone  *from this network namespace after'

ip link del vb 2>/dev/null
ip link add va type veth peer name vb
ip link add ca type veth peer name cb
for link in va vb ca cb; do ip link set "$link" up; done
mkdir -p swapped
"$collect" record --iface va --source procfs --interval 300ms --no-slow-lane --out swapped/t.csv >output 2>&1 &
recorder=$!
comes_true test -s swapped/t.json
sleep 0.4
printf 'link set va down\nlink set ca down\nlink set va name vx\nlink set ca name va\nlink set vx name ca\nlink set va up\n' |
  ip -batch - 2>>output
sleep 0.7
stop
check "procfs does not take another device that got the name for the one that had it: it follows the device" \
  eval '! grep -qE ",[2-7]$" swapped/t.csv && sidecar swapped/t.json name "\"ca\""'
ip link del ca

ip link add eth0.slow type veth peer name eth0
"$collect" record --iface 'eth0*' --duration 50ms --out vlan.csv >output 2>&1
check "files of two interfaces that would be one are refused" equal $? 2
check "and nothing was created" eval '[[ -z $(ls vlan* 2>/dev/null) ]]'
ip link del eth0

ip link del vb 2>/dev/null
ip link add va type veth peer name vb
record down va
stop
check "an interface without carrier gives a finished trace" equal $code 0
"$collect" report down/t.csv --json >output 2>&1
check "its report is valid and holds no number that is none" eval '! grep -qiE "[^a-z](nan|inf)[^a-z]" output'

mkdir full && mount -t tmpfs -o size=64k tmpfs full
"$collect" record --iface lo --interval 100us --duration 20s --no-slow-lane --out full/t.csv >output 2>&1
code=$?
check "a disk that fills up ends the recording with exit code 1" equal $code 1
check "and says why" says "No space left on device"
check "the sidecar has room for the reason" eval '"$collect" report full/t.csv | grep -q "No space left on device"'
check "what was written is readable" eval '"$collect" report full/t.csv >output'

exit $((failures > 0))
