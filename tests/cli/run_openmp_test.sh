#!/bin/bash
# Usage: run_openmp_test.sh KILTER OPENMP_PROGRAMS: what `kilter run` does to parallel regions, and says of them.
set -u
kilter=$1 programs=$2
failed=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/a b XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

expect() {  # WHAT EXPECTED GOT
  [ "$2" = "$3" ] || { printf 'FAILED: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"; failed=1; }
}

plain=$("$programs" stencil)
expect "the same result" "$plain" "$("$kilter" run -- "$programs" stencil)"
expect "quiet unless asked" "" "$("$kilter" run -- "$programs" stencil 2>&1 > /dev/null)"
OMP_NUM_THREADS=2 "$kilter" run --explain --json told.json -- "$programs" stencil > out 2> err
expect "the same result, explained" "$plain" "$(cat out)"
if [ "$(nproc)" -ge 2 ]; then
  grep -q "on threads of Kilter" err || { echo "FAILED: what was done is said"; cat err; failed=1; }
  python3 - <<'P' || failed=1
import json
told = json.load(open("told.json"))
assert told["schema"] == "kilter.run/1" and told["loaded"] == "libkilter_openmp.so", told
assert told["result"]["processes"][0]["regions"][0]["on_pool"] == 48, told
P
fi
"$kilter" run --explain -- true 2> err
grep -q "no parallel region of OpenMP was seen" err || { echo "FAILED: a program without regions"; cat err; failed=1; }
exit $failed
