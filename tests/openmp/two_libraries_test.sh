#!/bin/bash
# Usage: two_libraries_test.sh LIBKILTER_OPENMP PROGRAM MODULE: libgomp and libomp in one process, of which the second was opened for a module alone.
set -u
library=$1 program=$2 module=$3
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$library" "$scratch/libkilter_openmp.so"   # LD_PRELOAD takes no path with a blank
plain=$(timeout -s KILL 60 "$program" "$module" 2>&1)
[ "$plain" = "11988000 0" ] || { echo "FAILED: without the library: $plain"; failed=1; }
for mode in 0 1 all; do
  got=$(timeout -s KILL 60 env LD_PRELOAD="$scratch/libkilter_openmp.so" KILTER_OPENMP=$mode KILTER_EXPLAIN="$scratch/told" "$program" "$module" 2>&1)
  [ "$got" = "$plain" ] || { echo "FAILED: mode $mode: $got"; failed=1; }
done
for which in libgomp libomp; do
  [ "$(nproc)" -lt 2 ] || grep -q "\"on_pool\":10,.*\"library\":\"$which\"" "$scratch/told" || { echo "FAILED: the loop of $which is not on threads of ours"; cat "$scratch/told"; failed=1; }
done
exit $failed
