#!/usr/bin/env bash
# Whole runs of gradburst on this machine: end_to_end_test.sh GRADBURST GRADBURST_COLLECT. Exit code 77 = skipped.
set -uo pipefail

gradburst=$(readlink -f "${1:?path of gradburst}")
collect=$(readlink -f "${2:?path of gradburst-collect}")
stop_run=$(dirname "$(readlink -f "$0")")/stop_run.py
for program in mpirun python3; do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
# A network of our own, if we may: no other traffic on lo, and no port but ours.
isolated=${GRADBURST_TEST_ISOLATED:-no}
own_network='ip link set lo up && mount -t sysfs sysfs /sys' # /sys shows the network of whoever mounted it
if [[ $isolated == no ]] && unshare -nm bash -c "$own_network" 2>/dev/null; then
  exec unshare -nm bash -c "$own_network"' && GRADBURST_TEST_ISOLATED=yes exec "$@"' - "$0" "$@"
fi
work=$(mktemp -d)
cd "$work" || exit 1
failures=0
unset SLURM_NTASKS SLURM_PROCID PMI_SIZE PMI_RANK
# Open MPI leaks at exit, which is not ours to mend; everything else that the sanitizers find is.
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}
mpi=(mpirun --oversubscribe)
((EUID == 0)) && mpi+=(--allow-run-as-root)
slow=1
[[ -z ${GRADBURST_SANITIZE:-} ]] || slow=2

clean_up() {
  local pid
  for pid in $(ours); do kill -9 "$pid" 2>/dev/null; done
  cd / && rm -rf "$work"
}
trap clean_up EXIT

check() { # RULE COMMAND...: the rule holds when the command succeeds
  local rule=$1
  shift
  if "$@"; then
    echo "ok: $rule"
  else
    echo "FAILED: $rule" >&2
    sed 's/^/  stderr: /' "$work/stderr" >&2
    failures=$((failures + 1))
  fi
}

# Runs a command, keeps what it prints in files, and succeeds if its exit code is the expected one.
exits_with() { # CODE COMMAND...
  local expected=$1 code=0
  shift
  timeout -k 5 60 "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || code=$?
  ((code == expected)) || { echo "exit code $code instead of $expected: $*" >&2; return 1; }
}

run() { exits_with 0 "${mpi[@]}" -n "$1" "$gradburst" "${@:2}"; }
prints() { grep -qF -- "$1" "$work/stdout" || { echo "standard output lacks '$1'" >&2; return 1; }; }
# The one message of a failure: on standard error, once, and no stack dump of Open MPI with it.
says() {
  local count
  count=$(grep -c '^gradburst: ' "$work/stderr")
  ((count == 1)) && grep '^gradburst: ' "$work/stderr" | grep -qF -- "$1" &&
    ! grep -qE 'Signal: |MPI_ABORT|\*\*\*|AddressSanitizer|runtime error' "$work/stderr" ||
    { echo "$count messages; expected one with '$1'" >&2; return 1; }
}
fails() { # CODE MESSAGE RULE COMMAND...
  local code=$1 message=$2 rule=$3
  shift 3
  check "$rule" exits_with "$code" "$@"
  check "$rule: the message" says "$message"
}
empty() { [[ ! -s $1 ]]; }
absent() { [[ ! -e $1 ]]; }
json() { # FILE EXPRESSION: a Python expression over the run `r` holds
  python3 - "$@" <<'PYTHON'
import json, sys
def refuse(constant): raise ValueError(constant + " is not JSON")
r = json.load(open(sys.argv[1]), parse_constant=refuse)
if not eval(sys.argv[2]):
    sys.exit(f"does not hold: {sys.argv[2]}; status {r.get('status')}, error {r.get('error')}, "
             f"iterations {r['iterations']}, bytes {r['bytes']}")
PYTHON
}

# Processes that carry the test's folder in their command line: ranks (and mpirun, with "all").
ours() { pgrep -f -- "$work/" || true; }
ranks() { # RUN
  local pid
  for pid in $(pgrep -f -- "--out $work/$1( |\$)"); do
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == gradburst ]] && echo "$pid"
  done
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

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

