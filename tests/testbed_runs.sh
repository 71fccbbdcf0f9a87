# Sourced by tests that run gradburst on a testbed of their own.

prepare_testbed() { # CONGESTION_CONTROL... that the test needs; sets $name, of "$testbed", and $out, a folder that goes with it
  name=gbt$$x # ends in a letter, for host numbers follow
  out=$(mktemp -d)
  chmod 755 "$out"
  trap '"$testbed" down --name "$name" >/dev/null 2>&1; rm -rf "$out"' EXIT
  command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
  local control
  for control in "$@"; do
    grep -qw "$control" /proc/sys/net/ipv4/tcp_available_congestion_control || { echo "skipped: no $control"; exit 77; }
  done
  "$testbed" run --name "$name" --hosts 2 -- true >"$out/probe" 2>&1 ||
    { echo "skipped: no testbed here: $(tail -1 "$out/probe")"; exit 77; }
}
