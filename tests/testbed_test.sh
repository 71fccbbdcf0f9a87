#!/usr/bin/env bash
# Tests of tools/testbed with real namespaces: testbed_test.sh [TESTBED]. Exit code 77 = skipped, with a reason.
set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin

testbed=$(readlink -f "${1:-$(dirname "$0")/../tools/testbed}")
here=$(dirname "$(readlink -f "$0")")
name=gbt$$x # never an existing testbed
bystander=other-$name
unset GRADBURST_TESTBED_NAME
work=$(mktemp -d)
chmod 755 "$work"
source "$here/checks.sh"
printed=$work/output


# Runs a command, keeps what it prints in $output, and succeeds if its exit code is the expected one.
exits_with() { # CODE COMMAND...
  local expected=$1 code=0
  shift
  "$@" >"$work/output" 2>&1 </dev/null || code=$?
  output=$(<"$work/output")
  ((code == expected)) || { echo "exit code $code instead of $expected: $*" >&2; return 1; }
}

prints() { [[ $output == *"$1"* ]]; }
namespaces() { ip netns list | awk '{ print $1 }' | sort; }
ours() { namespaces | grep -c "^$name" || true; }
tb() { local command=$1; shift; "$testbed" "$command" --name "$name" "$@"; }
nothing_of_ours_is_left() { equal "$(ours)" 0 && [[ -e /run/netns/$bystander ]]; }

clean_up() {
  if ((is_root)); then
    tb down >/dev/null 2>&1
    ip netns del "${name}0" 2>/dev/null
    ip netns del "$bystander"
  fi
  rm -rf "$work"
}

options_are_checked() {
  check "a burst below one super-packet is refused" exits_with 2 tb up --burst 32k
  check "the refusal names the way out" prints "--gso"
  check "a queue without room for a super-packet is refused" exits_with 2 tb up --queue 32k
  check "a rate without sense is refused" exits_with 2 tb up --rate fast
  check "a rate that forgot its unit is refused" exits_with 2 tb up --rate 1000
  check "65 hosts are refused" exits_with 2 tb up --hosts 65
  check "a program that does not exist is refused before anything is built" exits_with 2 tb run -- no-such-program
  check "an unknown option is refused" exits_with 2 tb up --speed 1gbit
  check "a name that could be taken for another testbed's host is refused" exits_with 2 "$testbed" up --name gb1
}

up_status_exec() {
  check "up succeeds" exits_with 0 tb up --hosts 4 --rate 500mbit
  check "up makes four hosts and a switch" equal "$(ours)" 5
  check "up twice succeeds" exits_with 0 tb up --hosts 4 --rate 500mbit
  check "up twice says that it is up" prints "is up already"
  check "up with other settings is refused" exits_with 2 tb up --hosts 4 --rate 1gbit
  check "the refusal says what to do" prints "down --name $name"
  check "a user's PATH, without /usr/sbin, is enough" exits_with 0 \
    env PATH=/usr/local/bin:/usr/bin:/bin "$testbed" status --name "$name"
  check "status succeeds" exits_with 0 tb status
  check "status shows the shaper that the kernel has" grep -qE "^${name}3 +10\.77\.0\.4 +eth0 +500Mbit +68Kb .* p3 " "$work/output"
  check "exec runs under the host's name" exits_with 0 tb exec "${name}2" hostname
  check "the host's name is printed" equal "$output" "${name}2"
  check "exec keeps words apart and passes the exit code on" exits_with 7 tb exec 1 sh -c 'echo "a  b"; exit 7'
  check "words arrive as they were" equal "$output" "a  b"
  check "hosts know each other by name" exits_with 0 tb exec 0 getent hosts "${name}3"
  check "a name leads to the measured network" prints "10.77.0.4"
}

