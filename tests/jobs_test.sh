#!/usr/bin/env bash
# Several jobs in one launch on this machine, and launches that meet: jobs_test.sh GRADBURST GRADBURST_COLLECT
# GRADBURST_REPORT. Exit code 77 = skipped.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/whole_runs.sh"
report=$(readlink -f "${3:?path of gradburst-report}")

cat >small.json <<'JSON'
{"compute": {"time": "20ms"}, "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "64KiB", "ready_after": "12ms"}]},
 "network": {"stall_timeout": "2s"}, "run": {"iterations": 30, "warmup": 1}}
JSON
cat >jobs.json <<'JSON'
{"jobs": [
  {"name": "a", "profile": "small.json", "ranks": "0-1"},
  {"name": "b", "profile": "small.json", "ranks": [2, 3], "set": {"/run/iterations": 60}, "start": {"offset": "50ms"}}
]}
JSON
sed 's/"ranks": "0-1"/"ranks": "0-1", "set": {"\/run\/iterations": 200}/; s/"\/run\/iterations": 60/"\/run\/iterations": 100000/' \
  jobs.json >long.json

launch_json() { # RUN EXPRESSION: a Python expression over launch.json `r`, its jobs a and b, and their runs ra and rb holds
  python3 - "$@" <<'PYTHON'
import json, sys
folder = sys.argv[1]
r = json.load(open(f"{folder}/launch.json"))
a, b = ({job["name"]: job for job in r["jobs"]}[name] for name in "ab")
ra, rb = (json.load(open(f"{folder}/{name}/run.json")) for name in "ab")
if not eval(sys.argv[2]):
    sys.exit(f"does not hold: {sys.argv[2]}; {json.dumps(r['jobs'])}; warnings {ra['warnings']} {rb['warnings']}")
PYTHON
}

jobs_beside_each_other() {
  check "two jobs run in one launch" run 4 --jobs jobs.json --out "$work/two"
  check "both are complete, each with its own length" launch_json two \
    'r["complete"] and (a["status"], b["status"], ra["iterations"]["count"], rb["iterations"]["count"]) == (
     "complete", "complete", 30, 60)'
  check "each job sent what it planned" launch_json two \
    'all(x["bytes"]["planned"] == x["bytes"]["sent"] == x["bytes"]["received"] for x in (ra, rb))'
  check "job b began 50 ms after job a" launch_json two \
    '0.05 <= b["offset_seconds"]["first_iteration"] and b["offset_seconds"]["planned"] == 0.05'
  check "the counters are those of both, and each job says so" launch_json two \
    'all(i["shared_with_jobs"] == [other] for x, other in ((ra, "b"), (rb, "a")) for i in x["interfaces"])'
  check "the other job's bytes are no OTHER TRAFFIC, and none are MISSING" launch_json two \
    'not any("TRAFFIC" in w or "MISSING" in w for x in (ra, rb) for w in x["warnings"])'
  check "lines have the job's name in front" prints "b | iterations       60 finished"
  check "the interface was sampled once" equal "$(ls two/nic/*.lo.csv | wc -l)" 1
  check "the jobs file is kept" cmp -s jobs.json two/jobs.json
  fails 2 "holds a run already" "a launch is not overwritten" "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --out "$work/two"
  check "unless it shall be; options hold for every job" run 4 --jobs jobs.json --out "$work/two" --overwrite --iterations 5 --json
  check "--iterations reached both" launch_json two '(ra["iterations"]["count"], rb["iterations"]["count"]) == (5, 5)'
  check "--json prints launch.json" cmp -s stdout two/launch.json
  check "a dry run shows every job" run 4 --jobs jobs.json --dry-run
  check "a dry run shows job b" prints "b | profile          small"
}

report_json() { # RUN EXPRESSION: over the one run of the report.json in a run directory `run`
  python3 -c 'import json, sys
run = json.load(open(f"{sys.argv[1]}/report.json"))["runs"][-1]
sys.exit(0 if eval(sys.argv[2]) else f"does not hold: {sys.argv[2]}; {json.dumps(run)[:2000]}")' "$@"
}

