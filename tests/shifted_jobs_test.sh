#!/usr/bin/env bash
# What one job avoids, two cause (arXiv 2401.00329): two rings share the links of four hosts, aligned and half a period apart.
# Prints every figure and checks it: shifted_jobs_test.sh TESTBED GRADBURST PROFILES. Exit code 77 = skipped, with a reason.
set -uo pipefail

testbed=$1
program=$2
export GRADBURST_PROFILES=${3:?folder of profiles}
# shellcheck source=tests/testbed_runs.sh
. "$(dirname "$0")/testbed_runs.sh"
prepare_testbed

# ResNet-50 with bytes scaled by 1/100 sends for 12 ms and computes for 1 s. Here it computes for 100 ms, and sends three times
# the bytes: a burst of 37 ms in an iteration of 137 ms, which half a period keeps 31 ms apart. The rings go around in different
# orders, so that connections of two hosts meet at a switch port.
jobs() { # START...
  cat <<JSON
{"jobs": [
  {"name": "a", "profile": "resnet50", "ranks": "0-3"},
  {"name": "b", "profile": "resnet50", "ranks": [4, 6, 5, 7], "start": {$*}}
]}
JSON
}
jobs '"phase": 0, "of": "a"' >"$out/aligned.json"
jobs '"phase": 0.5, "of": "a"' >"$out/shifted.json"
run() { # RUN RANKS GRADBURST_ARGUMENT...
  local attempt
  for ((attempt = 1; attempt <= most_attempts; attempt++)); do
    "$testbed" run --name "$name" --hosts 4 --rate 1gbit --ranks "$2" -- "$program" "${@:3}" --iterations 14 --warmup 2 \
      --scale-time 0.1 --scale-bytes 3 --iface eth0 --line-rate 1Gbit --out "$out/$1" --overwrite >"$out/$1.txt" 2>&1 ||
      { cat "$out/$1.txt"; echo "FAILED: the run $1 ended with exit code $?"; exit 1; }
    on_time "$out/$1" $attempt && return
  done
}
# The ranks of an attempt that had no CPU time when they were due send at other times than those that this test is about. That alone
# puts it aside, whatever came of it: start lateness is the time from when a bucket could start (ready, and the one before ended) to
# when its rank started it, and knows nothing of how long the network took. The last attempt counts, however late.
most_attempts=3
on_time() { # RUN ATTEMPT: prints how late its ranks were
  python3 - "$@" $most_attempts <<'PYTHON'
import json, os, sys
run, attempt, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
bound = 0.008 # a fifth of a burst, a quarter of the pause between the bursts of two shifted jobs
folders = [f"{run}/{job}" for job in "ab"] if os.path.exists(f"{run}/launch.json") else [run]
late = [json.load(open(f"{folder}/run.json"))["bucket_start_lateness_seconds"]["p99"] for folder in folders]
end = "" if max(late) <= bound else "; put aside" if attempt < most else "; this one counts nevertheless"
print(f"figures: {os.path.basename(run)}, attempt {attempt} of {most}: start lateness p99 "
      f"{', '.join(f'{1e3 * each:.2f} ms' for each in late)} (bound {1e3 * bound:.0f} ms){end}", flush=True)
sys.exit(max(late) > bound)
PYTHON
}
for congestion in cubic bbr; do
  grep -qw $congestion /proc/sys/net/ipv4/tcp_available_congestion_control || { echo "skipped: no $congestion"; exit 77; }
  run $congestion-alone 4 resnet50 --congestion-control $congestion
  run $congestion-aligned 8 --jobs "$out/aligned.json" --congestion-control $congestion
  run $congestion-shifted 8 --jobs "$out/shifted.json" --congestion-control $congestion
done

python3 - "$out" <<'PYTHON'
import csv, json, statistics, sys

out = sys.argv[1]
failures = []

def check(rule, holds, figures):
    print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
    if not holds:
        failures.append(rule)

def read(path):
    return json.load(open(f"{out}/{path}/run.json"))

