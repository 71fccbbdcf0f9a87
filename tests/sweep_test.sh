#!/usr/bin/env bash
# A sweep of start offsets on this machine: what it leaves, what it refuses, what a stop leaves: sweep_test.sh GRADBURST
# GRADBURST_COLLECT GRADBURST_REPORT SOURCE. Exit code 77 = skipped.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/whole_runs.sh"
report=$(readlink -f "${3:?path of gradburst-report}")
schema=$(readlink -f "${4:?source folder}")/tools/sweep.schema.json

cat >small.json <<'JSON'
{"compute": {"time": "20ms"}, "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "64KiB", "ready_after": "12ms"}]},
 "network": {"stall_timeout": "2s"}, "run": {"iterations": 20, "warmup": 1}}
JSON
cat >jobs.json <<'JSON'
{"jobs": [
  {"name": "a", "profile": "small.json", "ranks": "0-1"},
  {"name": "b", "profile": "small.json", "ranks": [2, 3], "start": {"phase": 0.5, "of": "a"}}
]}
JSON

sweep_json() { # SWEEP EXPRESSION: a Python expression over sweep.json `s` and its steps by directory `d` holds
  python3 - "$@" <<'PYTHON'
import json, sys
s = json.load(open(f"{sys.argv[1]}/sweep.json"))
d = {step["directory"]: step for step in s["steps"]}
if not eval(f"({sys.argv[2]})"):
    sys.exit(f"does not hold: {sys.argv[2]}; {json.dumps(s)[:3000]}")
PYTHON
}

fits_schema() { # SWEEP
  python3 - "$schema" "$1/sweep.json" <<'PYTHON'
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(0)
jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
PYTHON
}

a_whole_sweep() {
  check "each job runs alone, then both at three offsets" run 4 --jobs jobs.json --sweep-offset 0..T:3 --out "$work/sweep"
  check "sweep.json has all steps in order" sweep_json sweep \
    's["status"] == "complete" and list(d) == ["alone-a", "alone-b", "offset-01", "offset-02", "offset-03"] == [
     step["directory"] for step in s["steps"]] and s["planned_steps"] == 5'
  check "it fits its schema" fits_schema sweep
  check "T is what a took alone" sweep_json sweep \
    '0.019 < s["period_seconds"] < 0.04 and s["period_seconds"] == d["alone-a"]["jobs"][0]["iterations"]["p50_seconds"]'
  check "offsets are 0, T/2 and T" sweep_json sweep \
    'all(abs(d[f"offset-0{i + 1}"]["offset_seconds"]["asked"] - i * s["period_seconds"] / 2) < 1e-6 for i in range(3))'
  check "each job has its factor against alone" sweep_json sweep \
    'all(j["interference"] > 0.5 and 15 < j["iterations"]["counted"] < 20 for n in d if "offset" in n for j in d[n]["jobs"])'
  check "the held offset is told" sweep_json sweep 'all(d[n]["offset_seconds"]["held"]["iterations"] > 10 for n in d if "offset" in n)'
  check "without line rate no queue is known" sweep_json sweep 'all(step["backlog"] is None for step in s["steps"])'
  check "retransmits are" sweep_json sweep 'all(step["retransmits"] is not None for step in s["steps"])'
  check "the table is printed" prints "sweep            b shifted against a, T 2"
  check "with a row for each step" equal "$(grep -cE '^ *(alone|[0-9.]+ m?s) ' stdout)" 5
  check "the steps' own results are not" equal "$(grep -c 'iterations  ' stdout)" 0
  check "the same ports served all steps" python3 - sweep <<'PYTHON'
import glob, json, sys
ports = {}
for path in glob.glob(f"{sys.argv[1]}/*/*/run.json"):
    run = json.load(open(path))
    ports.setdefault(run["job"], set()).add(str([rank["port"] for host in run["context"]["hosts"] for rank in host["ranks"]]))
sys.exit(0 if len(ports) == 2 and all(len(each) == 1 for each in ports.values()) else f"{ports}")
PYTHON
  check "gradburst-report reads a job of a step" "$report" sweep/offset-02/b
  check "and one alone" "$report" sweep/alone-a/a
  check "a sweep is replaced" run 4 --jobs jobs.json --sweep-offset a=0..40ms:2 --out "$work/sweep" --overwrite --json
  check "nothing of the old one is left" absent sweep/offset-03
  check "--json prints sweep.json" cmp -s stdout sweep/sweep.json
  check "a was shifted against b" sweep_json sweep '(s["shifted"], s["reference"]) == ("a", "b")'
  check "by up to two periods" sweep_json sweep 'd["offset-02"]["offset_seconds"]["asked"] == 0.04'
}

period_of_the_jobs_file() {
  sed 's/"of": "a"/&, "period": "30ms"/' jobs.json >period.json
  check "the jobs file may say how long a period is" run 4 --jobs period.json --sweep-offset 0..T:2 --out "$work/period"
  check "then T is that" sweep_json period 's["period_seconds"] == 0.03 and s["period_origin"] == "jobs file"'
}

