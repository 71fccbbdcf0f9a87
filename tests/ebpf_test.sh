#!/usr/bin/env bash
# The eBPF source in network namespaces of its own: ebpf_test.sh GRADBURST_COLLECT. That it counts what the device counts, leaves
# nothing behind and disturbs nobody, by TCX and by tc filters; and who is refused. Exit code 77 = skipped, with a reason.
set -uo pipefail

here=$(dirname "$(readlink -f "$0")")
collect=$(readlink -f "${1:?path of gradburst-collect}")
source "$here/checks.sh"
says() { grep -qF -- "$1" "$printed"; }

if [[ ${2:-} != inside ]]; then
  printed=$(mktemp)
  trap 'rm -f "$printed" /tmp/ebpf_test.$$.*' EXIT
  refused() { # COMMAND...: before record
    timeout 20 "$@" "$collect" record --iface lo --source ebpf --duration 20ms --no-slow-lane --out /tmp/ebpf_test.$$.csv >"$printed" 2>&1
    equal $? 2
  }
  for program in ip tc unshare iperf3; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
  done
  { refused unshare -n || refused unshare -Urn; } 2>/dev/null
  if says "this build has no eBPF source"; then
    check "a build without it says what to install" says "install libbpf-dev"
    [[ $failures -eq 0 ]] || exit 1
    echo "skipped: $(tail -n 1 "$printed")"
    exit 77
  fi
  rm -f /tmp/ebpf_test.$$.*
  if unshare -Urn true 2>/dev/null; then
    check "root of a user namespace is refused" refused unshare -Urn
    check "and is told why" says "CAP_BPF and CAP_NET_ADMIN are there, but in a user namespace"
  fi
  [[ $failures -eq 0 ]] || exit 1
  [[ $(id -u) -eq 0 ]] && unshare -nm true 2>/dev/null || { echo "skipped: not the host's root"; exit 77; }
  if setpriv --bounding-set=-cap_39,-sys_admin true 2>/dev/null; then
    check "root without CAP_BPF is refused" refused setpriv --bounding-set=-cap_39,-sys_admin
    check "and is told what is missing" says "CAP_BPF is missing"
    check "and what to do" says "setcap cap_bpf,cap_net_admin+ep"
    check "nothing is created" test ! -e /tmp/ebpf_test.$$.csv
  fi
  unshare -nm "$collect" record --iface lo --source ebpf --duration 20ms --no-slow-lane --out /tmp/ebpf_test.$$.csv >"$printed" 2>&1 ||
    { echo "skipped: $(tail -n 1 "$printed")"; exit 77; }
  rm -f /tmp/ebpf_test.$$.*
  unshare -nm --fork --kill-child "$0" "$collect" inside
  exit $((failures > 0 || $? > 0))
fi

mount -t tmpfs tmpfs /mnt && mount -t sysfs sysfs /sys && cd /mnt || exit 1
printed=/mnt/output
: >output
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 # nobody but the test sends
ip link set lo mtu 1500 up                            # with its 64 kB the device splits some super-packets
unshare -n sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; exec iperf3 -s --forceflush' >peer 2>&1 &
peer=$!
iperf3 -s --forceflush >here 2>&1 &
server=$!
trap 'kill $peer $server' EXIT
in_peer() { nsenter -t $peer -n "$@"; }
comes_true eval 'grep -q listening peer && grep -q listening here'

make_pair() { # va here, vb at the peer; no ARP
  ip link add va address 02:00:00:00:00:01 type veth peer name vb address 02:00:00:00:00:02 netns $peer
  ip address add 10.9.0.1/24 dev va && ip link set va up
  in_peer sh -c 'ip address add 10.9.0.2/24 dev vb && ip link set vb up &&
                 ip neighbor replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev vb nud permanent'
  ip neighbor replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev va nud permanent
}
transfer() { # ADDRESS: over TCP 2 MB one way, and what comes the other way meanwhile
  iperf3 -c "$1" -n 2M --bidir >/dev/null
  sleep 0.1
}

record() { # NAME IFACE OPTION...: starts a recording; it is in the middle of it when this returns
  mkdir -p "$1"
  "$collect" record --iface "$2" --source ebpf --interval 1ms --no-slow-lane --out "$1/t.csv" "${@:3}" >"$1/output" 2>&1 &
  recorder=$!
  printed=$1/output
  comes_true eval "(( \$(cat '$1/t.csv' | wc -c) > 400 ))"
}
stop() { # PID: leaves the exit code in $code
  kill -TERM "${1:-$recorder}"
  code=0
  wait "${1:-$recorder}" || code=$?
}
device() { echo "$(</sys/class/net/"$1"/statistics/rx_bytes) $(</sys/class/net/"$1"/statistics/tx_bytes)"; } # IFACE
rise() { # "RX TX" "RX TX"
  local -a from=($1) to=($2)
  echo "$((to[0] - from[0])) $((to[1] - from[1]))"
}
recorded() { tail -n 1 "$1/t.csv" | cut -d , -f 4,5 --output-delimiter ' '; } # FOLDER
at_hook() { # ingress or egress, PATTERN of what is there
  [[ $(tc filter show dev va "$1") == *$2* ]]
}
matches_nothing="1,6 0 0 0" # ret 0
clean() { [[ -z $(tc qdisc show dev va clsact) ]]; }

