#!/usr/bin/env bash
# Bursts of one job do not collide at a switch port, unless all workers push to one server at once.
# collision_test.sh TESTBED GRADBURST PROFILES. Exit code 77 = skipped, with a reason.
set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin

testbed=$(readlink -f "${1:?path of testbed}")
gradburst=$(readlink -f "${2:?path of gradburst}")
export GRADBURST_PROFILES=${3:?folder of profiles}
name=gbc$$x
unset GRADBURST_TESTBED_NAME
for program in mpirun python3 ip tc; do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
"$testbed" shell --name "$name" --hosts 1 -- true >"$work/probe" 2>&1 ||
  { echo "skipped: no namespaces: $(tail -1 "$work/probe")"; exit 77; }

failures=0
# Each rank in a folder of its own, as on hosts that share no files: what they recorded has to come to rank 0.
apart='mkdir -p "$0.$OMPI_COMM_WORLD_RANK" && cd "$0.$OMPI_COMM_WORLD_RANK" && exec "$@"'
run() { # NAME TESTBED_OPTION... -- GRADBURST_ARGUMENT...
  local out=$work/$1 options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  (cd "$work" && "$testbed" run --name "$name" --hosts 4 --rate 1gbit "${options[@]}" -- \
    bash -c "$apart" "$out" "$gradburst" "$@" --line-rate 1Gbit --iface eth0 --iterations 6 --scale-time 0.3 --out run) >"$out.txt" 2>&1 || {
    echo "FAILED: the run $out ends well" >&2
    cat "$out.txt" >&2
    failures=$((failures + 1))
  }
}

run ring -- resnet50
run sequenced -- resnet50-server
run incast -- resnet50-server --service incast
run short-queue --queue 256k -- resnet50-server --service incast

# What one sender alone causes at a port: one super-packet (68,130 bytes with its headers) that waits for the port's tokens, and
# what comes in at 125 bytes/us while the timer of the port's shaper is late. 150,000 bytes allow it 0.65 ms (103 and 115 kB were
# seen once each in 40 runs), and stay far below what three senders pile up.
python3 - "$work" <<'PYTHON' || failures=$((failures + 1))
import csv, glob, json, sys

work = sys.argv[1]
alone = 150_000
runs = ("ring", "sequenced", "incast", "short-queue")
records = {run: json.load(open(f"{work}/{run}.0/run/run.json")) for run in runs}
ports = {run: records[run]["switch_ports"] for run in runs}
failures = 0
for run in runs:
    for port in ports[run]:
        senders = port["active_senders"]
        print(f"{run:12} {port['port']} to {port['leads_to']}: {port['nic_bytes']:9} B, backlog up to "
              f"{port['max_backlog_bytes']:8} B of {port['queue_samples']} readings, {port['drops']} drops, "
              f"senders at once: p50 {senders['p50']}, max {senders['max']} of {senders['possible']}")

def check(rule, holds):
    global failures
    print(("ok: " if holds else "FAILED: ") + rule)
    failures += not holds

for run in runs:
    check(f"{run}: all four ports were sampled with their queues",
          len(ports[run]) == 4 and all(port["queue_samples"] > 100 for port in ports[run]))
for run in ("ring", "sequenced"):
    check(f"{run}: no port queues more than one sender alone causes", all(p["max_backlog_bytes"] <= alone for p in ports[run]))
    check(f"{run}: nothing is dropped", all(p["drops"] == 0 for p in ports[run]))
    check(f"{run}: one sender at a time is typical", all(p["active_senders"]["p50"] <= 1 for p in ports[run]))
check("ring: each port has one sender by the plan", all(p["active_senders"]["possible"] == 1 for p in ports["ring"]))
server = {run: ports[run][0] for run in runs}
check("server: three hosts send to its port by the plan", server["sequenced"]["active_senders"]["possible"] == 3)
check("incast: workers send at the same time", server["incast"]["active_senders"]["max"] >= 2)
check("incast: the server's port queues far more", server["incast"]["max_backlog_bytes"] > 2 * alone)
check("incast into a queue of 256k: the port drops", server["short-queue"]["drops"] > 0)

def resent(run):
    return sum(int(row["retransmitted_segments"]) for row in csv.DictReader(open(f"{work}/{run}.0/run/tcp.csv")))
def counted(run, column): # by the kernels of the hosts
    return sum(lane[column] for lane in records[run]["slow_lane"])
for run in runs:
    print(f"{run:12} retransmits on the ranks' connections {resent(run)}, of the hosts {counted(run, 'tcp_retransmits')}; "
          f"drops in the hosts' queues {counted(run, 'queue_drops')}")
    check(f"{run}: every host's slow lane has come to rank 0",
          len(records[run]["slow_lane"]) == 4 and len(glob.glob(f"{work}/{run}.0/run/nic/*.eth0.slow.json")) == 4)
    check(f"{run}: they were written where the hosts are", len(glob.glob(f"{work}/{run}.3/run/nic/*.eth0.slow.csv")) == 1)
    check(f"{run}: a rank's connections are part of its host's", resent(run) <= counted(run, "tcp_retransmits"))
    check(f"{run}: run.json sums tcp.csv up", resent(run) == records[run]["tcp"]["retransmitted_segments"])
check("ring: each rank, bucket and iteration has its connection", records["ring"]["tcp"]["records"] == 4 * 6)
check("server: it sends to each worker, and each to it", records["incast"]["tcp"]["records"] == (3 + 3) * 6)
check("incast into a queue of 256k: the ranks' connections send again", resent("short-queue") > 0)
check("incast into a queue of 256k: the worst is named", records["short-queue"]["tcp"]["most_retransmitted"]["segments"] > 0)
check("incast into a queue of 256k: the server's own queue drops too", records["short-queue"]["slow_lane"][0]["queue_drops"] > 0)
sys.exit(failures > 0)
PYTHON
exit $((failures > 0))
