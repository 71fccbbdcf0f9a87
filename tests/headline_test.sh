#!/usr/bin/env bash
# The headline of arXiv 2401.00329 on real sockets, real mpirun and real counters: four hosts made of network namespaces,
# 1 Gbit/s links, ResNet-50 with bytes scaled by 1/100. Prints every figure and checks it: headline_test.sh TESTBED GRADBURST
# Exit code 77 = skipped, with a reason.
set -uo pipefail

testbed=$1
program=$2
name=gbh$$x # a name of its own: ends in a letter, for host numbers follow
out=$(mktemp -d)
trap '"$testbed" down --name "$name" >/dev/null 2>&1; rm -rf "$out"' EXIT

command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
"$testbed" run --name "$name" --hosts 2 -- true >"$out/probe" 2>&1 ||
    { echo "skipped: no testbed here: $(tail -1 "$out/probe")"; exit 77; }

burst=69632 # bytes: 68 KiB, one super-packet and a little
"$testbed" run --name "$name" --hosts 4 --rate 1gbit --burst $burst -- \
    "$program" resnet50 --iterations 20 --iface eth0 --line-rate 1Gbit --out "$out/run" >"$out/text" 2>&1 ||
    { cat "$out/text"; echo "FAILED: the run ended with exit code $?"; exit 1; }

python3 - "$out/run/run.json" $burst <<'PYTHON'
import json, statistics, sys

run = json.load(open(sys.argv[1]))
burst = int(sys.argv[2])
rate = 1e9 / 8          # bytes per second
mtu = 1514
failures = []

def check(rule, holds, figures):
    print(("ok:     " if holds else "FAILED: ") + rule + ": " + figures)
    if not holds:
        failures.append(rule)

sends = [i for i in run["interfaces"] if i["direction"] == "tx"]
check("four hosts were sampled in both directions", len(sends) == 4 and len(run["interfaces"]) == 8, f"{len(run['interfaces'])} counters")

for i in sends:
    point = next(p for p in i["burstiness"] if p["tau_seconds"] == 0.005)
    check(f"{i['host']}: PtM(5 ms) is certified above 60", (point["ptm_lower"] or 0) > 60,
          f"lower {point['ptm_lower']:.1f}, estimate {point['ptm_estimate']:.1f}, upper {point['ptm_upper']:.1f}, "
          f"predicted {point['ptm_predicted']:.1f}")

for tau in (0.005, 0.01, 0.02, 0.05, 0.1, 0.5):
    deviations = []
    for i in sends:
        point = next(p for p in i["burstiness"] if p["tau_seconds"] == tau)
        deviations.append(point["ptm_estimate"] / point["ptm_predicted"] - 1)
    # The median host: where the sampler of one host is held up inside a burst, its estimate interpolates over the gap.
    median, worst = statistics.median(deviations), max(deviations, key=abs)
    check(f"PtM({1000 * tau:g} ms) is within 10 % of the prediction", abs(median) <= 0.10,
          f"median host {100 * median:+.1f} %, farthest {100 * worst:+.1f} %")

iterations = run["iterations"]
deviation = iterations["seconds"]["mean"] / iterations["predicted_seconds"] - 1
check("the mean iteration is within 2 % of the prediction", abs(deviation) <= 0.02,
      f"{iterations['seconds']['mean']:.4f} s, predicted {iterations['predicted_seconds']:.4f} s ({100 * deviation:+.2f} %)")

# What a token bucket lets through in tau, and 50 us for a packet that is counted a little after it left. A counter
# shows more only if our bounds are wrong. tbf charges 14 bytes per frame more than it takes for MTU 1500: none here.
excess = max(p["e_lower_bytes"] - (burst + rate * p["tau_seconds"] + rate * 50e-6 + mtu)
             for i in run["interfaces"] for p in i["burstiness"] if p["e_lower_bytes"] is not None)
check("no certified E(tau) exceeds what the shaper lets through", excess <= 0, f"closest {-excess:.0f} B below")

for i in run["interfaces"]:
    surplus = i["nic_bytes"] / i["payload_bytes"] - 1
    # A veth counts one header of 66 bytes per super-packet (up to 65,160 bytes of payload: 0.10 %) and 66 bytes for
    # each acknowledgement; the shaper, which charges every frame 1514 bytes for 1448, is not what counts here.
    check(f"{i['host']} {i['direction']}: payload and counter agree within 0.5 %", 0 <= surplus <= 0.005, f"{100 * surplus:+.3f} %")

lateness = run["bucket_start_lateness_seconds"]
print(f"figures: start lateness p50 {1e6 * lateness['p50']:.0f} us, p99 {1e6 * lateness['p99']:.0f} us; "
      f"bus bandwidth {run['bandwidth']['bus_bytes_per_second'] * 8e-6:.0f} Mbit/s of payload")
sys.exit(1 if failures else 0)
PYTHON
