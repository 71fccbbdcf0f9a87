"""What shifted_jobs_test.sh prints and checks after a round: FOLDER-OF-RUNS CONGESTION-CONTROL ROUND MOST-ROUNDS.

Exit code 0: all holds. 3: what takes time does not hold yet, and there are rounds left. 1: it fails.
"""

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
    """The measured iterations whose buckets started in time and, of two jobs, before one began or ended at another time than planned."""
    jobs = [f"{run}/a", f"{run}/b"] if os.path.exists(f"{run}/launch.json") else [run]
    in_time = [number for number, worst in enumerate(map(max, zip(*map(late, jobs)))) if number >= WARMUP and worst <= LATE]
    if len(jobs) == 1:
        return in_time
    planned = json.load(open(f"{run}/launch.json"))["jobs"][1]["offset_seconds"]["planned"]
    apart = [all(abs(offset - planned) <= SLACK for offset in pair) for pair in offsets(run)]
    # Congestion control remembers for some round trips what it met: an iteration after one that met the other job is not like it.
    kept = apart.index(False) if False in apart else len(apart)
    return [number for number in in_time if number < kept]


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


def network(run):
    rtt = run["tcp"]["rtt_seconds"]
    ports = run["switch_ports"]
    return (f"switch backlog {max(port['max_backlog_bytes'] for port in ports)} B, drops {sum(port['drops'] for port in ports)}, "
            f"retransmits {run['tcp']['retransmitted_segments']}, rtt p50 {milliseconds(rtt['p50'])} p99 {milliseconds(rtt['p99'])}")


def wrong(result, congestion):
    """What makes a run another one than was asked for, whatever its times are."""
    strangers = [warning for warning in result["warnings"] if "OTHER TRAFFIC" in warning or "MISSING" in warning]
    ended = [] if result["status"] == "complete" else [f"it is {result['status']}"]
    used = result["context"]["congestion_control"]
    return ended + strangers + ([] if used == congestion else [f"it ran with {used}"])


class Way:
    """The rounds of one way of running, of which the one with the shortest median counts."""

    def __init__(self):
        self.rounds = []  # (seconds, run, iterations) of each that has enough of them

    def add(self, run, jobs):
        numbers = fit(run)
        if len(numbers) >= FEWEST:
            self.rounds.append((max(median(job, numbers) for job in jobs), run, numbers))
        return len(numbers)

    def best(self):
        return min(self.rounds)


def check_round(out, congestion, number, most):
    ways = {name: Way() for name in ("alone", "aligned", "shifted")}
    mistakes = []
    for name, way in ways.items():
        for round_ in range(1, number + 1):
            run = f"{out}/{congestion}-{name}-{round_}"
            jobs = [run] if name == "alone" else [f"{run}/a", f"{run}/b"]
            count = way.add(run, jobs)
            if round_ < number:
                continue
            for job in jobs:
                result = read(job)
                seconds = result["iterations"]["seconds"]
                print(f"figures: {os.path.relpath(job, out)}: iteration p50 {milliseconds(seconds['p50'])}, "
                      f"p99 {milliseconds(seconds['p99'])} (predicted {milliseconds(result['iterations']['predicted_seconds'])}); {network(result)}")
                mistakes += [f"{os.path.relpath(job, out)}: {what}" for what in wrong(result, congestion)]
            apart = "" if name == "alone" else "; job b after job a: first iteration {}, last {}".format(
                *(milliseconds(offsets(run)[place][0]) for place in (0, -1)))
            print(f"figures: {os.path.basename(run)}: {count} fit iterations, at least {FEWEST}{apart}")
    for mistake in mistakes:
        print(f"FAILED: the counters hold the two jobs and nothing else, which ran to their end: {mistake}")
    if mistakes:
        return 1

    rules = [(f"{congestion} {name}: enough iterations are fit in a round", bool(way.rounds), f"{len(way.rounds)} of {number} rounds")
             for name, way in ways.items()]
    if all(way.rounds for way in ways.values()):
        alone = ways["alone"].best()[0]
        ratio = {name: way.best()[0] / alone for name, way in ways.items()}
        queue = {name: backlog(*ways[name].best()[1:]) for name in ("aligned", "shifted")}
        rules += [
            # Two rings at half the rate each would take 1.27 times as long.
            (f"{congestion}: aligned, an iteration takes at least 1.1 times as long as alone", ratio["aligned"] >= 1.1,
             f"{ratio['aligned']:.3f} x"),
            (f"{congestion}: shifted by half a period, it takes as long as alone, within 3 %", ratio["shifted"] <= 1.03,
             f"{ratio['shifted']:.3f} x"),
            # At a port two connections meet: what each may have on its way piles up there.
            (f"{congestion}: aligned, the switch's queues are at least twice as long as shifted", queue["aligned"] >= 2 * queue["shifted"],
             f"{queue['aligned']} B against {queue['shifted']} B")]
    last = number == most or all(holds for _, holds, _ in rules)
    for rule, holds, found in rules:
        print(("ok:     " if holds else "FAILED: " if last else "not yet: ") + f"{rule}: {found} (round {number} of at most {most})")
    return 0 if all(holds for _, holds, _ in rules) else 1 if last else 3


if __name__ == "__main__":
    sys.exit(check_round(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
