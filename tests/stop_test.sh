#!/usr/bin/env bash
# Ctrl-C on several hosts: all ranks end within 1 s by themselves and leave an honest run directory with the results of all
# hosts. mpirun tells the ranks of its own host at once; the other hosts hear of it from these ranks, not from mpirun.
# stop_test.sh TESTBED GRADBURST. Exit code 77 = skipped, with a reason.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/standing_testbed.sh"

# In a process group of its own, as a shell does for a terminal. Sets run_pid.
launch() { # NAME PROFILE
  : >output # here, not when the job's shell gets to it: what the last run printed must not be taken for this one's
  set -m
  "$testbed" run --name "$name" -- "$gradburst" "$2" --iface eth0 --out "$work/$1" >"$work/output" 2>&1 </dev/null &
  run_pid=$!
  set +m
}
gone_within() { # MILLISECONDS RUN HOW...
  local took
  took=$(python3 "$here/stop_run.py" "$work/$2" "${@:3}") && echo "figure: $2: the ranks were gone after $took ms" &&
    ((took <= $1))
}

# The label, the timelines and traces of all hosts, no iteration that some rank did not finish.
kept() { # RUN
  python3 - "$1" <<'PYTHON'
import collections, csv, glob, json, sys
folder = sys.argv[1]
run = json.load(open(f"{folder}/run.json"))
assert run["status"] == "interrupted" and run["error"].startswith("stopped by ") and "signal" in run["error"], run["error"]
assert not any("ANSWERED" in warning for warning in run["warnings"]), run["warnings"]
finished = collections.Counter(row["rank"] for row in csv.DictReader(open(f"{folder}/timeline.csv")))
assert sorted(finished) == ["0", "1", "2", "3"], finished
assert min(finished.values()) - 1 <= run["iterations"]["count"] <= min(finished.values()), (finished, run["iterations"])
asked = collections.Counter(row["rank"] for row in csv.DictReader(open(f"{folder}/tcp.csv")))
assert all(finished[rank] <= asked[rank] <= finished[rank] + 1 for rank in finished), (finished, asked)
assert len(run["slow_lane"]) == 4, run["slow_lane"]
sidecars = [json.load(open(name)) for name in glob.glob(f"{folder}/nic/*.eth0.json")]
assert len(sidecars) == 4 and all(sidecar["complete"] for sidecar in sidecars), sidecars
assert len(run["interfaces"]) == 8, [w for w in run["warnings"]]
PYTHON
}
stopped() { # RUN PROFILE RULE HOW...
  launch "$1" "$2"
  comes_true grep -q '^iteration' output
  sleep 0.5
  check "$3 ends the ranks of all hosts within 1 s" gone_within 1000 "$1" "${@:4}"
  wait "$run_pid" 2>/dev/null
  check "$1: all hosts' timelines and traces are kept and labelled" kept "$1"
}
interrupted() { # RUN
  python3 -c 'import json, sys
run = json.load(open(sys.argv[1]))
sys.exit(run["error"] if run["status"] != "interrupted" or "signal" not in run["error"] else 0)' "$1/run.json"
}
nothing_or_interrupted() { [[ ! -e $1/run.json ]] || interrupted "$1"; } # RUN

cat >long.json <<'JSON'
{"compute": {"time": "20ms"}, "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "64KiB", "ready_after": "12ms"}]},
 "run": {"iterations": 100000, "warmup": 1}}
JSON
sed 's/"20ms"/"1.5s"/' long.json >few.json # the signal comes in the gap
sed 's/"64KiB"/"100MB"/' long.json >huge.json # 150 MB per rank: 1.2 s
stopped int long.json "SIGINT to mpirun" mpirun INT
stopped ctrl-c long.json "Ctrl-C" group INT
stopped twice long.json "Ctrl-C, pressed twice," group INT again 0.1
stopped gap few.json "Ctrl-C in a compute gap" group INT
stopped bucket huge.json "Ctrl-C amid a bucket" group INT

# Host 2 cannot answer host 1: the ranks wait for connect_timeout, those that are connected for the others.
"$testbed" exec --name "$name" 2 ip route add blackhole 10.77.0.2/32
launch connect long.json
comes_true grep -q '^run directory' output
sleep 0.5
check "Ctrl-C while ranks cannot connect ends the ranks of all hosts within 1 s" gone_within 1000 connect group INT
wait "$run_pid" 2>/dev/null
check "connect: run.json says interrupted" interrupted connect
"$testbed" exec --name "$name" 2 ip route del blackhole 10.77.0.2/32

# At the start. Inside MPI_Init a rank cannot hear the others: mpirun ends them, which takes it a second.
for delay in 0.1 0.2 0.3 0.4 0.5 0.6 0.8; do
  launch "start-$delay" long.json
  check "Ctrl-C $delay s after mpirun's start ends the ranks of all hosts within 1.5 s" \
    gone_within 1500 "start-$delay" group INT after $delay
  wait "$run_pid" 2>/dev/null
  check "start-$delay: nothing is left, or run.json says interrupted" nothing_or_interrupted "start-$delay"
done

# A lost host is not taken for Ctrl-C, although mpirun then ends the others in the same way.
launch lost long.json
comes_true grep -q '^iteration' output
sleep 0.5
kill -9 "$(pgrep -x gradburst | while read -r pid; do
  [[ $(tr '\0' '\n' <"/proc/$pid/environ") == *OMPI_COMM_WORLD_RANK=2* && $(tr '\0' ' ' <"/proc/$pid/cmdline") == *"$work/lost"* ]] && echo "$pid"
done)"
wait "$run_pid" 2>/dev/null
check "when the rank of another host is killed, run.json names it" python3 -c '
import json
run = json.load(open("lost/run.json"))
assert run["status"] == "failed" and "no answer from rank 2" in run["error"], run["error"]'

((failures == 0)) || { echo "$failures failed" >&2; exit 1; }