no_odd_numbers() { ! grep -qiE '(^|[^a-z])(nan|inf|infinity)([^a-z]|$)' "$1"/*.json "$1"/*.csv "$1"/*.prom "$1"/nic/*; }
lines() { (($(wc -l <"$1") == $2)) || { echo "$1 has $(wc -l <"$1") lines, not $2" >&2; return 1; }; }
report_of() { exits_with 0 "$collect" report "$1"; }

complete_runs() {
  check "a smoke run succeeds" run 4 smoke --iterations 50 --out "$work/smoke"
  check "it prints its result" prints "50 finished, 49 measured"
  check "run.json is complete" json smoke/run.json 'r["status"] == "complete" and r["error"] is None'
  check "all keys are there, with their types" python3 keys.py smoke/run.json
  # a rank sends 2 x 3/4 of 1 MiB each time
  check "planned, sent and received bytes are equal" json smoke/run.json \
    'r["bytes"]["planned"] == r["bytes"]["sent"] == r["bytes"]["received"] == 50 * 4 * 1572864'
  local surplus=0.01 # headers
  [[ $isolated == yes ]] || surplus=1000
  check "the NIC saw the payload" json smoke/run.json \
    "all(0 <= i['nic_bytes'] / i['payload_bytes'] - 1 < $surplus for i in r['interfaces'])"
  check "the timeline has a row per rank, iteration and bucket" lines smoke/timeline.csv 201
  check "no number is odd" no_odd_numbers smoke
  check "nothing half-written is left" bash -c '! ls smoke/*.new 2>/dev/null'
  check "gradburst-collect reads the trace" report_of smoke/nic/*.lo.csv

  fails 2 "holds a run already" "a second run does not replace the first" \
    "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 3 --out "$work/smoke"
  check "the first one is untouched" json smoke/run.json 'r["iterations"]["count"] == 50'
  check "--overwrite replaces it" run 2 smoke --iterations 3 --out "$work/smoke" --overwrite
  check "--overwrite leaves the new run alone" json smoke/run.json 'r["iterations"]["count"] == 3'

  check "sums are verified" run 4 resnet50-ddp --scale-bytes 0.01 --scale-time 0.05 --iterations 4 --verify \
    --out "$work/ddp"
  check "the scaled ResNet-50 moved its bytes" json ddp/run.json \
    'r["bytes"]["planned"] == r["bytes"]["sent"] == r["bytes"]["received"] > 0'
  # 3 buckets in the first iteration, 7 in the three others
  check "every bucket of it is on the timeline" lines ddp/timeline.csv $((1 + 4 * (3 + 3 * 7)))

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

mistakes() {
  cat >key.json <<'JSON'
{"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 1000}]}, "run": {"iteratoins": 3}}
JSON
  fails 2 'did you mean "smoke"?' "an unknown profile is refused" "${mpi[@]}" -n 2 "$gradburst" smok
  fails 2 "/run/iteratoins" "a wrong key is refused" "${mpi[@]}" -n 2 "$gradburst" key.json
  fails 2 "no/such.json" "a missing file is refused" "${mpi[@]}" -n 2 "$gradburst" no/such.json
  fails 2 "no interface eth99" "an unknown interface is refused" "${mpi[@]}" -n 2 "$gradburst" smoke --iface eth99
  fails 2 "must be at least 1" "no iterations are refused" "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 0
  fails 2 "must not end before it starts" "a wrong port range is refused" \
    "${mpi[@]}" -n 2 "$gradburst" smoke --ports 5-4
  fails 2 "2 are not enough for the 3 ranks" "too few ports are refused" \
    "${mpi[@]}" -n 3 "$gradburst" smoke --ports 21000-21001
  fails 2 "of memory at least" "a run that cannot fit into memory is refused" \
    "${mpi[@]}" -n 2 "$gradburst" smoke --verify --scale-bytes 1000000
  fails 2 "--nonsense" "an unknown option is refused" "${mpi[@]}" -n 2 "$gradburst" smoke --nonsense
  fails 2 "SLURM_NTASKS says 4" "a lone rank of four is refused" env SLURM_NTASKS=4 "$gradburst" smoke
  fails 1 "start all ranks with the same options" "ranks with other options are refused" \
    "${mpi[@]}" -n 1 "$gradburst" smoke --seed 1 : -n 1 "$gradburst" smoke --seed 2
  check "no mistake leaves a run behind" bash -c '! ls -d gradburst-* 2>/dev/null'
  check "rank 0 decides about a dry run" exits_with 0 \
    "${mpi[@]}" -n 1 "$gradburst" smoke --dry-run : -n 1 "$gradburst" smoke
}

# A port that somebody else holds: found only after the run directory was made.
occupied_port() {
  local holder port
  coproc HOLDER { exec python3 -c '
import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); sys.stdin.read()'; }
  holder=$HOLDER_PID
  read -r port <&"${HOLDER[0]}"
  fails 1 "port" "an occupied port is told" \
    "${mpi[@]}" -n 1 "$gradburst" smoke --json --ports "$port" --out "$work/occupied"
  check "run.json tells it too" json occupied/run.json 'r["status"] == "failed" and "in use" in r["error"]'
  check "--json prints that" cmp -s stdout occupied/run.json
  kill "$holder"
  wait "$holder" 2>/dev/null
}

# Whoever connects to the ports of a run: noise, a browser, somebody who says nothing, somebody who leaves.
strangers() {
  cat >strangers.py <<'PYTHON'
import os, socket, time
held, number, end = [], 0, time.time() + 30
while time.time() < end and not os.path.exists("strangers.stop"):
    for port in range(21100, 21104):
        stranger = socket.socket()
        try:
            stranger.connect(("127.0.0.1", port))
            number += 1
            stranger.send((os.urandom(64), b"GET / HTTP/1.1\r\n\r\n", b"", b"\0" * 7)[number % 4])
        except OSError:
            pass
        held = held[-100:] + [stranger] if number % 2 else held
PYTHON
  python3 strangers.py &
  check "strangers do not disturb a run" run 4 smoke --iterations 5 --ports 21100-21103 --out "$work/visited"
  touch strangers.stop
  wait $!
}

full_disk() {
  ((EUID == 0)) && unshare -m true 2>/dev/null || { echo "skipped: a full disk needs root"; return; }
  # Whoever shares the disk fills it while the run of 3 s is on.
  check "a disk that fills up ends the run with an error" exits_with 1 unshare -m bash -c '
    mkdir disk && mount -t tmpfs -o size=4m tmpfs disk || exit 99
    { sleep 1.5; head -c 4M /dev/zero >disk/other 2>/dev/null; } &
    "$@"; code=$?; rm -f disk/other; cp -r disk disk-copy; exit $code' - \
    "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 150 --interval 100us --out "$work/disk/run"
  check "it says so" grep -q "No space left on device" stderr
  check "run.json is valid" json disk-copy/run/run.json 'r["status"] == "failed" and r["error"]'
  check "the kept part of the trace is readable" report_of disk-copy/run/nic/*.lo.csv
  # Its trace of 3 s at 100 us takes 12 bytes per line at least: more than 256 KiB.
  fails 2 "traces and timeline need 372 kB at least" "a run that cannot fit onto the disk is refused" unshare -m bash -c '
    mount -t tmpfs -o size=256k tmpfs disk || exit 99
    "$@"' - "${mpi[@]}" -n 2 "$gradburst" smoke --iterations 150 --interval 100us --out "$work/disk/run"
}

# Starts a long run in the background, as a shell does for a terminal: in a process group of its own. Sets mpirun_pid.
launch() { # NAME GRADBURST_ARGUMENT...
  : >stderr
  set -m
  "${mpi[@]}" -n 4 "$gradburst" "${@:2}" --out "$work/$1" >"$work/$1.stdout" 2>"$work/stderr" </dev/null &
  mpirun_pid=$!
  set +m
}
comes_true() { # COMMAND...
  local deadline=$(($(milliseconds) + 30000))
  until "$@" 2>/dev/null; do
    (($(milliseconds) < deadline)) || { echo "does not come true: $*" >&2; return 1; }
    sleep 0.02
  done
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
  took=$(python3 "$stop_run" "$work/$1" "${@:2}") && echo "figure: $1: the ranks were gone after $took ms" &&
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
  stopped term long.json "SIGTERM to mpirun" mpirun TERM
  stopped ctrl-c long.json "Ctrl-C" group INT
  stopped twice long.json "Ctrl-C, pressed twice," group INT again 0.1
  stopped gap few.json "Ctrl-C in a compute gap" group INT
  stopped bucket huge.json "Ctrl-C amid a bucket" group INT
  for delay in 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.5 0.6; do
    launch "start-$delay" long.json
    check "Ctrl-C $delay s after the start ends all ranks within 1 s" gone_in_time "start-$delay" group INT after $delay
    check "start-$delay: not a success" waits_for_failure
    check "start-$delay: nothing is left, or run.json says interrupted" nothing_or_interrupted "start-$delay"
  done
  # Some 300,000 samples: their metrics take longer than a stop leaves.
  launch results smoke --iterations 900 --interval 20us
  comes_true bash -c 'grep -q "\"complete\": true" results/nic/*.json'
  # On a loaded machine there are fewer samples, and the run may be over before the signal: 3.
  gone_in_time_or_over() { gone_in_time "$@" || (($? == 3)); }
  check "Ctrl-C while the metrics are computed ends all ranks within 1 s" gone_in_time_or_over results group INT
  wait "$mpirun_pid" 2>/dev/null
  check "results: run.json tells what it has" json results/run.json \
    'r["iterations"]["count"] == 900 and (r["status"] == "complete" and r["interfaces"] or
     r["status"] == "interrupted" and any("NO METRICS" in each for each in r["warnings"]))'
  check "results: the timeline is whole" lines results/timeline.csv 3601
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

nothing_is_left() {
  [[ -z $(ours) ]] || { echo "left: $(ours)" >&2; return 1; }
  [[ $isolated == no ]] || ! grep ' 0A ' /proc/net/tcp >&2 # 0A: listening
}

: >stderr
write_key_check
complete_runs
mistakes
occupied_port
strangers
full_disk
stopped_runs
killed_ranks
check "no process and no port is left" nothing_is_left
((failures == 0)) || { echo "$failures failed" >&2; exit 1; }
