"""What shifted_jobs_test.sh prints and checks: attempt RUN NUMBER MOST (exit code 1: put aside), or check FOLDER-OF-RUNS."""

import csv
import glob
import json
import os
import statistics
import sys

LATE = 0.004  # s: a tenth of a burst, an eighth of the pause between the bursts of two shifted jobs
# s: bursts of 37 ms whose jobs are this far from aligned still overlap by half, and this far from half a period (71 ms) not at all
SLACK = 0.020
FEWEST = 4  # iterations that a median is taken of
WARMUP = 2


def read(path):
    return json.load(open(f"{path}/run.json"))


def milliseconds(seconds):
    return f"{1e3 * seconds:.2f} ms"


def iterations(job):
    """The (start, end) of each iteration of a job's rank 0, in seconds of the machine's one CLOCK_MONOTONIC."""
    origin = next(rank["start_monotonic_ns"] for host in read(job)["context"]["hosts"] for rank in host["ranks"] if rank["rank"] == 0)
    found = {}
    for row in csv.DictReader(open(f"{job}/timeline.csv")):
        if row["rank"] == "0":
            found[int(row["iteration"])] = tuple((origin + int(row[f"iteration_{side}_ns"])) / 1e9 for side in ("start", "end"))
    return [found[number] for number in sorted(found)]


def offsets(run):
    """(start, end): how much later than job a's each of job b's iterations began and ended, in seconds."""
    return [tuple(b - a for a, b in zip(*pair)) for pair in zip(iterations(f"{run}/a"), iterations(f"{run}/b"))]


def late(job):
    """How late each iteration's latest bucket started on any rank, in seconds: start lateness knows nothing of the network."""
    worst = {}
    for row in csv.DictReader(open(f"{job}/timeline.csv")):
        worst[int(row["iteration"])] = max(int(row["late_ns"]) / 1e9, worst.get(int(row["iteration"]), 0))
    return [worst[number] for number in sorted(worst)]


def fit(run):
    """The measured iterations whose buckets started in time and, of two jobs, that began and ended as far apart as planned."""
    jobs = [f"{run}/a", f"{run}/b"] if os.path.exists(f"{run}/launch.json") else [run]
    in_time = [number for number, worst in enumerate(map(max, zip(*map(late, jobs)))) if number >= WARMUP and worst <= LATE]
    if len(jobs) == 1:
        return in_time
    planned = json.load(open(f"{run}/launch.json"))["jobs"][1]["offset_seconds"]["planned"]
    kept = offsets(run)
    return [number for number in in_time if all(abs(offset - planned) <= SLACK for offset in kept[number])]


def median(job, numbers):
    """How long these iterations took on rank 0, in seconds."""
    return statistics.median(end - start for start, end in map(iterations(job).__getitem__, numbers))


def backlog(run, numbers):
    """The longest queue of a switch port during these iterations of job a, in bytes."""
    during = list(map(iterations(f"{run}/a").__getitem__, numbers))
    longest = 0
    for path in glob.glob(f"{run}/nic/*.queue.csv"):
        origin = json.load(open(path[:-4] + ".json"))["start_monotonic_ns"]
        for row in csv.DictReader(open(path)):
            seconds = (origin + int(row["t_ns"])) / 1e9
            if any(start <= seconds <= end for start, end in during):
                longest = max(longest, int(row["backlog_bytes"]))
    return longest


def attempt(run, number, most):
    count = len(fit(run))
    end = "" if count >= FEWEST else "; put aside" if number < most else "; this one counts nevertheless"
    print(f"figures: {os.path.basename(run)}, attempt {number} of {most}: {count} fit iterations, at least {FEWEST}{end}", flush=True)
    return count >= FEWEST


def check_all(out):
    print(f"figures: fit are measured iterations whose buckets started within {milliseconds(LATE)} and, of two jobs, that began and "
          f"ended as far apart as planned, within {milliseconds(SLACK)}; their medians are of rank 0")
    failures = []

    def check(rule, holds, figures):
        print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
        if not holds:
            failures.append(rule)

    def network(run):
        rtt = run["tcp"]["rtt_seconds"]
        ports = run["switch_ports"]
        return (f"switch backlog {max(port['max_backlog_bytes'] for port in ports)} B, drops {sum(port['drops'] for port in ports)}, "
                f"retransmits {run['tcp']['retransmitted_segments']}, rtt p50 {milliseconds(rtt['p50'])} p99 {milliseconds(rtt['p99'])}")

    for congestion in ("cubic", "bbr"):
        alone = read(f"{out}/{congestion}-alone")
        alone_p50 = alone["iterations"]["seconds"]["p50"]
        fit_alone = fit(f"{out}/{congestion}-alone")
        print(f"figures: {congestion} alone: iteration p50 {milliseconds(alone_p50)} (predicted "
              f"{milliseconds(alone['iterations']['predicted_seconds'])}), {len(fit_alone)} fit; {network(alone)}")
        check(f"{congestion} alone: some iterations started in time", len(fit_alone) >= FEWEST, f"{len(fit_alone)} fit")
        slowest, queue = {}, {}
        for way in ("aligned", "shifted"):
            run = f"{out}/{congestion}-{way}"
            for job in "ab":
                result = read(f"{run}/{job}")
                seconds = result["iterations"]["seconds"]
                print(f"figures: {congestion} {way} {job}: iteration p50 {milliseconds(seconds['p50'])}, p99 "
                      f"{milliseconds(seconds['p99'])}, {seconds['p50'] / alone_p50:.3f} x alone; {network(result)}")
                check(f"{congestion} {way} {job}: complete, with {congestion}",
                      result["status"] == "complete" and result["context"]["congestion_control"] == congestion, result["status"])
                strangers = [warning for warning in result["warnings"] if "OTHER TRAFFIC" in warning or "MISSING" in warning]
                check(f"{congestion} {way} {job}: the counters hold the two jobs, and nothing else", not strangers,
                      "; ".join(strangers) or "none")
            apart = [start for start, _ in offsets(run)]
            numbers = fit(run)
            print(f"figures: {congestion} {way}: job b after job a: first iteration {milliseconds(apart[0])}, last "
                  f"{milliseconds(apart[-1])}; {len(numbers)} iterations fit")
            check(f"{congestion} {way}: some iterations started in time and as far apart as planned", len(numbers) >= FEWEST,
                  f"{len(numbers)} fit")
            if len(numbers) >= FEWEST and len(fit_alone) >= FEWEST:
                slowest[way] = max(median(f"{run}/{job}", numbers) for job in "ab") / median(f"{out}/{congestion}-alone", fit_alone)
                queue[way] = backlog(run, numbers)
        if len(slowest) < 2:
            continue
        # Two rings at half the rate each would take 1.27 times as long.
        check(f"{congestion}: aligned, an iteration takes at least 1.1 times as long as alone", slowest["aligned"] >= 1.1,
              f"{slowest['aligned']:.3f} x")
        check(f"{congestion}: shifted by half a period, it takes as long as alone, within 3 %", slowest["shifted"] <= 1.03,
              f"{slowest['shifted']:.3f} x")
        # At a port two connections meet: what each may have on its way piles up there.
        check(f"{congestion}: aligned, the switch's queues are at least twice as long as shifted",
              queue["aligned"] >= 2 * queue["shifted"], f"{queue['aligned']} B against {queue['shifted']} B")
    return not failures


if __name__ == "__main__":
    done = attempt(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])) if sys.argv[1] == "attempt" else check_all(sys.argv[2])
    sys.exit(0 if done else 1)
