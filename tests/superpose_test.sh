#!/usr/bin/env bash
# Two jobs recorded alone tell the queue that they build together, while TCP does not slow them down: at a switch port of the
# testbed, aligned and 10 ms apart. superpose_test.sh TESTBED GRADBURST GRADBURST_PLAN GRADBURST_REPORT. Prints every figure and
# checks it. Exit code 77 = skipped, with a reason.
set -uo pipefail

testbed=$1
gradburst=$2
plan=$3
report=$4
# shellcheck source=tests/testbed_runs.sh
. "$(dirname "$0")/testbed_runs.sh"
prepare_testbed reno

# One-way bursts of 21 and 17 ms at 1 Gbit/s, which fit into TCP's window once it has grown, so that nobody waits for an
# acknowledgement; reno, because cubic stops growing its window as soon as the round trip gets longer, which a queue makes it.
# The long ones, of 168 and 134 ms, do not fit into any window.
profile() { # NAME BYTES COMPUTE READY
  cat >"$out/$1.json" <<JSON
{"name": "$1", "compute": {"time": "$3"},
 "gradients": {"bucketing": "explicit", "buckets": [{"bytes": $2, "ready_after": "$4", "collective": "broadcast"}]},
 "collective": {"algorithm": "server"}, "run": {"iterations": 24, "warmup": 6}}
JSON
}
profile a 2500000 90ms 50ms
profile b 2000000 90ms 50ms
profile long-a 20000000 450ms 100ms
profile long-b 16000000 450ms 100ms
# Both send to host 0, from hosts of their own, so that they meet at its port p0.
jobs() { # A B START
  echo "{\"jobs\": [{\"name\": \"a\", \"profile\": \"$out/$1.json\", \"ranks\": [1, 0]},
        {\"name\": \"b\", \"profile\": \"$out/$2.json\", \"ranks\": [2, 3], \"start\": $3}]}"
}
jobs a b '{"offset": "0ms"}' >"$out/aligned-jobs.json"
jobs a b '{"offset": "10ms"}' >"$out/shifted-jobs.json"
jobs long-a long-b '{"offset": "0ms"}' >"$out/long-jobs.json"

# A rank or a sampler that had no CPU time when it was due puts an attempt aside, whatever came of it; the last one counts.
most_attempts=3
on_time() { # RUN ATTEMPT
  python3 - "$@" $most_attempts <<'PYTHON'
import json, os, sys
run, attempt, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
folders = [f"{run}/{job}" for job in "ab"] if os.path.exists(f"{run}/launch.json") else [run]
runs = [json.load(open(f"{folder}/run.json")) for folder in folders]
late = max(each["bucket_start_lateness_seconds"]["p99"] for each in runs)
missed = max(each["missed"] / each["samples"] for one in runs for each in one["interfaces"])
good = late <= 0.002 and missed <= 0.05
print(f"figures: {os.path.basename(run)}, attempt {attempt} of {most}: start lateness p99 {1e3 * late:.2f} ms (bound 2 ms), "
      f"{100 * missed:.1f} % of ticks missed (bound 5 %){'' if good or attempt == most else '; put aside'}", flush=True)
sys.exit(not good)
PYTHON
}
run() { # RUN HOSTS RANKS GRADBURST_ARGUMENT...
  local attempt
  for ((attempt = 1; attempt <= most_attempts; attempt++)); do
    "$testbed" run --name "$name" --hosts "$2" --ranks "$3" --rate 1gbit --queue 64m -- "$gradburst" "${@:4}" --iface eth0 \
      --line-rate 1Gbit --congestion-control reno --out "$out/$1" --overwrite >"$out/$1.txt" 2>&1 ||
      { cat "$out/$1.txt"; echo "FAILED: the run $1 ended with exit code $?"; exit 1; }
    on_time "$out/$1" $attempt && return
  done
}
run alone-a 2 2 "$out/a.json"
run alone-b 2 2 "$out/b.json"
run aligned 3 4 --jobs "$out/aligned-jobs.json"
run shifted 3 4 --jobs "$out/shifted-jobs.json"
run long 3 4 --jobs "$out/long-jobs.json" --iterations 10 --warmup 3
for each in a b long-a long-b; do
  "$plan" "$out/$each.json" --ranks 2 --line-rate 1Gbit --trace "$out/$each.csv" >/dev/null || { echo "FAILED: the plan of $each"; exit 1; }
done

python3 - "$out" "$report" <<'PYTHON'
import csv, glob, json, statistics, subprocess, sys

out, report = sys.argv[1:]
failures = []

def check(rule, holds, figures):
    print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
    if not holds:
        failures.append(rule)

def rows(pattern):
    return list(csv.DictReader(open(glob.glob(pattern)[0])))

def bursts(run, host):
    """When the bytes of each burst began to leave the host, on the clock that all hosts of a testbed share. When a rank was due to
    send is not enough: it may not get the CPU then."""
    path = glob.glob(f"{out}/{run}/nic/*{host}.eth0.csv")[0]
    begin = json.load(open(path.removesuffix("csv") + "json"))["start_monotonic_ns"]
    found, sent, last = [], 0, 0
    for row in csv.DictReader(open(path)):
        now, bytes = (begin + int(row["t_ns"])) / 1e9, int(row["tx_bytes"])
        if bytes - sent > 20_000:
            if now - last > 0.02:
                found.append(now)
            last = now
        sent = bytes
    return found

def offset_held(run, warmup):
    """By how much later the burst of b began than the nearest of a: the median."""
    first, second = bursts(run, 1), bursts(run, 2)
    return statistics.median(min((each - other for other in first), key=abs) for each in second[warmup:])

def peaks(run, warmup):
    """The largest queue of each iteration but those of warm-up: queues that are 5 ms of silence apart."""
    found, now, silent = [], 0, 0
    for row in rows(f"{out}/{run}/nic/*switch.p0.queue.csv"):
        backlog = int(row["backlog_bytes"])
        now, silent = max(now, backlog), 0 if backlog else silent + 1
        if silent == 5 and now > 200_000: # more than one super-packet or two
            found.append(now)
        if silent >= 5:
            now = 0
    return found[warmup:]

def wire_share(run):
    """Bytes that the shaper charges for one byte that the device counts: GSO counts the headers of a super-packet once."""
    traffic, queue = rows(f"{out}/{run}/nic/*switch.p0.csv"), rows(f"{out}/{run}/nic/*switch.p0.queue.csv")
    return int(queue[-1]["sent_bytes"]) / int(traffic[-1]["tx_bytes"])

def extrapolated(traces, offset, rate):
    """The median of the iterations: one in which a rank was late alone says nothing of those in which it was not."""
    text = subprocess.run([report, "--superpose", *traces, "--offsets", f"0,{1e6 * max(0, offset):.0f}us", "--rate", f"{rate:.0f}bit",
                           "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["backlog"]["bytes"]["p50"]

def compare(run, warmup, a, b):
    offset = offset_held(run, warmup)
    measured = peaks(run, warmup)
    share = wire_share(run)
    sources = {"predicted traces": ([f"{out}/{a}.csv", f"{out}/{b}.csv"], 1e9 * 1448 / 1538, 1538 / 1448)}
    if run != "long":
        sources["measured traces"] = ([f"{out}/alone-{a}", f"{out}/alone-{b}"], 1e9 / share, share)
    values = {}
    for source, (traces, rate, per_byte) in sources.items():
        values[source] = per_byte * extrapolated(traces, offset, rate)
        print(f"figures: {run}: offset held {1e3 * offset:.2f} ms; queue measured {statistics.median(measured):.0f} B (median of "
              f"{len(measured)}, {min(measured)} to {max(measured)}), from {source} {values[source]:.0f} B: measured is "
              f"{statistics.median(measured) / values[source]:.3f} of it", flush=True)
    return statistics.median(measured), values

for run in ("aligned", "shifted"):
    measured, values = compare(run, 6, "a", "b")
    for source, value in values.items():
        check(f"{run}: the measured queue is within 15 % of what the jobs' own {source} tell",
              abs(measured - value) <= 0.15 * value, f"{measured / value:.3f}")
measured, values = compare("long", 3, "long-a", "long-b")
value = values["predicted traces"]
check("bursts longer than TCP's window: the queue stays below the offered load's", measured < 0.85 * value, f"{measured / value:.3f}")
sys.exit(1 if failures else 0)
PYTHON
