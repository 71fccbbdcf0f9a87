#!/usr/bin/env bash
# Whole runs with background traffic, on loopback and on a testbed: background_runs_test.sh TESTBED GRADBURST PROFILES. Exit code 77 = skipped.
set -uo pipefail

testbed=$1
program=$2
export GRADBURST_PROFILES=${3:?folder of profiles}
name=gbb$$x
out=$(mktemp -d)
chmod 755 "$out"
trap '"$testbed" down --name "$name" >/dev/null 2>&1; rm -rf "$out"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
command -v mpirun >/dev/null && command -v python3 >/dev/null || { echo "skipped: no mpirun or python3"; exit 77; }
failed=0
check() { # WHAT RUN PYTHON: r is its run.json, e its background entries by name
  if python3 - "$out/$2/run.json" "$3" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
e = {each["name"]: each for each in (r["background"] or {"entries": []})["entries"]}
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
  then echo "ok: $1"; else echo "FAILED: $1"; failed=1; fi
}

timeout 60 mpirun -n 3 "$program" shared-network --iterations 100 --out "$out/three" >"$out/three.txt" 2>&1 ||
  { cat "$out/three.txt"; echo "FAILED: a run with background traffic"; exit 1; }
check "all that was sent is received" three 'all(each["sent"] == each["received"] for each in e.values()) and not any(each["lost_connections"] for each in e.values())'
check "constant rate: at least 95 % of what was asked" three 'e["storage"]["received_bits_per_second"] >= 0.95 * 200e6'
check "no more than fell due" three 'all(each["sent"]["bytes"] <= each["planned"]["bytes"] for each in e.values())'
check "each answer of each query" three 'e["queries"]["queries"]["complete"] >= 0.9 * e["queries"]["queries"]["planned"] > 0'
check "flows have the settings of their entry" three 'e["storage"]["sockets"][0]["dscp"] == 8 and e["queries"]["sockets"][0]["congestion_control"] == "reno"'
check "the job's bytes are without it" three 'r["bytes"]["planned"] == r["bytes"]["sent"] == r["bytes"]["received"]'
check "the NIC's bytes agree with both together" three 'not any("OTHER TRAFFIC" in each or "BYTES ARE MISSING" in each for each in r["warnings"])'
lines=$(($(wc -l <"$out/three/background.csv") - 1))
check "background.csv has each message" three "$lines >= sum(each['sent']['messages'] for each in e.values()) > 0"

# A killed rank ends the run as it does without background traffic.
mpirun -n 3 "$program" shared-network --duration 30s --out "$out/killed" >"$out/killed.txt" 2>&1 &
launcher=$!
for ((i = 0; i < 100; i++)); do grep -q "^rank 2" "$out/killed.txt" 2>/dev/null && break; sleep 0.1; done
sleep 1
victim=$(pgrep -P "$launcher" | tail -1) # a rank: mpirun starts those of its own host itself
begin=$SECONDS
kill -KILL "$victim"
wait "$launcher" 2>/dev/null
code=$?
if [ $code -ne 0 ] && [ $((SECONDS - begin)) -le 15 ]; then
  echo "ok: a killed rank ends the run with exit code $code after $((SECONDS - begin)) s"
else
  echo "FAILED: exit code $code after $((SECONDS - begin)) s"; tail -20 "$out/killed.txt"; failed=1
fi
check "and run.json says so" killed 'r["status"] == "failed" and r["error"]'

# What the ring loses to a flow on one of its links. Alone a burst takes 80 ms: 1.5 x 6 MiB at 0.95 Gbit/s. With a fair share of that
# link it would take twice as long.
"$testbed" run --name "$name" --hosts 2 -- true >"$out/probe" 2>&1 ||
  { echo "skipped the rest: no testbed here: $(tail -1 "$out/probe")"; exit $failed; }
cat >"$out/ring.json" <<'JSON'
{"compute": {"time": "60ms"}, "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "6MiB", "ready_after": "40ms"}]},
 "run": {"iterations": 20, "warmup": 2}}
JSON
sed 's/^{/{"background": [{"name": "flow", "pattern": "constant", "from": [0], "to": [1], "rate": "600Mbit", "message": "64KiB", "dscp": 46, "congestion_control": "cubic"}],\n /' \
  "$out/ring.json" >"$out/shared.json"
for run in ring shared; do
  "$testbed" run --name "$name" --hosts 4 --rate 1gbit --ranks 4 -- "$program" "$out/$run.json" --iface eth0 --line-rate 1Gbit --congestion-control cubic \
    --out "$out/$run" >"$out/$run.txt" 2>&1 || { cat "$out/$run.txt"; echo "FAILED: the run $run"; exit 1; }
done
python3 - "$out" <<'PYTHON'
import json, sys
p50 = {run: json.load(open(f"{sys.argv[1]}/{run}/run.json"))["iterations"]["seconds"]["p50"] for run in ("ring", "shared")}
flow = json.load(open(f"{sys.argv[1]}/shared/run.json"))["background"]["entries"][0]
times = flow["completion_seconds"]
print(f"figures: iteration p50 {1e3 * p50['ring']:.1f} ms alone, {1e3 * p50['shared']:.1f} ms beside a flow of 600 Mbit/s on one of four "
      f"links ({p50['shared'] / p50['ring']:.2f} times); the flow received {flow['received_bits_per_second'] / 1e6:.0f} Mbit/s, "
      f"messages of 64 KiB p50 {1e3 * times['p50']:.2f} ms, p99 {1e3 * times['p99']:.2f} ms")
sys.exit(p50["shared"] < 1.1 * p50["ring"])
PYTHON
[ $? -eq 0 ] && echo "ok: a flow on one link lengthens the ring's iterations" || { echo "FAILED: iterations are as long as without the flow"; failed=1; }
check "DSCP on IPv4 as asked" shared 'e["flow"]["sockets"][0]["dscp"] == 46 and all(each["dscp"] == 0 for each in r["context"]["sockets"])'
check "both ends of the flow agree" shared 'e["flow"]["sent"] == e["flow"]["received"]'
check "the NICs agree with both" shared 'not any("OTHER TRAFFIC" in each or "BYTES ARE MISSING" in each for each in r["warnings"])'
check "no prediction of counters that the flow crosses" shared 'all(point["ptm_predicted"] is None for each in r["interfaces"] if "background_payload_bytes" in each for point in each["burstiness"])'
exit $failed
