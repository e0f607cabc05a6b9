#!/bin/bash
# Usage: two_libraries_test.sh LIBKILTER_OPENMP PROGRAM MODULE: libgomp and libomp in one process,
# of which the second was opened for a module alone.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
program=$2 module=$3
plain=$(timeout -s KILL 60 "$program" "$module" 2>&1)
expect "without the library" "11988000 0" "$plain"
: > "$scratch/told"
for mode in 0 1 all; do
  got=$(timeout -s KILL 60 env LD_PRELOAD="$library" KILTER_OPENMP=$mode \
      KILTER_EXPLAIN="$scratch/told" "$program" "$module" 2>&1)
  expect "mode $mode" "$plain" "$got"
done
for which in libgomp libomp; do
  [ "$(nproc)" -lt 2 ] || grep -q "\"on_pool\":10,.*\"library\":\"$which\"" "$scratch/told" || {
    echo "FAILED: the loop of $which is not on threads of ours"
    cat "$scratch/told"
    failed=1
  }
done
exit $failed
