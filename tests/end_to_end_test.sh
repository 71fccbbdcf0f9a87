#!/usr/bin/env bash
# Whole runs of gradburst on this machine, and what they leave: end_to_end_test.sh GRADBURST GRADBURST_COLLECT. Exit code 77 = skipped.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/whole_runs.sh"

# Each key of a complete run.json, and its type.
write_key_check() {
  cat >"$work/keys.py" <<'PYTHON'
import json, math, sys
number, text, whole = (int, float), str, int
null = type(None)
keys = {
    "format": text, "status": text, "error": null, "version": text, "command": text, "started_at": text,
    "context": {"hosts": [{"host": text, "kernel": text, "cpus_online": whole,
                           "ranks": [{"rank": whole, "cpus_allowed": whole, "interface": text, "address": text,
                                      "port": whole}]}], "build_type": text},
    "profile": dict, "profile_hash": text, "world_size": whole, "seed": whole, "warnings": [text],
    "iterations": {"count": whole, "warmup": whole,
                   "seconds": {"mean": number, "p50": number, "p95": number, "p99": number, "max": number},
                   "predicted_seconds": (int, float, null)},
    "bytes": {"planned": whole, "sent": whole, "received": whole},
    "bucket_start_lateness_seconds": {"p50": number, "p99": number, "max": number},
    "bandwidth": {"algorithm_bytes_per_second": number, "bus_bytes_per_second": number, "formula": text},
    "interfaces": [{
        "host": text, "interface": text, "direction": text, "nic_bytes": whole, "mean_bits_per_second": number,
        "resolved_from_seconds": (int, float, null), "samples": whole, "missed": whole, "gaps": whole,
        "burstiness": [{"tau_seconds": number, **{key: (int, float, null) for key in (
            "e_lower_bytes", "e_estimate_bytes", "e_upper_bytes", "ptm_lower", "ptm_estimate", "ptm_upper",
            "ptm_predicted")}}],
        "backlog": [{"rate_bits_per_second": number, **{key: (int, float, null) for key in (
            "lower_bytes", "estimate_bytes", "predicted_bytes")}}]}],
    "verdict": {"result": text, "reasons": list},
}
def compare(expected, value, path):
    if isinstance(expected, dict):
        for key, inner in expected.items():
            if not isinstance(value, dict) or key not in value: sys.exit(f"{path}: no {key}")
            compare(inner, value[key], f"{path}/{key}")
    elif isinstance(expected, list):
        if not isinstance(value, list): sys.exit(f"{path}: no list")
        for i, each in enumerate(value): compare(expected[0], each, f"{path}/{i}")
    elif isinstance(value, bool) or not isinstance(value, expected):
        sys.exit(f"{path}: {value!r} has the wrong type")
    elif isinstance(value, float) and not math.isfinite(value):
        sys.exit(f"{path}: {value}")
run = json.load(open(sys.argv[1]))
compare(keys, run, "")
assert run["format"] == "gradburst-run/1" and run["interfaces"]
assert run["verdict"]["result"] in ("pass", "fail", "not_measured", "none")
for each in run["interfaces"]: assert each["direction"] in ("tx", "rx") and each["burstiness"] and each["backlog"]
PYTHON
}

