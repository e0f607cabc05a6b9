#!/bin/bash
# Usage: flags_test.sh LIBKILTER_OPENMP PROGRAM PROGRAM_WITH_FENCES
#
# Beside others one more thread, which sleeps, makes libgomp's threads sleep where they wait. Not
# where members may wait for flags of their own.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
threads() { env LD_PRELOAD="$library" KILTER_OPENMP=1 KILTER_BESIDE="$1" "$2"; }

expect "beside others" more "$(threads 1 "$2")"
expect "beside others, with flags" two "$(threads 1 "$3")"
expect "alone" two "$(threads 0 "$2")"
exit $failed
