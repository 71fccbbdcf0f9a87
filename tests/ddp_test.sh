#!/usr/bin/env bash
# DDP's five buckets on the testbed: each is a burst of its own in the NIC's counter, and starts when it was planned to.
# Prints every figure: ddp_test.sh TESTBED GRADBURST. Exit code 77 = skipped, with a reason.
set -uo pipefail

testbed=$1
program=$2
name=gbd$$x
out=$(mktemp -d)
trap '"$testbed" down --name "$name" >/dev/null 2>&1; rm -rf "$out"' EXIT

command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
"$testbed" run --name "$name" --hosts 2 -- true >"$out/probe" 2>&1 ||
    { echo "skipped: no testbed here: $(tail -1 "$out/probe")"; exit 77; }

"$testbed" run --name "$name" --hosts 4 --rate 1gbit --burst 68k -- \
    "$program" resnet50-ddp --iterations 20 --iface eth0 --line-rate 1Gbit --out "$out/run" >"$out/text" 2>&1 ||
    { cat "$out/text"; echo "FAILED: the run ended with exit code $?"; exit 1; }

python3 - "$out/run" <<'PYTHON'
import csv, glob, json, sys

folder = sys.argv[1]
run = json.load(open(folder + "/run.json"))
warmup = run["iterations"]["warmup"]
failures = []

def check(rule, holds, figures):
    print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
    if not holds:
        failures.append(rule)

rows = [{k: int(v) for k, v in r.items()} for r in csv.DictReader(open(folder + "/timeline.csv")) if r["iteration_end_ns"]]
measured = [r for r in rows if r["iteration"] >= warmup]
sizes = sorted({(r["bucket"], r["bucket_bytes"]) for r in measured})
# 8,196,000 / 31,502,336 / 26,255,360 / 26,550,272 / 9,724,160 B and the buffers' 212,480 and 424 B, scaled by 1/100.
expected = [(0, 2124), (1, 4), (2, 81960), (3, 315024), (4, 262552), (5, 265504), (6, 97240)]
check("an iteration has the two broadcasts and DDP's five buckets", sizes == expected, str([b for _, b in sizes]))

first = [r for r in rows if r["iteration"] == 0 and r["rank"] == 0]
check("the first iteration sends the whole model in one bucket", [r["bucket_bytes"] for r in first[2:]] == [1022280],
      str([r["bucket_bytes"] for r in first]))

# Against the plan, not against the queue: no bucket of this profile waits for the one before it.
starts = sorted((r["start_ns"] - r["due_ns"]) / 1e6 for r in measured if r["bucket"] >= 2)
p50, p95, p99 = (starts[min(len(starts) - 1, int(share * len(starts)))] for share in (0.5, 0.95, 0.99))
# The goal is 1 ms at p99 on an idle machine; two cores shared by five processes are granted 1 ms at the median.
check("bursts start when they are planned", p50 <= 1.0, f"late p50 {p50:.3f} ms, p95 {p95:.3f} ms, p99 {p99:.3f} ms, max {starts[-1]:.3f} ms")

def bursts(path, begin, end):
    """Stretches above a fifth of the line rate, in 1 ms steps; closer than 3 ms they are one."""
    samples = [(int(r["t_ns"]), int(r["tx_bytes"])) for r in csv.DictReader(open(path))]
    found, last, previous = 0, None, samples[0]
    for t, bytes_ in samples:
        if t - previous[0] < 1e6:
            continue
        if begin <= t <= end and (bytes_ - previous[1]) / (t - previous[0]) > 0.2 * 0.125:
            if last is None or t - last > 3e6:
                found += 1
            last = t
        previous = (t, bytes_)
    return found

for path in sorted(glob.glob(folder + "/nic/*.eth0.csv")):
    info = json.load(open(path[:-4] + ".json"))
    iterations = run["iterations"]["measured"]
    # rank 0's measured time, on this trace's clock: all namespaces share one.
    span = run["interfaces"][0]["span_seconds"]
    last_t = None
    for r in csv.DictReader(open(path)):
        last_t = int(r["t_ns"])
    count = bursts(path, last_t - span * 1e9, last_t)
    check(f"{path.rsplit('/', 1)[1]}: five bursts an iteration", abs(count - 5 * iterations) <= 0.1 * 5 * iterations,
          f"{count} in {iterations} iterations")

deviation = run["iterations"]["seconds"]["mean"] / run["iterations"]["predicted_seconds"] - 1
check("the mean iteration is within 2 % of the prediction", abs(deviation) <= 0.02,
      f"{run['iterations']['seconds']['mean']:.4f} s, predicted {run['iterations']['predicted_seconds']:.4f} s")
sys.exit(1 if failures else 0)
PYTHON
