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
  "$testbed" run --name "$name" --hosts 4 --rate 1gbit --ranks "$2" -- "$program" "${@:3}" --iterations 14 --warmup 2 \
    --scale-time 0.1 --scale-bytes 3 --iface eth0 --line-rate 1Gbit --out "$out/$1" >"$out/$1.txt" 2>&1 ||
    { cat "$out/$1.txt"; echo "FAILED: the run $1 ended with exit code $?"; exit 1; }
}
# A rank that had no CPU time when it was due sends at another time than those that this test is about. Two jobs run freely, too: one
# that is held up comes later from there on, and its bursts may end among the other's. So iterations count that started in time
# (start lateness: from when a bucket could start, ready and the one before ended, to when its rank started it; it knows nothing of
# how long the network took), and only until the jobs are no longer as far apart as planned. What a machine does to the others
# lengthens them: each way of running is tried once in a round, and of all rounds the one with the shortest median counts.
most_rounds=5
for congestion in cubic bbr; do
  grep -qw $congestion /proc/sys/net/ipv4/tcp_available_congestion_control || { echo "skipped: no $congestion"; exit 77; }
  for ((round = 1; round <= most_rounds; round++)); do
    run $congestion-alone-$round 4 resnet50 --congestion-control $congestion
    run $congestion-aligned-$round 8 --jobs "$out/aligned.json" --congestion-control $congestion
    run $congestion-shifted-$round 8 --jobs "$out/shifted.json" --congestion-control $congestion
    python3 "$figures" "$out" $congestion $round $most_rounds
    case $? in
      0) break ;;
      3) ;; # not yet
      *) exit 1 ;;
    esac
  done
done