complete_runs() {
  check "a smoke run succeeds" run 4 smoke --iterations 50 --out "$work/smoke"
  check "it prints its result" prints "50 finished, 49 measured"
  check "run.json is complete" json smoke/run.json 'r["status"] == "complete" and r["error"] is None'
  check "ranks of one host have one clock, and it is said" prints "one host: offset 0 by construction"
  check "all keys are there, with their types" python3 keys.py smoke/run.json
  # a rank sends 2 x 3/4 of 1 MiB each time
  check "planned, sent and received bytes are equal" json smoke/run.json \
    'r["bytes"]["planned"] == r["bytes"]["sent"] == r["bytes"]["received"] == 50 * 4 * 1572864'
  if [[ $isolated == yes ]]; then
    # From before the first byte to behind the last one, however late a sample was. Headers come on top.
    "$collect" report smoke/nic/*.lo.csv --json >whole.json
    check "the NIC saw the payload" json whole.json \
      'all(0 <= i["nic_bytes"] / (50 * 4 * 1572864) - 1 < 0.01 for i in r["interfaces"])'
    # Cut at the samples: one that is late at an edge puts an iteration on the other side of it.
    check "it saw that of the measured iterations" json smoke/run.json \
      "all(-1 / 49 <= i['nic_bytes'] / i['payload_bytes'] - 1 < 0.01 + 1 / 49 for i in r['interfaces'])"
  fi
  check "the timeline has a row per rank, iteration and bucket" lines smoke/timeline.csv 201
  check "tcp.csv has a row per rank, iteration, bucket and connection" lines smoke/tcp.csv 201
  # The last bytes may be on their way when a rank leaves.
  check "what the kernel calls delivered is what was sent" json smoke/run.json \
    '(0.9 * r["bytes"]["sent"] < r["tcp"]["acked_bytes"] <= r["bytes"]["sent"] and r["tcp"]["records"] == 200
     and sum(int(row["acked_bytes"]) for row in csv.DictReader(open("smoke/tcp.csv"))) == r["tcp"]["acked_bytes"])'
  check "round-trip times and windows are there" json smoke/run.json \
    '0 < r["tcp"]["rtt_seconds"]["p50"] < 1 and r["tcp"]["cwnd_segments"]["p50"] > 0 and r["tcp"]["retransmitted_segments"] >= 0'
  check "they are told" prints "tcp              retransmits "
  check "no number is odd" no_odd_numbers smoke
  check "nothing half-written is left" bash -c '! ls smoke/*.new 2>/dev/null'
  check "drops and retransmits stand beside the trace" json smoke/run.json \
    '(len(r["slow_lane"]) == 1 and r["slow_lane"][0]["rx_drops"] == 0 and r["slow_lane"][0]["tcp_sent_segments"] > 0
     and len(list(csv.DictReader(open("smoke/" + r["slow_lane"][0]["file"])))) >= 10)'
  check "they are told" prints "losses "
  check "gradburst-collect reads the trace" report_of smoke/nic/*.lo.csv
  local slow_file
  slow_file=$(basename smoke/nic/*.lo.slow.csv)
  mkdir -p soft/nic
  touch "soft/nic/$slow_file"
  check "a slow lane that cannot start fails no run" run 2 smoke --iterations 5 --out "$work/soft"
  check "it is a warning" prints "WARNING: NO DROPS, NO RETRANSMITS OF "
  check "it is no result" json soft/run.json 'r["slow_lane"] == [] and r["status"] == "complete" and len(r["interfaces"]) == 2'

  fails 2 "holds a run already" "a second run does not replace the first" \
    "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 3 --out "$work/smoke"
  check "the first one is untouched" json smoke/run.json 'r["iterations"]["count"] == 50'
  check "--overwrite replaces it" run 2 smoke --iterations 3 --out "$work/smoke" --overwrite
  check "--overwrite leaves the new run alone" json smoke/run.json 'r["iterations"]["count"] == 3'

  check "sums are verified" run 4 resnet50-ddp --scale-bytes 0.01 --scale-time 0.05 --iterations 4 --verify \
    --out "$work/ddp"
  check "the scaled ResNet-50 moved its bytes" json ddp/run.json \
    'r["bytes"]["planned"] == r["bytes"]["sent"] == r["bytes"]["received"] > 0'
  # All-reduces and broadcasts: every rank has every element.
  check "the checked elements are those of the timeline" json ddp/run.json \
    'r["checked_elements"] == sum(int(row["bucket_bytes"]) // 4 for row in csv.DictReader(open("ddp/timeline.csv")))'
  # 3 buckets in the first iteration, 7 in the three others
  check "every bucket of it is on the timeline" lines ddp/timeline.csv $((1 + 4 * (3 + 3 * 7)))

  check "without asking the connections a run succeeds" run 2 smoke --iterations 5 --no-tcp-info --out "$work/unasked"
  check "it says that they were not" prints "tcp              not measured (sampling.tcp_info of the profile is off)"
  check "it has no tcp.csv" json unasked/run.json 'r["tcp"] is None and not __import__("os").path.exists("unasked/tcp.csv")'

  check "--json succeeds" run 2 smoke --iterations 5 --json --out "$work/odd näme/sub dir/"
  check "--json prints JSON and nothing else" json stdout 'r["status"] == "complete"'
  check "--json prints what is in the folder" cmp -s stdout "odd näme/sub dir/run.json"

  check "a limit in time succeeds" run 2 smoke --duration 1s --out "$work/timed"
  check "a limit in time ends the run" json timed/run.json \
    '5 <= r["iterations"]["count"] <= 60 and r["status"] == "complete"'

  mkdir dry
  check "a dry run succeeds" bash -c 'cd dry && timeout 30 "$@" >../stdout 2>../stderr' - \
    "${mpi[@]}" -n 4 "$gradburst" smoke --dry-run
  check "a dry run tells the bytes" prints "629145600 B in 100 iterations" # 100 x 4 x 1,572,864
  check "a dry run leaves nothing" bash -c '[[ -z $(ls dry) ]]'
  check "a dry run tells what it takes" prints "in the run directory"
  check "a dry run as JSON succeeds" exits_with 0 "${mpi[@]}" -n 4 "$gradburst" smoke --dry-run --json
  check "a dry run as JSON is JSON" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["format"] == "gradburst-dry-run/1" and r["run_sent_bytes"] == 629145600 and len(r["ranks"]) == 4
assert all(rank["sent_bytes_per_iteration"] == 1572864 and rank["peers"] == 1 for rank in r["ranks"])' stdout
  check "a dry run of a lone rank succeeds" exits_with 0 "$gradburst" smoke --dry-run
  check "a dry run of a lone rank says that it sends nothing" prints "sends nothing: one rank has nobody to send to"
  check "a dry run that cannot fit succeeds" \
    exits_with 0 "${mpi[@]}" -n 2 "$gradburst" smoke --dry-run --verify --scale-bytes 1000000
  check "a dry run that cannot fit warns" prints "WARNING: MEMORY: "
  check "--list-profiles succeeds" exits_with 0 "$gradburst" --list-profiles
  check "--list-profiles names the shipped ones" prints "resnet50-ddp"

  check "a lone rank succeeds" exits_with 0 "$gradburst" smoke --iterations 5 --out "$work/lone"
  check "a lone rank says what that means" prints "ONE RANK HAS NOBODY TO SEND TO"
  check "a lone rank sends nothing" json lone/run.json 'r["bytes"]["sent"] == 0 and r["status"] == "complete"'
  check "a rank that mpirun means to be alone runs inside an allocation of four" env SLURM_NTASKS=4 \
    "${mpi[@]}" -n 1 "$gradburst" smoke --dry-run >/dev/null
}

write_key_check
complete_runs
all_hold
