#!/usr/bin/env bash
# Mistakes, strangers, occupied ports and full disks: each ends a run with one message: mistakes_test.sh GRADBURST GRADBURST_COLLECT. Exit code 77 = skipped.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/whole_runs.sh"

mistakes() {
  cat >key.json <<'JSON'
{"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 1000}]}, "run": {"iteratoins": 3}}
JSON
  fails 2 'did you mean "smoke"?' "an unknown profile is refused" "${mpi[@]}" -n 2 "$gradburst" smok
  fails 2 "/run/iteratoins" "a wrong key is refused" "${mpi[@]}" -n 2 "$gradburst" key.json
  fails 2 "no/such.json" "a missing file is refused" "${mpi[@]}" -n 2 "$gradburst" no/such.json
  fails 2 "no interface eth99" "an unknown interface is refused" "${mpi[@]}" -n 2 "$gradburst" smoke --iface eth99
  fails 2 "must be at least 1" "no iterations are refused" "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 0
  fails 2 "must not end before it starts" "a wrong port range is refused" \
    "${mpi[@]}" -n 2 "$gradburst" smoke --ports 5-4
  fails 2 "2 are not enough for the 3 ranks" "too few ports are refused" \
    "${mpi[@]}" -n 3 "$gradburst" smoke --ports 21000-21001
  fails 2 "of memory at least" "a run that cannot fit into memory is refused" \
    "${mpi[@]}" -n 2 "$gradburst" smoke --verify --scale-bytes 1000000
  fails 2 "--nonsense" "an unknown option is refused" "${mpi[@]}" -n 2 "$gradburst" smoke --nonsense
  fails 2 "SLURM_NTASKS says 4" "a lone rank of four is refused" env SLURM_NTASKS=4 "$gradburst" smoke
  fails 1 "start all ranks with the same options" "ranks with other options are refused" \
    "${mpi[@]}" -n 1 "$gradburst" smoke --seed 1 : -n 1 "$gradburst" smoke --seed 2
  check "no mistake leaves a run behind" bash -c '! ls -d gradburst-* 2>/dev/null'
  check "rank 0 decides about a dry run" exits_with 0 \
    "${mpi[@]}" -n 1 "$gradburst" smoke --dry-run : -n 1 "$gradburst" smoke
}

# A port that somebody else holds: found only after the run directory was made.
occupied_port() {
  local holder port
  coproc HOLDER { exec python3 -c '
import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); sys.stdin.read()'; }
  holder=$HOLDER_PID
  read -r port <&"${HOLDER[0]}"
  fails 1 "port" "an occupied port is told" \
    "${mpi[@]}" -n 1 "$gradburst" smoke --json --ports "$port" --out "$work/occupied"
  check "run.json tells it too" json occupied/run.json 'r["status"] == "failed" and "in use" in r["error"]'
  check "--json prints that" cmp -s stdout occupied/run.json
  kill "$holder"
  wait "$holder" 2>/dev/null
}

# Whoever connects to the ports of a run: noise, a browser, somebody who says nothing, somebody who leaves.
strangers() {
  cat >strangers.py <<'PYTHON'
import os, socket, time
held, number, end = [], 0, time.time() + 30
while time.time() < end and not os.path.exists("strangers.stop"):
    for port in range(21100, 21104):
        stranger = socket.socket()
        try:
            stranger.connect(("127.0.0.1", port))
            number += 1
            stranger.send((os.urandom(64), b"GET / HTTP/1.1\r\n\r\n", b"", b"\0" * 7)[number % 4])
        except OSError:
            pass
        held = held[-100:] + [stranger] if number % 2 else held
PYTHON
  python3 strangers.py &
  check "strangers do not disturb a run" run 4 smoke --iterations 5 --ports 21100-21103 --out "$work/visited"
  touch strangers.stop
  wait $!
}

full_disk() {
  ((EUID == 0)) && unshare -m true 2>/dev/null || { echo "skipped: a full disk needs root"; return; }
  # Whoever shares the disk fills it while the run of 3 s is on, once there are samples in the trace.
  check "a disk that fills up ends the run with an error" exits_with 1 unshare -m bash -c '
    mkdir disk && mount -t tmpfs -o size=4m tmpfs disk || exit 99
    { for ((i = 0; i < 400; i++)); do grep -q "^[0-9]" disk/run/nic/*.lo.csv 2>/dev/null && break; sleep 0.05; done
      head -c 4M /dev/zero >disk/other 2>/dev/null; } &
    "$@"; code=$?; rm -f disk/other; cp -r disk disk-copy; exit $code' - \
    "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 150 --interval 100us --out "$work/disk/run"
  check "it says so" grep -q "No space left on device" stderr
  check "run.json is valid" json disk-copy/run/run.json 'r["status"] == "failed" and r["error"]'
  check "the kept part of the trace is readable" report_of disk-copy/run/nic/*.lo.csv
  # Its trace of 3 s at 100 us takes 12 bytes per line at least: more than 256 KiB.
  fails 2 "traces and timeline need 372.9 kB at least" "a run that cannot fit onto the disk is refused" unshare -m bash -c '
    mount -t tmpfs -o size=256k tmpfs disk || exit 99
    "$@"' - "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 150 --interval 100us --out "$work/disk/run"
}

mistakes
occupied_port
strangers
full_disk
all_hold
