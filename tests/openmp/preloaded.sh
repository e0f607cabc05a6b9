# shellcheck shell=bash disable=SC2034  # $failed is for who sources it
# Sourced by the tests here: has_library LIBKILTER_OPENMP makes $scratch, which goes at the end, and
# $library in it, since LD_PRELOAD takes no path with a blank. expect WHAT EXPECTED GOT sets
# $failed. comes_to WHAT EXPECTED COMMAND... is that of three tries, where a region's ways are
# measured: what else runs here may make another one the faster.
failed=0
export KILTER_BESIDE=0   # whatever else runs here; 1: as beside others
has_library() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  library=$scratch/libkilter_openmp.so
  ln -s "$1" "$library"
}
needs_two_cpus() { [ "$(nproc)" -ge 2 ] || { echo "needs two CPUs"; exit 77; }; }
expect() {
  [ "$2" = "$3" ] || {
    printf 'FAILED: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failed=1
  }
}
comes_to() {
  local what=$1 expected=$2 got
  shift 2
  for _ in 1 2 3; do
    got=$("$@")
    [ "$got" = "$expected" ] && return
  done
  expect "$what" "$expected" "$got"
}