behaviour() { # by the hook of $GRADBURST_EBPF_HOOK, named $1
  make_pair
  record "$1-counts" va
  local before after
  before=$(device va)
  transfer 10.9.0.2
  after=$(device va)
  stop
  check "$1: rx and tx are those of the device, to the byte" equal "$(recorded "$1-counts")" "$(rise "$before" "$after")"
  check "$1: and those are the transfer's" eval "read -r rx tx <<<'$(rise "$before" "$after")' && ((rx > 100000 && tx > 100000 && rx + tx > 2000000))"
  check "$1: the recording ends properly" equal $code 0
  check "$1: the sidecar says where it counts" grep -q "before it and a shaper there.*counted at tc by $2" "$1-counts/t.json"
  check "$1: nothing is left" clean

  tc qdisc add dev va clsact
  tc filter add dev va ingress pref 9 bpf bytecode "$matches_nothing"
  tc filter add dev va egress pref 9 bpf bytecode "$matches_nothing"
  record "$1-one" va
  local one=$recorder
  before=$(device va)
  record "$1-two" va
  transfer 10.9.0.2
  stop $one
  check "$1: two collectors count side by side" equal "$(recorded "$1-one")" "$(rise "$before" "$(device va)")"
  transfer 10.9.0.2
  after=$(device va)
  stop
  check "$1: the one that is left goes on" equal "$(recorded "$1-two")" "$(rise "$before" "$after")"
  check "$1: foreign filters stay" eval 'at_hook ingress "pref 9" && at_hook egress "pref 9"'
  check "$1: and nothing else" eval '! at_hook ingress gradburst && ! at_hook egress gradburst'
  tc filter del dev va ingress && tc filter del dev va egress
  record "$1-empty" va
  ip link set va down && ip link set va name vx
  check "$1: the sidecar has the new name when the interface is renamed" comes_true grep -q '"name": "vx"' "$1-empty/t.json"
  ip link set vx name va && ip link set va up
  stop
  check "$1: and the recording goes on" grep -q '"failed": 0' "$1-empty/t.json"
  check "$1: so does a qdisc that was empty" eval '! clean'
  tc qdisc del dev va clsact

  record "$1-gone" va
  ip link del va
  sleep 0.15
  make_pair
  sleep 0.15
  comes_true grep -qE ',[67]$' "$1-gone/t.csv"
  before=$(recorded "$1-gone")
  transfer 10.9.0.2
  stop
  check "$1: an interface that comes back is recorded again" equal $code 0
  check "$1: after failed reads, in a new segment" grep -qE ',[67]$' "$1-gone/t.csv"
  check "$1: with what passes then" eval "read -r rx tx <<<'$(rise "$before" "$(recorded "$1-gone")")' && ((rx > 100000 && tx > 100000 && rx + tx > 2000000))"
  record "$1-lost" va
  ip link del va
  sleep 0.05
  stop
  check "$1: an interface that is gone at the end is told" eval 'equal $code 1 && says "counters of va failed at the end"'
}

behaviour tcx "TCX"
make_pair
record killed va
{ kill -KILL $recorder && wait $recorder; } 2>/dev/null
record tcx-after va
before=$(device va)
transfer 10.9.0.2
stop
check "tcx: after SIGKILL the next one counts as ever" equal "$(recorded tcx-after)" "$(rise "$before" "$(device va)")"
ip link del va

export GRADBURST_EBPF_HOOK=clsact
behaviour clsact "filters of clsact"
make_pair
record clsact-killed va
{ kill -KILL $recorder && wait $recorder; } 2>/dev/null
check "clsact: after SIGKILL the filters are there, by name" \
  eval 'at_hook ingress "pref 1 *gradburst_rx" && at_hook egress "pref 1 *gradburst_tx"'
record clsact-after va
check "clsact: the next one replaces them" eval '! at_hook egress "handle*handle"'
stop
check "clsact: and leaves nothing" clean
tc qdisc add dev va clsact
tc filter add dev va egress protocol ip pref 1 bpf bytecode "$matches_nothing"
"$collect" record --iface va --source ebpf --duration 20ms --no-slow-lane --out taken.csv >output 2>&1
code=$?
printed=/mnt/output
check "clsact: a filter that would come first is not pushed aside" eval 'equal $code 2 && says "a filter of another kind with preference 1"'
check "clsact: and stays, alone" eval 'at_hook egress "protocol ip pref 1" && ! at_hook ingress gradburst'
GRADBURST_EBPF_HOOK=tc "$collect" record --iface va --source ebpf --duration 20ms --out hook.csv >output 2>&1
check "another hook is no hook" eval "equal $? 2 && says 'is not clsact'"
ip link del va
unset GRADBURST_EBPF_HOOK

record loopback lo
before=$(device lo)
transfer 127.0.0.1
stop
check "loopback counts as its device does, without the Ethernet header" equal "$(recorded loopback)" "$(rise "$before" "$(device lo)")"

exit $((failures > 0))