ranks_stay_off_the_measured_links() {
  local received
  # shellcheck disable=SC2016  # the ranks expand
  check "ranks run on the hosts in turn" exits_with 0 \
    tb run --ranks 5 -- sh -c 'echo "rank $OMPI_COMM_WORLD_RANK of $(hostname) at $GRADBURST_TESTBED_RATE in $PWD"'
  check "rank i runs on host i mod N, in the caller's folder" equal "$(sort <<<"$output")" "$(
    for rank in 0 1 2 3 4; do echo "rank $rank of $name$((rank % 4)) at 500000000 in $PWD"; done)"
  check "run leaves a testbed up that it found up" equal "$(ours)" 5
  received=$(tb exec 1 cat /sys/class/net/eth0/statistics/{r,t}x_bytes | paste -sd+)
  check "the launch leaves the measured link at rest ($received bytes)" test $((received)) -le 512
  received=$(tb exec 1 cat /sys/class/net/ctl0/statistics/rx_bytes)
  check "the launch uses the other network ($received bytes)" test "$received" -gt 1000
  check "run refuses settings that the testbed does not have" exits_with 2 tb run --rate 1gbit -- true
}

down_cleans_up() {
  "$testbed" exec --name "$name" 1 sleep 300 &
  local sleeper=$!
  sleep 300 &
  local other=$!
  until [[ -n $(ip netns pids "${name}1") ]]; do sleep 0.05; done
  check "down succeeds" exits_with 0 tb down
  check "down ends the processes on its hosts" eval "! kill -0 $sleeper 2>/dev/null"
  check "down ends no other process" kill -0 "$other"
  kill "$other"
  wait "$sleeper" "$other" 2>/dev/null
  check "down removes our namespaces and no other" nothing_of_ours_is_left
  check "down removes its record" test ! -e "/run/gradburst-testbed/$name"
  check "down twice succeeds" exits_with 0 tb down
  check "down twice says so" prints "nothing to take down"
}

killed_up_is_cleaned_up() {
  "$testbed" up --name "$name" --hosts 16 >/dev/null 2>&1 &
  local builder=$!
  until [[ -e /run/netns/${name}3 ]]; do kill -0 $builder || break; done
  kill -KILL $builder
  wait $builder 2>/dev/null
  check "the killed up was in the middle" test -e "/run/netns/${name}3" -a ! -e "/run/gradburst-testbed/$name/ready"
  check "status calls it incomplete" exits_with 1 tb status
  check "down after a killed up succeeds" exits_with 0 tb down
  check "down after a killed up removes our namespaces and no other" nothing_of_ours_is_left
}

foreign_namespaces_are_left_alone() {
  ip netns add "${name}0"
  check "up refuses a namespace that it did not make" exits_with 2 tb up --hosts 2
  check "the refusal names the namespace" prints "${name}0"
  check "down with a foreign namespace succeeds" exits_with 0 tb down
  check "the foreign namespace is still there" test -e "/run/netns/${name}0"
  ip netns del "${name}0"
  tb up --hosts 2 >/dev/null 2>&1
  ip netns del "${name}0"
  ip netns add "${name}0"
  check "down succeeds when a host was replaced" exits_with 0 tb down
  check "the replacement is left alone, the rest is gone" equal "$(namespaces | grep "^$name")" "${name}0"
  ip netns del "${name}0"
}

run_passes_exit_codes() {
  local code
  for code in 0 3 2; do
    check "run passes exit code $code on" exits_with $code tb run --hosts 1 -- sh -c "exit $code"
  done
  check "run takes down what it built" nothing_of_ours_is_left
  "$testbed" run --name "$name" --hosts 2 -- sleep 300 >/dev/null 2>&1 &
  local run=$!
  until [[ -n $(ip netns pids "${name}1" 2>/dev/null) ]]; do sleep 0.1; done
  kill -TERM $run
  wait $run
  check "an ended run says so" equal $? 143
  check "an ended run takes down what it built" nothing_of_ours_is_left
}

