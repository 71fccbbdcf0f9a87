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
figures=$(dirname "$0")/shifted_jobs_figures.py

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
    enough "$out/$1" $attempt && return
  done
}
# A rank that had no CPU time when it was due sends at another time than those that this test is about. Two jobs run freely, too: one
# that is held up comes later from there on, and its bursts may end among the other's. So iterations count that started in time
# (start lateness: from when a bucket could start, ready and the one before ended, to when its rank started it; it knows nothing of
# how long the network took) and as far apart as planned. Too few of them put an attempt aside, whatever came of it. The last counts.
most_attempts=4
enough() { # RUN ATTEMPT
  python3 "$figures" attempt "$1" "$2" $most_attempts
}
for congestion in cubic bbr; do
  grep -qw $congestion /proc/sys/net/ipv4/tcp_available_congestion_control || { echo "skipped: no $congestion"; exit 77; }
  run $congestion-alone 4 resnet50 --congestion-control $congestion
  run $congestion-aligned 8 --jobs "$out/aligned.json" --congestion-control $congestion
  run $congestion-shifted 8 --jobs "$out/shifted.json" --congestion-control $congestion
done

python3 "$figures" check "$out"
