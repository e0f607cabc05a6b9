#!/bin/bash
# Usage: openblas_test.sh LIBKILTER_OPENMP PROGRAM MODULE
#
# An OpenBLAS that a program loads gets fewer threads while others use all CPUs, if that is wanted.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
program=$2 module=$3
needs_two_cpus
run() { env LD_PRELOAD="$library" "$@"; }
expect "not wanted" "as before" "$(run "$program" "$module")"
: > "$scratch/told"
expect "beside others" "one" \
  "$(run KILTER_OPENMP=1 KILTER_OPENBLAS=1 KILTER_EXPLAIN="$scratch/told" "$program" \
    "$module" beside)"
expect "told" "1 1" "$(python3 - "$scratch/told" <<'P'
import json, sys
told = json.loads(open(sys.argv[1]).readline())["openblas"]
print(told["libraries"], told["fewest"])
P
)"
exit $failed
