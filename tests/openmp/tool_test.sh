#!/bin/bash
# Usage: tool_test.sh LIBKILTER_OPENMP WITH_TOOL
#
# WITH_TOOL is of clang. Regions of a program that a tool watches are all libomp's, or the tool
# would miss them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
: > "$scratch/told"
out=$(LD_PRELOAD=$library KILTER_OPENMP=1 KILTER_EXPLAIN=$scratch/told OMP_NUM_THREADS=2 "$2")
[ "$out" = 24750 ] || { echo "FAILED: it gives $out"; exit 1; }
grep -q '"passed_on_for":"ompt_start_tool"' "$scratch/told" || {
  echo "FAILED: what was told"
  cat "$scratch/told"
  exit 1
}