verdicts_and_reports() {
  sed 's/"\/run\/iterations": 60/&, "\/expect": ["iterations == 61", "sent_bytes > 0B"]/;
       s/"ranks": "0-1"/&, "set": {"\/expect": ["iterations == 30"]}/' jobs.json >expect.json
  check "the launch exits with 3, for one job is not as expected" exits_with 3 "${mpi[@]}" -n 4 "$gradburst" --jobs expect.json \
    --out "$work/judged"
  check "each job has its verdict" launch_json judged \
    '(a["verdict"], b["verdict"], ra["verdict"]["result"], rb["verdict"]["result"]) == ("pass", "fail", "pass", "fail")'
  check "it says whose" prints "b |   FAIL           iterations == 61"
  check "both jobs are complete" launch_json judged 'r["complete"] and a["status"] == b["status"] == "complete"'
  check "clocks were compared for all jobs, after them too" launch_json judged \
    'all(h["clock"]["start"] and h["clock"]["end"] for x in (ra, rb) for h in x["context"]["hosts"])'
  local job
  for job in a b; do
    check "a report of job $job, with its verdict" exits_with $([[ $job == a ]] && echo 0 || echo 3) "$report" "judged/$job"
    check "it has the traces of the launch" report_json judged/$job \
      '[i["samples"] > 10 for i in run["interfaces"]] == [True, True] and not any(
       "TRACE" in w or "ALIGNED" in w for w in run["warnings"])'
    check "its charts have the rate" grep -q '"rate' judged/$job/report.html
  done
  check "a job beside the other one, which is not as it expects" exits_with 3 "$report" --baseline judged/a judged/b --out both
  check "--expect holds for every job" exits_with 3 "${mpi[@]}" -n 4 "$gradburst" --jobs jobs.json --out "$work/all" \
    --expect 'iterations == 30'
  check "of which one passes" launch_json all '(a["verdict"], b["verdict"]) == ("pass", "fail")'
  check "without expectations there is no verdict" launch_json two 'a["verdict"] is None and rb["verdict"]["result"] == "none"'
  check "--overwrite takes the reports along" run 4 --jobs jobs.json --out "$work/judged" --overwrite --iterations 5
  check "none is left" absent judged/a/report.json
  check "the traces are there once" test -L judged/a/nic -a -f judged/a/nic/"$(basename judged/nic/*.lo.csv)"
}

mistakes() {
  fails 2 "jobs.json: /jobs: rank 4 of 5 belongs to no job" "each rank has a job" "${mpi[@]}" -n 5 "$gradburst" --jobs jobs.json
  fails 2 "names rank 3, but there are 3 ranks" "each rank exists" "${mpi[@]}" -n 3 "$gradburst" --jobs jobs.json
  sed 's/"ranks": "0-1"/"rnks": "0-1"/' jobs.json >typo.json
  fails 2 'typo.json: /jobs/0/rnks: unknown key; did you mean "ranks"?' "an unknown key" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs typo.json
  sed 's/"\/run\/iterations": 60/"\/run\/iteration": 60/' jobs.json >field.json
  fails 2 "field.json: job b: /run/iteration" "an unknown field of a profile names the job" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs field.json
  sed 's/"offset": "50ms"/"phase": 0.5, "of": "a"/' jobs.json >phase.json
  fails 2 "its line rate is not known" "a phase needs a period" \
    "${mpi[@]}" -n 4 "$gradburst" --jobs phase.json --out "$work/nowhere"
  check "with a line rate the period is predicted" run 4 --jobs phase.json --out "$work/phase" --line-rate 10Gbit
  check "job b began half an iteration after job a" launch_json phase '0.0095 < b["offset_seconds"]["planned"] < 0.0115'
  fails 2 "names the profiles" "--jobs and a profile" "${mpi[@]}" -n 4 "$gradburst" small.json --jobs jobs.json
}

