#!/usr/bin/env bash
# The clocks of several hosts, compared over the data network. Namespaces share one clock: what is measured must be 0, to within
# the error that is stated. clocks_test.sh TESTBED GRADBURST. Exit code 77 = skipped, with a reason.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/standing_testbed.sh"
cat >profile.json <<'JSON'
{"compute": {"time": "20ms"}, "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "64KiB", "ready_after": "12ms"}]},
 "run": {"iterations": 20, "warmup": 1}}
JSON
run() { # NAME RANKS GRADBURST_OPTION...
  timeout -k 5 60 "$testbed" run --name "$name" --ranks "$2" -- "$gradburst" profile.json --line-rate 1Gbit --iface eth0 --out "$work/$1" "${@:3}" \
    >"$work/output" 2>&1 </dev/null
}
holds() { # RUN EXPRESSION: over the run `r` and the clocks of its hosts but the first, `others`
  python3 - "$1/run.json" "$2" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
clocks = [host["clock"] for host in r["context"]["hosts"]]
others = clocks[1:]
sys.exit(0 if eval(sys.argv[2]) else f"{sys.argv[2]}: {clocks}, warnings {r['warnings']}")
PYTHON
}
printed_line() { grep -qF -- "$1" output; }

# Host 0 has sent each of the three a byte of greeting and 64 questions, and heard a hello (32 bytes) and 64 answers of 8 bytes.
asked_once() { (($("$testbed" exec --name "$name" 0 ss -tinHO | grep -c "bytes_received:544 ") == 3)); }

run hosts 8 --iterations 300 & # 6 s
running=$!
comes_true grep -q '^iteration 1 of' output
check "before the traffic each other host is asked, whatever ranks it has" asked_once
sleep 1
check "and not again while it flows" asked_once
wait $running
check "the run ends well" equal $? 0
check "rank 0's host has offset 0 by construction" \
  holds hosts 'clocks[0]["method"].endswith("0 by construction") and clocks[0]["start"] == {"offset_seconds": 0, "error_seconds": 0}'
check "each other host was measured over the data network, at both ends" \
  holds hosts 'len(others) == 3 and all("data network" in each["method"] and each["start"] and each["end"] for each in others)'
check "no offset exceeds its error" holds hosts \
  'all(abs(each[end]["offset_seconds"]) <= each[end]["error_seconds"] < 0.05 for each in others for end in ("start", "end"))'
check "nor does a drift" holds hosts 'all(abs(each["drift_ppm"]) <= each["drift_error_ppm"] for each in others)'
check "the result says how well the clocks are known" printed_line "clocks           3 hosts against rank 0's, over the data network"

# Host 2 cannot answer host 0, which their ring does not need.
"$testbed" exec --name "$name" 2 ip route add blackhole 10.77.0.1/32
run split 4
check "a run whose data network does not connect each host with rank 0 ends well, too" equal $? 0
"$testbed" exec --name "$name" 2 ip route del blackhole 10.77.0.1/32
check "clocks are compared over MPI's network then, and only at the start" holds split \
  'all("MPI" in each["method"] and each["end"] is None and each["drift_ppm"] is None for each in others)'
check "no offset exceeds its error there" \
  holds split 'all(abs(each["start"]["offset_seconds"]) <= each["start"]["error_seconds"] for each in others)'
check "run.json says why" holds split 'any("OVER MPI" in each and "rank 2" in each for each in r["warnings"])'
check "so does the result" printed_line "not measured after it"

((failures == 0)) || { echo "$failures failed" >&2; exit 1; }
