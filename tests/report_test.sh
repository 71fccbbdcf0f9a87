#!/usr/bin/env bash
# Reports of whole runs on this machine: report_test.sh GRADBURST GRADBURST_COLLECT GRADBURST_REPORT. Exit code 77 = skipped.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/whole_runs.sh"
report=$(readlink -f "${3:?path of gradburst-report}")
tools=$(readlink -f "$here/../tools")

# An independent validator; without it only that part is left out.
valid() { # FILE [SCHEMA]; without it that of its name
  local name=${1##*/}
  python3 - "$tools/${2:-${name%.json}.schema.json}" "$1" <<'PYTHON'
import json, sys
try:
    from jsonschema.validators import validator_for
except ImportError:
    print("not validated: no python3-jsonschema")
    sys.exit(0)
def refuse(constant): raise ValueError(constant + " is not JSON")
schema, report = (json.load(open(path), parse_constant=refuse) for path in sys.argv[1:])
validator = validator_for(schema)
validator.check_schema(schema)
mistakes = [f"{error.json_path}: {error.message[:200]}" for error in validator(schema).iter_errors(report)]
sys.exit("\n".join(mistakes) or 0)
PYTHON
}
holds() { # FILE EXPRESSION: a Python expression over the report `r`, with the run `run` of this name
  python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
run = r["runs"][-1]
sys.exit(0 if eval(sys.argv[2]) else "does not hold: " + sys.argv[2])' "$1" "$2"
}
# pass, failures and errors of the one suite
junit() { # FILE TESTS FAILURES ERRORS
  python3 -c 'import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
cases = suite.findall("testcase")
found = [len(cases), sum(c.find("failure") is not None for c in cases), sum(c.find("error") is not None for c in cases)]
said = [int(suite.get(key)) for key in ("tests", "failures", "errors")]
sys.exit(0 if found == said == [int(n) for n in sys.argv[2:]] else f"{found} {said}")' "$@"
}

check "a run as expected exits with 0" run 2 smoke --iterations 12 --out "$work/good" \
  --expect 'iterations == 12' --expect 'sent_bytes == 25165824B' --expect 'iteration_p50 < 10s' # 12 x 2 ranks x 1 MiB
check "it says so" prints "verdict          PASS"
check "run.json says so" json good/run.json \
  'r["verdict"]["result"] == "pass" and r["verdict"]["reasons"] == [] and len(r["verdict"]["expectations"]) == 3'
check "a run not as expected exits with 3" exits_with 3 "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 3 \
  --out "$work/bad" --expect 'iteration_p50 < 1ms' --expect 'retransmits >= 0'
check "it says why" prints "  FAIL           iteration_p50 < 1ms: "
check "run.json says why" json bad/run.json \
  'r["verdict"]["result"] == "fail" and len(r["verdict"]["reasons"]) == 1 and r["status"] == "complete"'
check "what cannot be judged exits with 3" exits_with 3 "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 3 \
  --out "$work/unknown" --expect 'iteration_p50 <= predicted'
check "it is not measured" prints "  NOT MEASURED   iteration_p50 <= predicted: not measured: nothing is predicted"
fails 2 'column 1: unknown quantity "ptn"; did you mean "ptm"?' "a wrong expectation is the user's mistake" \
  "${mpi[@]}" -n 2 "$gradburst" smoke --expect 'ptn(5ms) > 1' --out "$work/never"
check "it leaves nothing" absent never
for each in good bad unknown; do check "run.json of $each is valid" valid "$each/run.json"; done
check "windows and rates that are asked for are computed" exits_with 3 "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 9 \
  --out "$work/asked" --expect 'ptm(30ms) >= 1e6' --expect 'backlog(3Gbit) >= 1TB'
check "beside the others" json asked/run.json \
  'all(0.03 in [p["tau_seconds"] for p in i["burstiness"]] and 3e9 in [p["rate_bits_per_second"] for p in i["backlog"]]
       and len(i["burstiness"]) == 11 for i in r["interfaces"])'

check "the report of a run" exits_with 0 "$report" good --junit good.xml
check "it shows the verdict" prints "verdict          PASS"
check "it is valid" valid good/report.json
check "its numbers are those of the run" holds good/report.json \
  'run["interfaces"] == json.load(open("good/run.json"))["interfaces"] and len(run["iterations"]["values"]) == 11'
check "iterations are those of run.json" holds good/report.json \
  'abs(sum(run["iterations"]["values"]) / 11 - run["iterations"]["seconds"]["mean"]) < 1e-9'
check "traces are aligned with the timeline" holds good/report.json 'not any("NOT ALIGNED" in w for w in run["warnings"])'
check "JUnit has three that passed" junit good.xml 3 0 0
check "a report that fails exits with 3" exits_with 3 "$report" bad --junit bad.xml --expect 'ptm(1us) >= 1'
check "JUnit has a failure and an error" junit bad.xml 3 1 1
check "a comparison judges the run, not the baseline" exits_with 3 "$report" --baseline good asked --out both
check "the comparison is valid" valid both/report.json
check "the report of traces" exits_with 0 "$report" good/nic/*.lo.csv --out traces
check "the report of traces is valid" valid traces/report.json
check "its peaks are there" holds traces/report.json 'run["kind"] == "trace" and len(run["interfaces"]) == 2'
check "a new run takes the report of the old one with it" run 2 smoke --iterations 3 --out "$work/good" --overwrite
check "it is gone" absent good/report.json

# Stopped in the middle, and killed: both can be reported.
"${mpi[@]}" -n 2 "$gradburst" smoke --iterations 100000 --out "$work/stopped" >/dev/null 2>&1 &
job=$!
comes_true bash -c 'test -s stopped/nic/*.lo.csv'
sleep 1
kill -INT "$job"
wait "$job"
check "the report of a stopped run" exits_with 3 "$report" stopped --expect 'retransmits >= 0'
check "it is valid" valid stopped/report.json
check "its run.json is valid" valid stopped/run.json
check "it judges nothing" prints "not measured: the run is interrupted"
"${mpi[@]}" -n 2 "$gradburst" smoke --iterations 100000 --out "$work/killed" >/dev/null 2>&1 &
job=$!
comes_true bash -c 'test -s killed/nic/*.lo.csv'
sleep 1
for pid in $(ranks killed); do kill -KILL "$pid"; done
wait "$job" 2>/dev/null
check "its run.json is valid" valid killed/run.json
check "the report of a run that was killed" exits_with 0 "$report" killed
check "it is valid" valid killed/report.json
check "its traces are summed up" holds killed/report.json 'len(run["interfaces"]) == 2 and run["interfaces"][0]["samples"] > 100'

# One rank dies, the others tell of it.
"${mpi[@]}" -n 2 "$gradburst" smoke --iterations 100000 --out "$work/failed" >/dev/null 2>&1 &
job=$!
comes_true bash -c 'test -s failed/nic/*.lo.csv'
sleep 1
kill -KILL "$(ranks failed | tail -n 1)"
wait "$job" 2>/dev/null
check "run.json of a run that failed is valid" valid failed/run.json
check "the report of a run that failed" exits_with 0 "$report" failed

# What somebody broke is named.
mkdir broken
echo '{"format": "gradburst-run/1", "status": "complete", "interfaces": [{}]}' >broken/run.json
check "a broken run.json is the user's mistake" exits_with 2 "$report" broken
check "it is named with the place" grep -qF 'broken/run.json: /interfaces/0/host: is missing' stderr
all_hold
