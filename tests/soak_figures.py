"""Of soak.sh: watch FILE WORDS writes the memory of all processes with these words in their command every 10 s; check FOLDER judges."""

import csv
import glob
import json
import os
import statistics
import sys
import time

PERIOD = 0.5  # s, of an iteration
# A rank keeps what it has recorded until the end: a BucketRecord of 72 bytes and, per connection, a TcpRecord. A vector doubles.
RECORDED = 72 + 240
SLACK = 2 << 20  # bytes: what an allocator may take besides


def watch(path, words):
    with open(path, "w") as file:
        file.write("seconds,pid,resident_bytes\n")
        start = time.monotonic()
        while True:
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    command = open(f"/proc/{pid}/cmdline").read().split("\0")
                    if words.split()[0] != os.path.basename(command[0]) or words.split()[1] not in command:
                        continue
                    resident = int(open(f"/proc/{pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                    file.write(f"{time.monotonic() - start:.1f},{pid},{resident}\n")
                except OSError:
                    continue  # it ended meanwhile
            file.flush()
            time.sleep(10)


def memory(out, check):
    ranks = {}
    for row in csv.DictReader(open(f"{out}/memory.csv")):
        ranks.setdefault(row["pid"], []).append((float(row["seconds"]), int(row["resident_bytes"])))
    check("the memory of four ranks was watched", len(ranks) == 4, f"{len(ranks)} processes")
    run = json.load(open(f"{out}/run/run.json"))
    for pid, readings in ranks.items():
        end = run["profile"]["run"]["duration_ns"] / 1e9  # readings began before the traffic did; then come the results
        steady = [(seconds, resident) for seconds, resident in readings if 20 <= seconds <= end]
        if len(steady) < 2:
            check("a rank's memory was read twice", False, f"{len(readings)} readings")
            continue
        (begin, first), (last, final) = steady[0], steady[-1]
        most = max(resident for _, resident in steady)
        records = (last - begin) / PERIOD * 5
        print(f"figures: process {pid}: {first / 2**20:.2f} MiB resident after {begin:.0f} s, {final / 2**20:.2f} MiB after {last:.0f} s, "
              f"most {most / 2**20:.2f} MiB; {(final - first) / records:.0f} B per bucket in {records:.0f} buckets")
        check(f"process {pid} grows by no more than what it records", most - first <= 2 * RECORDED * records + SLACK,
              f"{(most - first) / 2**20:.2f} MiB, at most {(2 * RECORDED * records + SLACK) / 2**20:.2f} MiB")
    return run


def schedule(out, check):
    """Iteration n is to begin n x PERIOD after the run's start, later by what held up those before it; its first bucket is due 40 ms
    later. How much later than that did it really start? And by how much was the run held up, as its iterations say?"""
    late, held_up, begins = {}, {}, {}
    for row in csv.DictReader(open(f"{out}/run/timeline.csv")):
        if row["bucket"] == "0" and row["iteration_end_ns"]:
            rank = int(row["rank"])
            begin, end = int(row["iteration_start_ns"]) / 1e9, int(row["iteration_end_ns"]) / 1e9
            late.setdefault(rank, []).append(int(row["start_ns"]) / 1e9 - begin - 0.040)
            held_up.setdefault(rank, []).append(end - begin - PERIOD)
            begins.setdefault(rank, []).append(begin)
    for rank, found in sorted(late.items()):
        part = max(1, len(found) // 10)
        first, last = statistics.median(found[:part]), statistics.median(found[-part:])
        slips = [length for length in held_up[rank] if length > 1e-6]
        print(f"figures: rank {rank}: {len(found)} iterations; the first bucket starts {1e6 * first:.1f} us late (median) in the first "
              f"tenth, {1e6 * last:.1f} us in the last tenth; {len(slips)} iterations were held up, by {sum(slips):.6f} s together, "
              f"{max(slips, default=0):.6f} s at most")
        check(f"rank {rank}: starts do not drift from their plan", abs(last - first) < 1e-3 and min(found) >= 0,
              f"{1e6 * (last - first):.1f} us")
        drift = begins[rank][-1] - (len(begins[rank]) - 1) * PERIOD - sum(held_up[rank][:-1])
        check(f"rank {rank}: the last iteration begins n x {PERIOD} s after the first, and what held up the others", abs(drift) < 1e-6,
              f"{1e6 * drift:.3f} us off; {begins[rank][-1]:.6f} s")
    return len(late[0])


def samples(out, check):
    for path in sorted(glob.glob(f"{out}/run/nic/*.csv")):
        if path.endswith((".slow.csv", ".queue.csv")):
            continue
        sidecar = json.load(open(path[:-4] + ".json"))
        interval = sidecar["interval_ns"]
        rows = left_out = longest = 0
        before = None
        for line in open(path):
            if not line[0].isdigit():
                continue
            tick, rows = int(line.split(",", 1)[0]) // interval, rows + 1
            if before is not None:
                left_out += tick - before - 1
                longest = max(longest, tick - before)
            before = tick
        name = os.path.basename(path)
        print(f"figures: {name}: {rows} samples, {left_out} ticks without one ({100 * left_out / (rows + left_out):.3f} %), longest "
              f"{longest * interval / 1e6:.1f} ms, {sidecar['failed']} failed reads, {100 * sidecar['sampler']['cpu_share']:.2f} % CPU")
        check(f"{name}: each sample is in the file, each tick without one is counted as missed",
              rows == sidecar["samples"] and abs(left_out - sidecar["missed"]) <= 1 and sidecar["failed"] == 0 and sidecar["complete"],
              f"{sidecar['samples']} samples, {sidecar['missed']} missed")


def check_all(out):
    failures = []

    def check(rule, holds, figures):
        print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
        if not holds:
            failures.append(rule)

    run = memory(out, check)
    iterations = schedule(out, check)
    samples(out, check)
    check("the run is complete", run["status"] == "complete", f"{iterations} iterations")
    moved = run["bytes"]
    check("bytes sent and received are those planned", moved["planned"] == moved["sent"] == moved["received"], json.dumps(moved))
    late = run["bucket_start_lateness_seconds"]
    print(f"figures: start lateness p50 {1e6 * late['p50']:.1f} us, p99 {1e6 * late['p99']:.1f} us, max {1e3 * late['max']:.2f} ms")
    strangers = [warning for warning in run["warnings"] if "OTHER TRAFFIC" in warning or "MISSING" in warning]
    check("the counters hold the run, and nothing else", not strangers, "; ".join(strangers) or "none")
    return not failures


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        watch(sys.argv[2], sys.argv[3])
    sys.exit(0 if check_all(sys.argv[2]) else 1)