def backlog(run):
    return max(port["max_backlog_bytes"] for port in run["switch_ports"])

def network(run):
    rtt = run["tcp"]["rtt_seconds"]
    drops = sum(port["drops"] for port in run["switch_ports"])
    return (f"switch backlog {backlog(run)} B, drops {drops}, retransmits {run['tcp']['retransmitted_segments']}, rtt p50 "
            f"{milliseconds(rtt['p50'])} p99 {milliseconds(rtt['p99'])}")

def early(path):
    """Median of rank 0's first four measured iterations: where one job gets more than the other, they drift apart later."""
    lengths = {}
    for row in csv.DictReader(open(f"{out}/{path}/timeline.csv")):
        if row["rank"] == "0" and 2 <= int(row["iteration"]) < 6:
            lengths[row["iteration"]] = (int(row["iteration_end_ns"]) - int(row["iteration_start_ns"])) / 1e9
    return statistics.median(lengths.values())

def milliseconds(seconds):
    return f"{1e3 * seconds:.2f} ms"

for congestion in ("cubic", "bbr"):
    alone = read(f"{congestion}-alone")
    base = alone["iterations"]["seconds"]["p50"]
    print(f"figures: {congestion} alone: iteration p50 {milliseconds(base)} (predicted "
          f"{milliseconds(alone['iterations']['predicted_seconds'])}); {network(alone)}")
    runs = {(way, job): read(f"{congestion}-{way}/{job}") for way in ("aligned", "shifted") for job in "ab"}
    for (way, job), run in runs.items():
        seconds = run["iterations"]["seconds"]
        print(f"figures: {congestion} {way} {job}: iteration p50 {milliseconds(seconds['p50'])}, p99 "
              f"{milliseconds(seconds['p99'])}, {seconds['p50'] / base:.3f} x alone; {network(run)}")
        check(f"{congestion} {way} {job}: complete, with {congestion}",
              run["status"] == "complete" and run["context"]["congestion_control"] == congestion, run["status"])
        strangers = [warning for warning in run["warnings"] if "OTHER TRAFFIC" in warning or "MISSING" in warning]
        check(f"{congestion} {way} {job}: the counters hold the two jobs, and nothing else", not strangers, "; ".join(strangers) or "none")
    for way in ("aligned", "shifted"):
        launch = json.load(open(f"{out}/{congestion}-{way}/launch.json"))
        offsets = launch["jobs"][1]["offset_seconds"]
        print(f"figures: {congestion} {way}: job b after job a: planned {milliseconds(offsets['planned'])}, first iteration "
              f"{milliseconds(offsets['first_iteration'] - launch['jobs'][0]['offset_seconds']['first_iteration'])}, last "
              f"{milliseconds(offsets['last_iteration'] - launch['jobs'][0]['offset_seconds']['last_iteration'])}")
    slowest = {way: max(runs[way, job]["iterations"]["seconds"]["p50"] for job in "ab") for way in ("aligned", "shifted")}
    queue = {way: max(backlog(runs[way, job]) for job in "ab") for way in ("aligned", "shifted")}
    # Two rings at half the rate each would take 1.27 times as long.
    aligned = max(early(f"{congestion}-aligned/{job}") for job in "ab") / early(f"{congestion}-alone")
    check(f"{congestion}: aligned, an iteration takes at least 1.1 times as long as alone, as long as they are",
          aligned >= 1.1, f"{aligned:.3f} x in the first four, {slowest['aligned'] / base:.3f} x in all")
    check(f"{congestion}: shifted by half a period, it takes as long as alone, within 3 %",
          slowest["shifted"] <= 1.03 * base, f"{slowest['shifted'] / base:.3f} x")
    # At a port two connections meet: what each may have on its way piles up there.
    check(f"{congestion}: aligned, the switch's queues are at least twice as long as shifted",
          queue["aligned"] >= 2 * queue["shifted"], f"{queue['aligned']} B against {queue['shifted']} B")
sys.exit(1 if failures else 0)
PYTHON