shared_testbeds_stay_up() {
  local go=$work/go
  "$testbed" shell --name "$name" --hosts 1 -- sh -c "until [ -e $go ]; do sleep 0.05; done" >"$work/output" 2>&1 &
  local builder=$!
  until [[ -e /run/gradburst-testbed/$name/users ]]; do sleep 0.05; done
  check "a second command joins the testbed" exits_with 0 tb shell -- sh -c "touch $go; while kill -0 $builder; do sleep 0.05; done"
  wait $builder
  check "the builder does not take it down under the other" equal "$(ours)" 2
  tb down >/dev/null 2>&1
}

links_reach_their_rate() {
  command -v iperf3 >/dev/null || { echo "skipped: rate check needs iperf3"; return; }
  local attempt rate=0
  tb up --hosts 2 --rate 1gbit >/dev/null 2>&1
  for attempt in 1 2 3; do # busy machines may miss it; no machine may exceed it
    tb exec 1 timeout 20 iperf3 -s -1 -D
    sleep 0.3
    rate=$(tb exec 0 timeout 10 iperf3 -c "${name}1" -t 2 -f m | awk '/receiver/ { for (i = 2; i <= NF; i++) if ($i == "Mbits/sec") printf "%d", $(i - 1) }')
    ((${rate:-0} < 850)) || break
  done
  check "a flow fills 85 to 100 % of 1 Gbit/s (${rate:-none} Mbit/s, attempt $attempt)" test "${rate:-0}" -ge 850 -a "${rate:-0}" -le 1000
  tb down >/dev/null 2>&1
}

rootless_runs() { # COMMAND that starts the testbed without root...
  local rule before
  before=$(namespaces | grep '^gb[0-9-]')
  check "a rootless run works" exits_with 0 "$@" run --rootless --hosts 4 -- hostname
  for rule in gb0 gb1 gb2 gb3; do check "rootless rank on $rule" prints "$rule"; done
  check "a rootless run passes exit codes on" exits_with 3 "$@" run --rootless --hosts 1 -- sh -c "exit 3"
  check "a rootless shell passes exit codes on" exits_with 9 "$@" shell --rootless --hosts 2 --rate 500mbit -- \
    sh -c 'testbed status && testbed exec 1 sh -c "exit 9"'
  check "a rootless testbed is shaped" grep -qE '^gb1 .* 500Mbit ' "$work/output"
  check "a rootless testbed leaves no namespace behind" equal "$(namespaces | grep '^gb[0-9-]')" "$before"
  check "up --rootless is refused" exits_with 2 "$@" up --rootless
  check "the refusal offers another way" prints "testbed shell"
}

for program in ip tc bridge mpirun unshare; do
  command -v $program >/dev/null || { echo "skipped: needs $program"; exit 77; }
done
is_root=0
if ip netns add "${name}0" 2>/dev/null; then ip netns del "${name}0"; is_root=1; fi
can_unshare=0
if unshare --user --map-root-user --net --mount true 2>/dev/null; then can_unshare=1; fi
((is_root || can_unshare)) || { echo "skipped: needs root or user namespaces"; exit 77; }
trap clean_up EXIT
((is_root == 0)) || ip netns add "$bystander"

options_are_checked
if ((is_root)); then
  up_status_exec
  ranks_stay_off_the_measured_links
  down_cleans_up
  killed_up_is_cleaned_up
  foreign_namespaces_are_left_alone
  run_passes_exit_codes
  shared_testbeds_stay_up
  links_reach_their_rate
else
  echo "skipped: the part that needs root"
fi
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if ((is_root)) && "${nobody[@]}" unshare --user --map-root-user --net --mount "$testbed" --help >/dev/null 2>&1; then
  rootless_runs "${nobody[@]}" "$testbed" # a real ordinary user
elif ((can_unshare)); then
  rootless_runs "$testbed"
else
  echo "skipped: the part that needs user namespaces"
fi

((failures == 0)) || { echo "$failures checks failed" >&2; exit 1; }
