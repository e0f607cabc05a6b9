#!/bin/bash
# Simulated against emulated, and simulated against native on this machine: docs/agreement.md. Takes about ten minutes.
# Usage: agreement.sh KILTER [emulated|native|both] [REPEATS]   JSON files go to $AGREEMENT_DIR, or to a new folder that is named.
set -eu
kilter=$1 which=${2:-both} repeats=${3:-6}
here=$(dirname "$0")
out=${AGREEMENT_DIR:-$(mktemp -d)}
mkdir -p "$out"
echo "JSON files: $out"

run() {  # NAME ON ARGUMENTS...
  "$kilter" bench layered --on "$2" --json "$out/$1.json" --policy rws,da,dam-c,dam-p --table paper --disturb cpu@0 --repeat "$repeats" --no-details --yes --quiet "${@:3}" >/dev/null
}

if [ "$which" != native ]; then
  for p in 2 4; do
    run "sim-tx2-$p" sim:jetson-tx2 --thieves first --tasks 3000 --parallelism $p
    run "emulated-tx2-$p" emulate:jetson-tx2 --tasks 3000 --parallelism $p
    echo "== jetson-tx2, emulated against simulated, parallelism $p"
    python3 "$here/agreement.py" "$out/sim-tx2-$p.json" "$out/emulated-tx2-$p.json"
  done
fi
if [ "$which" != emulated ]; then
  echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
  "$kilter" calibrate --kernels matmul --out "$out/mine.toml" --quiet
  for p in 2 4; do
    run "sim-mine-$p" "sim:$out/mine.toml" --thieves first --parallelism $p
    run "native-$p" native --parallelism $p
    echo "== this machine, native against simulated, parallelism $p"
    python3 "$here/agreement.py" "$out/sim-mine-$p.json" "$out/native-$p.json"
  done
  echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
fi
