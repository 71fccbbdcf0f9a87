#!/usr/bin/env bash
# Phase control, measured by one command: two rings share the links of four hosts, swept over a period.
# Prints the table and checks it: shifted_sweep_test.sh TESTBED GRADBURST PROFILES. Exit code 77 = skipped, with a reason.
set -uo pipefail

testbed=$1
program=$2
export GRADBURST_PROFILES=${3:?folder of profiles}
# shellcheck source=tests/testbed_runs.sh
. "$(dirname "$0")/testbed_runs.sh"
prepare_testbed bbr

# As in shifted_jobs_test.sh: a burst of 37 ms in an iteration of 137 ms, two rings that go around in different orders. Under bbr
# aligned rings stay so for longer than under cubic.
cat >"$out/rings.json" <<'JSON'
{"jobs": [
  {"name": "a", "profile": "resnet50", "ranks": "0-3"},
  {"name": "b", "profile": "resnet50", "ranks": [4, 6, 5, 7]}
]}
JSON
# A busy machine sends at other times than those that this test is about: then once more, at most three times. That the ranks were
# late puts an attempt aside, whatever came of it. The last attempt counts.
for attempt in 1 2 3; do
  "$testbed" run --name "$name" --hosts 4 --rate 1gbit --ranks 8 -- "$program" --jobs "$out/rings.json" --sweep-offset 0..T:5 \
    --congestion-control bbr --iterations 10 --warmup 2 --scale-time 0.1 --scale-bytes 3 --iface eth0 --line-rate 1Gbit \
    --out "$out/sweep" --overwrite >"$out/sweep.txt" 2>&1 ||
    { cat "$out/sweep.txt"; echo "FAILED: the sweep ended with exit code $?"; exit 1; }
  python3 - "$out/sweep" $attempt <<'PYTHON' && break
import glob, json, sys
bound = 0.008 # as in shifted_jobs_test.sh
late = max(json.load(open(path))["bucket_start_lateness_seconds"]["p99"] for path in glob.glob(f"{sys.argv[1]}/*/?/run.json"))
print(f"figures: attempt {sys.argv[2]} of 3: start lateness p99 at most {1e3 * late:.2f} ms (bound {1e3 * bound:.0f} ms)", flush=True)
sys.exit(late > bound)
PYTHON
done
sed -n '/^sweep /,$p' "$out/sweep.txt"

python3 - "$out/sweep" <<'PYTHON'
import json, sys

sweep = json.load(open(f"{sys.argv[1]}/sweep.json"))
steps = {step["directory"]: step for step in sweep["steps"]}
failures = []

def check(rule, holds, figures):
    print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
    if not holds:
        failures.append(rule)

def slowest(step):
    return max(job["interference"] for job in steps[step]["jobs"])

aligned, shifted = slowest("offset-01"), slowest("offset-03")
best = min((name for name in steps if name.startswith("offset")), key=slowest)
check("the sweep is complete", sweep["status"] == "complete" and len(steps) == 7, f"{len(steps)} steps")
print(f"figures: T {1e3 * sweep['period_seconds']:.1f} ms (predicted 137 ms)")
# Two rings at half the rate each would take 1.27 times as long.
check("aligned, an iteration takes at least 1.1 times as long as alone", aligned >= 1.1, f"{aligned:.3f} x")
check("at the best offset it takes as long as alone, within 5 %", slowest(best) <= 1.05, f"{slowest(best):.3f} x at {best}")
check("aligned is slower than half a period apart", aligned > shifted, f"{aligned:.3f} x against {shifted:.3f} x")
queue = {step: steps[step]["backlog"] for step in ("offset-01", best)}
check("queues were read at the switch", all(each and each["of"] == "switch_queue" for each in queue.values()), str(queue["offset-01"]))
check("aligned they are at least twice as long as at the best offset", queue["offset-01"]["estimate_bytes"] >= 2 * queue[best]["estimate_bytes"],
      f"{queue['offset-01']['estimate_bytes']:.0f} B against {queue[best]['estimate_bytes']:.0f} B")
check("drops and retransmits were counted", all(step["drops"] is not None and step["retransmits"] is not None for step in steps.values()),
      ", ".join(f"{step['drops']}/{step['retransmits']}" for step in steps.values()))
sys.exit(1 if failures else 0)
PYTHON
