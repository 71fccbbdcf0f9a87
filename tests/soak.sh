#!/usr/bin/env bash
# A long run at half the shaped rate: does memory stay constant, does the schedule drift, is every sample that is missing explained?
# soak.sh TESTBED GRADBURST [DURATION [RATE]]: prints every figure and checks it. By hand: ctest does not run it. SOAK_FOLDER keeps what
# was measured.
set -uo pipefail

testbed=$1
program=$2
duration=${3:-2h}
rate=${4:-200mbit}
# shellcheck source=tests/testbed_runs.sh
. "$(dirname "$0")/testbed_runs.sh"
prepare_testbed
if [ -n "${SOAK_FOLDER:-}" ]; then # to keep what was measured
  rmdir "$out" 2>/dev/null || rm -r "$out"
  mkdir -p "$SOAK_FOLDER"
  out=$SOAK_FOLDER
  trap '"$testbed" down --name "$name" >/dev/null 2>&1' EXIT
fi

# Five buckets in the first 360 ms of an iteration of 500 ms. A ring of four sends 1.5 times their bytes: 5.98 MB of payload in
# packets of 1448 bytes, 1514 with all headers, are half of what 200 Mbit/s carry in that time. Nothing waits for the network
# unless it is late by 90 ms, so iteration n starts 500 ms times n after the first.
cat >"$out/soak.json" <<'JSON'
{
  "name": "soak",
  "compute": {"time": "500ms"},
  "gradients": {"bucketing": "explicit", "buckets": [
    {"bytes": 797000, "ready_after": "40ms"}, {"bytes": 797000, "ready_after": "120ms"}, {"bytes": 797000, "ready_after": "200ms"},
    {"bytes": 797000, "ready_after": "280ms"}, {"bytes": 797000, "ready_after": "360ms"}]},
  "collective": {"algorithm": "ring"}
}
JSON
python3 "$(dirname "$0")/soak_figures.py" watch "$out/memory.csv" "$(basename "$program") $out/soak.json" &
watcher=$!
"$testbed" run --name "$name" --hosts 4 --rate "$rate" -- "$program" "$out/soak.json" --duration "$duration" --warmup 1 --iface eth0 \
  --line-rate "$rate" --interval 1ms --congestion-control cubic --out "$out/run" --overwrite >"$out/soak.txt" 2>&1
code=$?
kill $watcher
cat "$out/soak.txt"
[ $code = 0 ] || { echo "FAILED: the run ended with exit code $code"; exit 1; }
python3 "$(dirname "$0")/soak_figures.py" check "$out"
