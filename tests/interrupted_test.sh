#!/usr/bin/env bash
# Runs that are stopped, and runs whose ranks are killed: interrupted_test.sh GRADBURST GRADBURST_COLLECT. Exit code 77 = skipped.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/whole_runs.sh"


# Starts a long run in the background, as a shell does for a terminal: in a process group of its own. Sets mpirun_pid.
launch() { # NAME GRADBURST_ARGUMENT...
  : >stderr
  set -m
  "${mpi[@]}" -n 4 "$gradburst" "${@:2}" --out "$work/$1" >"$work/$1.stdout" 2>"$work/stderr" </dev/null &
  mpirun_pid=$!
  set +m
}
start_long_run() { # NAME [PROFILE]
  launch "$1" "${2:-long.json}"
  comes_true grep -q '^iteration' stderr
  sleep 0.4 # some iterations; with few.json and huge.json the middle of a gap and of a bucket
}
gone_within() { # MILLISECONDS RUN
  local start
  start=$(milliseconds)
  while [[ -n $(ranks "$2") ]]; do
    (($(milliseconds) - start < $1)) || { echo "still there: $(ranks "$2")" >&2; return 1; }
    sleep 0.02
  done
}
waits_for_failure() {
  local code=0 attempt
  # Stopped while it starts ranks, mpirun itself sometimes hangs in its clean-up.
  for ((attempt = 0; attempt < 500; attempt++)); do kill -0 "$mpirun_pid" 2>/dev/null || break; sleep 0.02; done
  kill -9 "$mpirun_pid" 2>/dev/null
  wait "$mpirun_pid" 2>/dev/null || code=$?
  ((code != 0))
}

# The promise is 1 s. Ranks of an idle machine take a tenth of it; sanitized ones are several times slower.
gone_in_time() { # RUN HOW...
  local took
  took=$(python3 "$here/stop_run.py" "$work/$1" "${@:2}") && echo "figure: $1: the ranks were gone after $took ms" &&
    ((took <= 1000 * slow))
}
# What a stopped run leaves: its label, the timelines of all ranks, the trace; no iteration that some rank did not finish.
kept() { # RUN
  check "$1: run.json says interrupted, by what" json "$1/run.json" \
    'r["status"] == "interrupted" and r["error"].startswith("stopped by ") and "signal" in r["error"]'
  check "$1: the timelines of all ranks are kept" python3 - "$1" <<'PYTHON'
import collections, csv, json, sys
run = json.load(open(f"{sys.argv[1]}/run.json"))
rows = list(csv.DictReader(open(f"{sys.argv[1]}/timeline.csv")))
finished = collections.Counter(row["rank"] for row in rows) # one bucket per iteration
assert sorted(finished) == ["0", "1", "2", "3"], finished
# The last bucket's iteration may not have ended with it.
assert min(finished.values()) - 1 <= run["iterations"]["count"] <= min(finished.values()), (finished, run["iterations"])
# A ring: one connection. The bucket that was under way is there too.
asked = collections.Counter(row["rank"] for row in csv.DictReader(open(f"{sys.argv[1]}/tcp.csv")))
assert all(finished[rank] <= asked[rank] <= finished[rank] + 1 for rank in finished), (finished, asked)
assert run["bytes"]["sent"] > 0 and not any("ANSWERED" in warning for warning in run["warnings"]), run["warnings"]
PYTHON
  check "$1: the trace is kept, and finished" json "$(echo "$1"/nic/*.lo.json)" 'r["complete"]'
  check "$1: gradburst-collect reads it" report_of "$1"/nic/*.lo.csv
  check "$1: no number is odd" no_odd_numbers "$1"
}
stopped() { # RUN PROFILE RULE HOW...
  start_long_run "$1" "$2"
  check "$3 ends all ranks within 1 s" gone_in_time "$1" "${@:4}"
  check "$1: not a success" waits_for_failure
  kept "$1"
}
nothing_or_interrupted() { # RUN
  [[ ! -e $1/run.json ]] || json "$1/run.json" 'r["status"] == "interrupted" and "signal" in r["error"]'
}

stopped_runs() {
  local delay
  cat >long.json <<'JSON'
{"compute": {"time": "20ms"}, "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "64KiB", "ready_after": "12ms"}]},
 "run": {"iterations": 100000, "warmup": 1}}
JSON
  sed 's/"20ms"/"1.2s"/' long.json >few.json
  sed 's/"64KiB"/"3GB"/' long.json >huge.json
  stopped int long.json "SIGINT to mpirun" mpirun INT
  stopped twice long.json "Ctrl-C, pressed twice," group INT again 0.1
  stopped bucket huge.json "Ctrl-C amid a bucket" group INT
  local delays=(0.1 0.3 0.6) iterations=300
  if [[ -z ${GRADBURST_SANITIZE:-} ]]; then # the same code; when it runs is what differs, and that is not for slow programs
    stopped term long.json "SIGTERM to mpirun" mpirun TERM
    stopped ctrl-c long.json "Ctrl-C" group INT
    stopped gap few.json "Ctrl-C in a compute gap" group INT
    delays=(0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.5 0.6)
    iterations=900
  fi
  for delay in "${delays[@]}"; do
    launch "start-$delay" long.json
    check "Ctrl-C $delay s after the start ends all ranks within 1 s" gone_in_time "start-$delay" group INT after $delay
    check "start-$delay: not a success" waits_for_failure
    check "start-$delay: nothing is left, or run.json says interrupted" nothing_or_interrupted "start-$delay"
  done
  # Some 300,000 samples, 100,000 for slow programs: their metrics take longer than a stop leaves.
  launch results smoke --iterations "$iterations" --interval 20us
  comes_true bash -c 'grep -q "\"complete\": true" results/nic/*.json'
  # On a loaded machine there are fewer samples, and the run may be over before the signal: 3.
  gone_in_time_or_over() { gone_in_time "$@" || (($? == 3)); }
  check "Ctrl-C while the metrics are computed ends all ranks within 1 s" gone_in_time_or_over results group INT
  wait "$mpirun_pid" 2>/dev/null
  check "results: run.json tells what it has" json results/run.json \
    'r["iterations"]["count"] == '"$iterations"' and (r["status"] == "complete" and r["interfaces"] or
     r["status"] == "interrupted" and any("NO METRICS" in each for each in r["warnings"]))'
  check "results: the timeline is whole" lines results/timeline.csv $((4 * iterations + 1))
}

killed_ranks() {
  local pids
  start_long_run killed
  pids=($(ranks killed))
  kill -9 "${pids[2]}"
  check "when one rank is killed, the others end" gone_within $((4000 * slow)) killed
  check "when one rank is killed: not a success" waits_for_failure
  check "when one rank is killed, run.json names it" json killed/run.json \
    'r["status"] == "failed" and "no answer from rank" in r["error"]'

  start_long_run orphans
  kill -9 "$mpirun_pid"
  check "without mpirun the ranks end" gone_within $((5000 * slow)) orphans
  waits_for_failure
  check "without mpirun run.json is valid" json orphans/run.json 'r["status"] != "complete" and r["error"]'

  start_long_run massacre
  kill -9 "$mpirun_pid" $(ranks massacre)
  waits_for_failure
  check "when all are killed, run.json says that the run did not end" json massacre/run.json \
    'r["status"] == "failed" and "did not end" in r["error"]'
  check "when all are killed, the trace is readable" report_of massacre/nic/*.lo.csv
}

stopped_runs
killed_ranks
all_hold
