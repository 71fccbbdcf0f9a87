# Sourced by the tests that are shell scripts: rules that are counted when they do not hold. `printed` names the file of what
# the commands printed, shown beside a rule that failed.
failures=0
check() { # RULE COMMAND...: the rule holds when the command succeeds
  local rule=$1
  shift
  if "$@"; then
    echo "ok: $rule"
  else
    echo "FAILED: $rule" >&2
    sed 's/^/  printed: /' "$printed" >&2
    failures=$((failures + 1))
  fi
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
comes_true() { # COMMAND...: within 30 s
  local deadline=$(($(milliseconds) + 30000))
  until "$@" 2>/dev/null; do
    (($(milliseconds) < deadline)) || { echo "does not come true: $*" >&2; return 1; }
    sleep 0.02
  done
}
equal() { [[ $1 == "$2" ]] || { echo "'$1' is not '$2'" >&2; return 1; }; }
