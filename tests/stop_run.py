#!/usr/bin/env python3
"""Stops a run as a user does, and prints how many milliseconds later the last of its ranks was gone.

stop_run.py RUN_DIRECTORY mpirun|group INT|TERM [after SECONDS] [again SECONDS]
    mpirun   the signal goes to mpirun alone
    group    and to its whole process group: what Ctrl-C does in a terminal
    after    waits for so long first, once mpirun is there
    again    sends the signal once more, so much later

Knows the processes by the --out RUN_DIRECTORY in their command lines. Exit code 1: ranks
were still there 10 s after the signal; 3: no mpirun was there within 10 s, or it was over before the signal.
"""
import os, signal, sys, time

out, target, name = sys.argv[1:4]
options = {key: float(value) for key, value in zip(sys.argv[4::2], sys.argv[5::2])}
again = options.get("again")
number = getattr(signal, "SIG" + name)


def processes(program):
    """Of this run; without those that have ended and wait to be reaped, whose command line is empty."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as comm:
                if comm.read().strip() != program:
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as command:
                words = command.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if out in words:
            found.append(int(pid))
    return found


deadline = time.monotonic() + 10
while not (mpirun := processes("mpirun")):
    if time.monotonic() > deadline:
        print(f"no mpirun of {out}", file=sys.stderr)
        sys.exit(3)
    time.sleep(0.002)
group = os.getpgid(mpirun[0])
time.sleep(options.get("after", 0))


def send():
    try:
        os.killpg(group, number) if target == "group" else os.kill(mpirun[0], number)
    except ProcessLookupError:
        pass


start = time.monotonic()
last_seen = start
send()
while time.monotonic() < start + 10:
    if again is not None and time.monotonic() >= start + again:
        again = None
        send()
    ranks = processes("gradburst")
    if ranks:
        last_seen = time.monotonic()
    elif again is None and not processes("mpirun"): # while it lives, it may still start ranks
        break
    time.sleep(0.002)
print(f"{1000 * (last_seen - start):.0f}")
sys.exit(f"still there: {ranks}" if ranks else 0)
