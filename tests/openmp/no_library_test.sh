#!/bin/bash
# Usage: no_library_test.sh LIBKILTER_OPENMP PROGRAM
#
# A program without OpenMP that asks it all the same, where it finds somebody to ask, learns that it
# has one thread and no region.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
expect "without us" "nobody" "$("$2")"
one="in_parallel 0 thread 0 of 1, at most 1, level 0, active 0, size 1 -1, number 0 -1, "
one+="schedule 1 0"
expect "with us" "$one" "$(LD_PRELOAD="$library" KILTER_OPENMP=1 "$2" 2>&1)"
exit $failed