# Starts four ranks in the background, each below a shell that keeps its exit code. Sets mpirun_pid.
launch() { # RUN MPIRUN_OPTION...
  : >stderr
  "${mpi[@]}" "${@:2}" -n 4 sh -c '"$@"; echo $? >"$0.$OMPI_COMM_WORLD_RANK"' "$work/$1.code" "$gradburst" --jobs long.json \
    --out "$work/$1" >"$work/$1.stdout" 2>"$work/stderr" </dev/null &
  mpirun_pid=$!
  comes_true grep -q '^b | iteration' stderr
}
pid_of() { # RUN RANK
  local pid
  for pid in $(ranks "$1"); do
    tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2" && echo "$pid"
  done
}

one_job_fails() {
  # Open MPI 4 ends all ranks when one was killed, unless it is told to go on; then it is silent about exit codes.
  launch killed --enable-recovery
  kill -9 "$(pid_of killed 3)"
  check "a rank of job b is killed: b fails while a runs" comes_true grep -q '^b | failed' stderr
  wait "$mpirun_pid" 2>/dev/null
  check "job a ends complete, with all its iterations" launch_json killed \
    'a["status"] == ra["status"] == "complete" and ra["iterations"]["count"] == 200 and not ra["error"]'
  check "job b is failed, and says who was killed" launch_json killed \
    'b["status"] == rb["status"] == "failed" and "no answer from rank 1" in rb["error"]'
  check "what the dead rank sent is unknown, and no OTHER TRAFFIC" launch_json killed \
    'not any("OTHER TRAFFIC" in w for w in ra["warnings"])'
  check "the exit code is 1" equal "$(cat killed.code.0)" 1

  launch frozen
  local frozen
  frozen=$(pid_of frozen 3)
  kill -STOP "$frozen"
  wait "$mpirun_pid" 2>/dev/null
  local exit_code=$? # of the first rank that left; mpirun kills what started the others before they can tell theirs
  check "a rank of job b is frozen: job a ends complete" launch_json frozen 'a["status"] == "complete"'
  check "job b fails by its stall timeout" launch_json frozen 'b["status"] == "failed" and "no byte moved" in rb["error"]'
  check "the exit code is 1" equal "$exit_code" 1
  kill -9 "$frozen" 2>/dev/null
}

a_stop_ends_all() {
  : >stderr
  set -m
  "${mpi[@]}" -n 4 "$gradburst" --jobs long.json --out "$work/stopped" >stopped.stdout 2>stderr </dev/null &
  mpirun_pid=$!
  set +m
  comes_true grep -q '^b | iteration' stderr
  took=$(python3 "$here/stop_run.py" "$work/stopped" mpirun INT)
  echo "figure: stopped: the ranks were gone after $took ms"
  check "Ctrl-C ends the ranks of all jobs within 1 s" test "$took" -le $((1000 * slow))
  wait "$mpirun_pid" 2>/dev/null
  check "both jobs are interrupted, with what they had" launch_json stopped \
    'all(x["status"] == "interrupted" and "signal" in x["error"] and x["bytes"]["sent"] > 0 for x in (ra, rb))'
}

launches_that_meet() {
  fails 2 "in the past" "a start in the past" "${mpi[@]}" -n 2 "$gradburst" small.json --start-at 2020-01-01T00:00:00Z
  fails 2 "expected a time such as" "a start that is no time" "${mpi[@]}" -n 2 "$gradburst" small.json --start-at noon
  local at name
  at=$(($(date +%s) + 6 * slow))
  for name in first second; do
    timeout -k 5 60 "${mpi[@]}" -n 2 "$gradburst" small.json --start-at $at --out "$work/$name" >$name.txt 2>&1 &
  done
  wait
  for name in first second; do
    check "the $name launch began at that time" json $name/run.json \
      "r['status'] == 'complete' and r['start_at']['began'][:20] == '$(date -u -d @$at +%Y-%m-%dT%H:%M:%S).'"
    check "the $name launch says what the clock is worth" grep -q '^wall clock       rank 0' $name.txt
  done
}

jobs_beside_each_other
verdicts_and_reports
mistakes
one_job_fails
a_stop_ends_all
launches_that_meet
all_hold
