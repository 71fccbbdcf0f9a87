# Sourced by the tests that are called with TESTBED GRADBURST and keep one testbed of four hosts, called $name, for all their runs. Moves the
# test into a folder of its own. Exit code 77 = skipped, with a reason.
PATH=$PATH:/usr/sbin:/sbin
testbed=$(readlink -f "${1:?path of testbed}")
gradburst=$(readlink -f "${2:?path of gradburst}")
name=gbs$$x
unset GRADBURST_TESTBED_NAME
for program in mpirun python3 ip tc ss; do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
work=$(mktemp -d)
chmod 755 "$work"
cd "$work" || exit 1
trap '"$testbed" down --name "$name" >/dev/null 2>&1; rm -rf "$work"' EXIT
"$testbed" up --name "$name" --hosts 4 --rate 1gbit >"$work/probe" 2>&1 ||
  { echo "skipped: no testbed that stays up: $(tail -1 "$work/probe")"; exit 77; }

source "$here/checks.sh"
printed=$work/output
