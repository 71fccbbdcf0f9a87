#!/usr/bin/env bash
# What one job avoids, two cause (arXiv 2401.00329): two rings share the links of four hosts, aligned and half a period apart.
# Prints every figure and checks it: shifted_jobs_test.sh TESTBED GRADBURST PROFILES. Exit code 77 = skipped, with a reason.
set -uo pipefail

testbed=$1
program=$2
export GRADBURST_PROFILES=${3:?folder of profiles}
name=gbj$$x # a name of its own: ends in a letter, for host numbers follow
out=$(mktemp -d)
chmod 755 "$out"
trap '"$testbed" down --name "$name" >/dev/null 2>&1; rm -rf "$out"' EXIT

command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
"$testbed" run --name "$name" --hosts 2 -- true >"$out/probe" 2>&1 ||
  { echo "skipped: no testbed here: $(tail -1 "$out/probe")"; exit 77; }

# ResNet-50 with bytes scaled by 1/100 sends for 12 ms and computes for 1 s. Here it computes for 100 ms, and sends four times the
# bytes: a burst of 50 ms in an iteration of 150 ms, which half a period keeps apart.
jobs() { # START...
  cat <<JSON
{"jobs": [
  {"name": "a", "profile": "resnet50", "ranks": {"per_host": 1}},
  {"name": "b", "profile": "resnet50", "ranks": {"per_host": 1}, "start": {$*}}
]}
JSON
}
jobs '"phase": 0, "of": "a"' >"$out/aligned.json"
jobs '"phase": 0.5, "of": "a"' >"$out/shifted.json"
run() { # RUN RANKS GRADBURST_ARGUMENT...
  "$testbed" run --name "$name" --hosts 4 --rate 1gbit --ranks "$2" -- "$program" "${@:3}" --iterations 20 --warmup 2 \
    --scale-time 0.1 --scale-bytes 4 --iface eth0 --line-rate 1Gbit --out "$out/$1" >"$out/$1.txt" 2>&1 ||
    { cat "$out/$1.txt"; echo "FAILED: the run $1 ended with exit code $?"; exit 1; }
}
for congestion in cubic bbr; do
  grep -qw $congestion /proc/sys/net/ipv4/tcp_available_congestion_control || { echo "skipped: no $congestion"; exit 77; }
  run $congestion-alone 4 resnet50 --congestion-control $congestion
  run $congestion-aligned 8 --jobs "$out/aligned.json" --congestion-control $congestion
  run $congestion-shifted 8 --jobs "$out/shifted.json" --congestion-control $congestion
done

python3 - "$out" <<'PYTHON'
import json, sys

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

def milliseconds(seconds):
    return f"{1e3 * seconds:.2f} ms"

for congestion in ("cubic", "bbr"):
    alone = read(f"{congestion}-alone")
    base = alone["iterations"]["seconds"]["p50"]
    print(f"figures: {congestion} alone: iteration p50 {milliseconds(base)} (predicted "
          f"{milliseconds(alone['iterations']['predicted_seconds'])}), backlog {backlog(alone)} B")
    runs = {(way, job): read(f"{congestion}-{way}/{job}") for way in ("aligned", "shifted") for job in "ab"}
    for (way, job), run in runs.items():
        seconds = run["iterations"]["seconds"]
        print(f"figures: {congestion} {way} {job}: iteration p50 {milliseconds(seconds['p50'])}, p99 "
              f"{milliseconds(seconds['p99'])}, {seconds['p50'] / base:.3f} x alone; backlog {backlog(run)} B, drops "
              f"{sum(port['drops'] for port in run['switch_ports'])}, retransmits {run['tcp']['retransmitted_segments']}")
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
    # Two rings halve the rate of a burst of a third of the iteration.
    check(f"{congestion}: aligned, an iteration takes at least 1.15 times as long as alone",
          slowest["aligned"] >= 1.15 * base, f"{slowest['aligned'] / base:.3f} x")
    check(f"{congestion}: shifted by half a period, it takes as long as alone, within 3 %",
          slowest["shifted"] <= 1.03 * base, f"{slowest['shifted'] / base:.3f} x")
    # At a port two connections meet: what each may have on its way piles up there.
    check(f"{congestion}: aligned, the switch's queues are at least twice as long as shifted",
          queue["aligned"] >= 2 * queue["shifted"], f"{queue['aligned']} B against {queue['shifted']} B")
sys.exit(1 if failures else 0)
PYTHON
