#!/usr/bin/env bash
# Somebody holds the RTNL lock for hundreds of milliseconds, again and again: counters are read on time all the same.
# rtnl_test.sh GRADBURST_COLLECT. In namespaces of its own, also without root. Exit code 77 = skipped, with a reason.
set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin

here=$(dirname "$(readlink -f "$0")")
collect=$(readlink -f "${1:?path of gradburst-collect}")
if [[ ${2:-} != inside ]]; then
  for program in ip python3 taskset; do
    command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
  done
  unshare -Urnm --kill-child true 2>/dev/null || { echo "skipped: no user namespaces"; exit 77; }
  exec unshare -Urnm --kill-child "$0" "$collect" inside
fi

# The lock is held by a kernel that does not let go of its CPU: the sampler needs another one.
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
((${#cpus[@]} >= 2)) || { echo "skipped: one CPU"; exit 77; }
mount -t tmpfs tmpfs /mnt && mount -t sysfs sysfs /sys 2>/dev/null || { echo "skipped: no mounts in here"; exit 77; }
cd /mnt || exit 1
printed=/mnt/output
: >output
source "$here/checks.sh"
ip link set lo up

# To make or remove a queue takes some 10 us, and the lock is held for all of a device, or of a group of devices, at once.
queues="numtxqueues 4096 numrxqueues 4096"
churn() {
  while :; do
    for number in 1 2 3; do
      # shellcheck disable=SC2086 # several words
      ip link add a$number $queues group 7 type veth peer name b$number $queues
      ip link set b$number group 7
    done
    ip link del group 7
  done >/dev/null 2>&1
}
record() { # NAME SOURCE OPTION...: 3000 ticks
  mkdir -p "$1"
  timeout 30 taskset -c "${cpus[0]}" "$collect" record --iface lo --source "$2" --interval 1ms --duration 3s --out "$1/t.csv" "${@:3}" >output 2>&1
}
figure() { # NAME EXPRESSION over the sidecar `s`
  python3 -c 'import json, sys
s = json.load(open(sys.argv[1] + "/t.json"))
print(eval(sys.argv[2]))' "$1" "$2"
}
longest_read_ms() { figure "$1" 's["sampler"]["read_width_ns"]["max"] // 1_000_000'; }
missed() { figure "$1" 's["missed"]'; }

record quiet sysfs
taskset -c "${cpus[1]}" bash -c "queues='$queues'; $(declare -f churn); churn" &
churning=$!
trap 'kill $churning' EXIT
comes_true eval 'ip link show a1 >output'
record control rtnetlink --no-slow-lane # which asks the part of the kernel that takes the lock
held=$(longest_read_ms control)
echo "figure: rtnetlink: a read took up to $held ms, $(missed control) of 3000 ticks missed"
((held >= 100)) || { echo "skipped: the lock could be held for $held ms only, or rtnetlink does not wait for it here"; exit 77; }
for source in sysfs procfs; do
  started=$(milliseconds)
  record "churn-$source" $source
  check "$source: the recording ends well" equal $? 0
  took=$(($(milliseconds) - started))
  echo "figure: $source: a read took up to $(longest_read_ms "churn-$source") ms, $(missed "churn-$source") of 3000 ticks missed; 3 s took $took ms"
  check "$source: no read waits for the lock" eval "(($(longest_read_ms "churn-$source") < held / 2))"
  check "$source: the slow lane, which may wait for the lock, does not hold up the end" eval '((took < 10000))'
done
# Not procfs: it reads the counters of all interfaces, and adds up those of 4096 queues for each that is made here. The bound leaves
# room for others on the sampler's CPU; who waits for the lock misses nine ticks of ten.
echo "figure: without churn, sysfs: $(missed quiet) of 3000 ticks missed"
check "sysfs: the churn costs less than half of the ticks" eval "(($(missed churn-sysfs) <= $(missed quiet) + 1500))"

exit $((failures > 0))