refuses() { # MESSAGE NAME COMMAND...
  check "$2" exits_with 2 "${@:3}"
  check "$2: the message" grep -qF -- "$1" stderr
}

a_report_of_it() {
  check "a report of the sweep" "$report" sweep --out pages
  check "has its table" grep -q "a shifted against b" pages/report.html
  check "and report.json has it" python3 -c 'import json
assert json.load(open("pages/report.json"))["sweep"] == json.load(open("sweep/sweep.json"))'
  if command -v gnuplot >/dev/null; then
    check "a figure" "$report" sweep --out pages --figure sweep.svg
    check "which is a picture" grep -q "<svg" sweep.svg
  fi
  refuses "has no single verdict" "--expect needs a run" "$report" sweep --out pages --expect 'iterations > 1'
  refuses "is a sweep" "a figure of something else" "$report" sweep --out pages --figure ptm.svg
  refuses "is no sweep" "that figure of a run" "$report" sweep/offset-02/b --out pages --figure sweep.svg
  refuses "is a sweep" "a sweep as a baseline" "$report" --baseline sweep sweep/offset-02/b --out pages
  sed 's/"planned_steps": [0-9]*/"planned_steps": "many"/' sweep/sweep.json >damaged.json
  mkdir -p damaged && mv damaged.json damaged/sweep.json
  refuses "/planned_steps" "a damaged sweep.json is named" "$report" damaged
}

mistakes() {
  fails 2 "give --jobs FILE" "a sweep without jobs" "${mpi[@]}" -n 2 "$gradburst" small.json --sweep-offset 0..T:3
  fails 2 "how many offsets? e.g. 0..T/8:9" "a sweep without a number" "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --sweep-offset 0..T/8
  fails 2 "there is no such job; the jobs are a, b" "a job that does not exist" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --sweep-offset other=0..T:3
  fails 2 "not together with --start-at" "a sweep by the wall clock" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --sweep-offset 0..T:3 --start-at 2030-01-01T00:00:00Z
  fails 2 "must ascend, but goes from 1 s to 1 T" "offsets that turn out to descend" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --sweep-offset 1s..T:3 --out "$work/descends"
  check "it keeps the steps alone, and is labelled" sweep_json descends \
    's["status"] == "failed" and "must ascend" in s["error"] and list(d) == ["alone-a", "alone-b"]'
  fails 2 "holds a run already" "a sweep is not overwritten" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --sweep-offset 0..T:3 --out "$work/sweep"
  check "a dry run says what a sweep takes" run 4 --jobs jobs.json --sweep-offset 0..T:3 --dry-run
  check "a dry run has its steps" prints "sweep            b shifted against a: 2 steps alone, 3 offsets"
}

a_stop_in_the_middle() {
  : >stderr
  set -m
  "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --sweep-offset 0..T:9 --iterations 50 --out "$work/stopped" \
    >stopped.stdout 2>stderr </dev/null &
  mpirun_pid=$!
  set +m
  comes_true grep -q '^step 4 ' stderr
  comes_true grep -q '^{\|"gradburst-launch/1"' stopped/offset-02/launch.json
  took=$(python3 "$here/stop_run.py" "$work/stopped" mpirun INT)
  echo "figure: stopped: the ranks were gone after $took ms"
  check "Ctrl-C ends the ranks within 1 s" test "$took" -le $((1000 * slow))
  wait "$mpirun_pid" 2>/dev/null
  check "the sweep is interrupted, with the steps that it had" sweep_json stopped \
    's["status"] == "interrupted" and s["error"] and len(d) >= 3 and d["offset-01"]["status"] == "complete" and
     d["offset-01"]["jobs"][0]["interference"] > 0'
  check "it fits its schema, too" fits_schema stopped
  check "the table is there, labelled" grep -q "THE SWEEP IS NOT COMPLETE" stopped.stdout
}

a_job_fails() {
  sed 's/"ranks": \[2, 3\]/&, "set": {"\/network\/stall_timeout": "1s"}/' jobs.json >fragile.json
  : >stderr
  "${mpi[@]}" -n 4 "$gradburst" --jobs fragile.json --sweep-offset 0..T:9 --iterations 60 --out "$work/broken" \
    >broken.stdout 2>stderr </dev/null &
  mpirun_pid=$!
  comes_true grep -q '^step 3 ' stderr
  comes_true grep -q '^b | iteration 1 ' stderr
  local pid frozen=
  for pid in $(ranks broken); do
    tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=3" && frozen=$pid
  done
  kill -STOP "$frozen"
  wait "$mpirun_pid" 2>/dev/null
  check "a rank is frozen: the sweep ends, and says in which step" sweep_json broken \
    's["status"] == "failed" and s["error"].startswith("step offset-0") and "job b" in s["error"]'
  kill -9 "$frozen" 2>/dev/null
}

a_whole_sweep
period_of_the_jobs_file
a_report_of_it
mistakes
a_stop_in_the_middle
a_job_fails
all_hold
