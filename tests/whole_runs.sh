# Sourced by the tests of whole runs on this machine, which are called with GRADBURST GRADBURST_COLLECT. Moves the test into a
# folder of its own and, where that is allowed, a network of its own. Exit code 77 = skipped.
gradburst=$(readlink -f "${1:?path of gradburst}")
collect=$(readlink -f "${2:?path of gradburst-collect}")
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
source "$here/checks.sh"
printed=$work/stderr
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
import csv, json, sys
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

no_odd_numbers() { ! grep -qiE '(^|[^a-z])(nan|inf|infinity)([^a-z]|$)' "$1"/*.json "$1"/*.csv "$1"/*.prom "$1"/nic/*; }
lines() { (($(wc -l <"$1") == $2)) || { echo "$1 has $(wc -l <"$1") lines, not $2" >&2; return 1; }; }
report_of() { exits_with 0 "$collect" report "$1"; }

nothing_is_left() {
  [[ -z $(ours) ]] || { echo "left: $(ours)" >&2; return 1; }
  [[ $isolated == no ]] || ! grep ' 0A ' /proc/net/tcp >&2 # 0A: listening
}
# The end of a test.
all_hold() {
  check "no process and no port is left" nothing_is_left
  ((failures == 0)) || { echo "$failures failed" >&2; exit 1; }
}
: >stderr
