#!/usr/bin/env bash
# What gradburst-collect serves, and what a run leaves for node_exporter's textfile collector: prometheus_test.sh
# GRADBURST_COLLECT GRADBURST. Where there is promtool (Debian package prometheus, which starts a server) it must accept both.
# Exit code 77 = skipped.
set -uo pipefail

collect=$(readlink -f "${1:?path of gradburst-collect}")
gradburst=$(readlink -f "${2:?path of gradburst}")
for program in python3 mpirun; do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
work=$(mktemp -d)
recorder=
# The recorder is ours and ends by itself too.
trap '[[ -z $recorder ]] || kill "$recorder" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
accepts() { # FILE
  command -v promtool >/dev/null || { echo "not checked by promtool, which is not here: $1"; return 0; }
  promtool check metrics <"$1"
}
fail() { echo "FAILED: $*" >&2; cat stderr >&2; exit 1; }

"$collect" record --iface lo --out trace.csv --interval 1ms --duration 30s --prometheus 127.0.0.1:0 \
  2>stderr >stdout &
recorder=$!
for _ in {1..200}; do
  url=$(sed -n 's/^metrics at //p' stderr)
  [[ -n $url ]] && break
  grep -q 'this build cannot serve metrics' stderr && { echo "skipped: built without prometheus-cpp"; exit 77; }
  sleep 0.05
done
[[ $url == http://127.0.0.1:*/metrics ]] || fail "no address on loopback: '$url'"

# Some traffic, and a window of 10 s with it, so that every family has a value.
python3 - "$url" >served.prom <<'PYTHON' || fail "the metrics did not arrive"
import sys, time, urllib.request
deadline = time.monotonic() + 25
while time.monotonic() < deadline:
    text = urllib.request.urlopen(sys.argv[1], timeout=5).read().decode()
    if "peak_to_mean" in text:
        print(text, end="")
        sys.exit(0)
    time.sleep(0.3)
sys.exit(1)
PYTHON
# Clients that send half a request and no more keep neither others from theirs nor the recording from its end, which takes
# some hundredths of a second (0.2 s with such clients).
python3 - "$url" "$recorder" <<'PYTHON' || fail "a client that stalls holds others up, or the end"
import os, signal, socket, sys, time, urllib.parse, urllib.request
address = urllib.parse.urlparse(sys.argv[1])
stalled = []
for _ in range(4):
    stalled.append(socket.create_connection((address.hostname, address.port), timeout=5))
    stalled[-1].sendall(b"GET /metr")
assert b"samples_total" in urllib.request.urlopen(sys.argv[1], timeout=3).read()
stalled.append(socket.create_connection((address.hostname, address.port), timeout=5))
stalled[-1].sendall(b"GET /metr")
recorder = int(sys.argv[2])
begin = time.monotonic()
os.kill(recorder, signal.SIGINT)
def ended(): # perhaps its parent has not asked yet
    try:
        return open(f"/proc/{recorder}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
while not ended():
    assert time.monotonic() - begin < 1, "the recording goes on 1 s after SIGINT"
    time.sleep(0.01)
PYTHON
wait "$recorder" || fail "the recording did not end properly"
recorder=
accepts served.prom || fail "promtool refuses what is served"
for name in bytes_total bytes_per_second samples_total missed_ticks_total dropped_packets_total; do
  grep -q "^gradburst_collect_$name{.*interface=\"lo\"" served.prom || fail "no $name of lo"
done
[[ -s trace.csv ]] || fail "no trace"

# A port that is taken is found before anything is recorded.
python3 - "$collect" 2>stderr <<'PYTHON' || fail "a taken port is not the user's mistake"
import socket, subprocess, sys, os
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    end = subprocess.run([sys.argv[1], "record", "--iface", "lo", "--out", "other.csv", "--duration", "1s",
                          "--prometheus", "127.0.0.1:%d" % taken.getsockname()[1]], capture_output=True, text=True)
sys.stderr.write(end.stderr)
sys.exit(0 if end.returncode == 2 and "cannot listen on" in end.stderr and not os.path.exists("other.csv") else 1)
PYTHON

# Open MPI leaks at exit, which is not ours to mend; everything else that the sanitizers find is.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}
mpi=(mpirun --oversubscribe)
((EUID == 0)) && mpi+=(--allow-run-as-root)
timeout -k 5 60 "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 20 --out run >stdout 2>stderr </dev/null ||
  fail "the run failed"
accepts run/metrics.prom || fail "promtool refuses metrics.prom"
echo "ok"
