#!/usr/bin/env bash
# report.html of a run, of a comparison and of bare traces in headless Chromium: report_browser_test.sh GRADBURST
# GRADBURST_COLLECT GRADBURST_REPORT [FOLDER that keeps the screenshots]. Exit code 77 = skipped.
set -uo pipefail

gradburst=$(readlink -f "${1:?path of gradburst}")
collect=$(readlink -f "${2:?path of gradburst-collect}")
report=$(readlink -f "${3:?path of gradburst-report}")
pictures=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3 # that to which the distribution's packages belong
[[ -x $python ]] || python=python3
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pictures=${pictures:-$work/pictures}
mkdir -p "$pictures" && cd "$work" || exit 1
"$python" "$here/report_browser_test.py" "$pictures" || exit # 77: nothing to look at it with
fail() { echo "FAILED: $*" >&2; cat log >&2; exit 1; }

unset SLURM_NTASKS SLURM_PROCID PMI_SIZE PMI_RANK
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}
mpi=(mpirun --oversubscribe)
((EUID == 0)) && mpi+=(--allow-run-as-root)
for run in before after; do
  timeout -k 5 60 "${mpi[@]}" -n 4 "$gradburst" smoke --line-rate 1Gbit --iterations 60 --out $run >log 2>&1 </dev/null || fail "no run"
done
"$report" before >log 2>&1 || fail "no report of a run"
"$report" --baseline before after --out compared >log 2>&1 || fail "no comparison"
# A trace of its own, one without samples, and a run that stopped before its first iteration.
"$collect" record --iface lo --out trace.csv --duration 300ms >log 2>&1 || fail "no trace"
"$report" trace.csv --out trace >log 2>&1 || fail "no report of a trace"
echo t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags >empty.csv
"$report" empty.csv --out empty >log 2>&1 || fail "no report of an empty trace"
cp -r before stopped && rm stopped/report.* && "$python" - <<'PYTHON' || fail "no stopped run"
import json
run = json.load(open("before/run.json"))
run.update(status="interrupted", error="signal 2", bandwidth=None, gating=None, tcp=None, bucket_start_lateness_seconds=None,
           iterations={"count": 0, "warmup": 1, "measured": 0, "seconds": None, "predicted_seconds": None})
json.dump(run, open("stopped/run.json", "w"))
for name in ("timeline.csv", "tcp.csv"):
    head = open("before/" + name).readline()
    open("stopped/" + name, "w").write(head)
PYTHON
"$report" stopped >log 2>&1 || fail "no report of a stopped run"
# A verdict that is none, without any warning.
mkdir unjudged && cp -r before/nic before/timeline.csv before/tcp.csv unjudged && "$python" - <<'PYTHON' || fail "no run to judge"
import json
run = json.load(open("before/run.json"))
run["warnings"] = []
for each in run["interfaces"]:
    each["warnings"] = []
    each["missed"] = each["samples"]
run["profile"]["expect"] = ["ptm(5ms) >= 60"]
json.dump(run, open("unjudged/run.json", "w"))
PYTHON
"$report" unjudged >log 2>&1
(($? == 3)) || fail "what was missed was judged"
"$python" "$here/report_browser_test.py" "$pictures" before compared trace empty stopped unjudged
