#!/bin/bash
# Usage: forked_test.sh LIBKILTER_OPENMP PROGRAM
#
# After a fork regions go on in the child, also where its parent had left them to libgomp, whose
# threads are gone.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
needs_two_cpus
for beside in 0 1; do
  expect "beside $beside" "parent right, child right" \
    "$(timeout -s KILL 60 env KILTER_BESIDE=$beside LD_PRELOAD="$library" \
      KILTER_OPENMP=1 "$2" 2>&1)"
done
exit $failed
