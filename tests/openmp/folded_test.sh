#!/bin/bash
# Usage: folded_test.sh LIBKILTER_OPENMP PROGRAMS...
#
# PROGRAMS are the same one, with other options of the compiler.
#
# Teams with more members than CPUs give on threads of Kilter what they give with libgomp or libomp,
# where threads wait passively.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
shift
needs_two_cpus

# folded PROGRAM WORD: what it prints, and its status
folded() {
  timeout -s KILL 60 env LD_PRELOAD="$library" KILTER_OPENMP=1 KILTER_EXPLAIN="$scratch/explained" \
    OMP_WAIT_POLICY=passive "$@" 2>&1
  echo "status $?"
}
regions() {  # executions and those on threads of ours
  sed -n 's/.*"calls":\([0-9]*\),"on_pool":\([0-9]*\),.*"left_for":"\([^"]*\)".*/\1 \2\3/p' \
    "$scratch/explained" | tr '\n' ';'
}

cpus=$(nproc)
for program in "$@"; do
  for word in $("$program"); do
    for members in $((2 * cpus)) $((4 * cpus)) $((5 * cpus + 3)); do
      export OMP_NUM_THREADS=$members
      : > "$scratch/explained"
      # which may take over a minute where other programs have the CPUs, too
      plain=$(OMP_WAIT_POLICY=passive timeout -s KILL 300 "$program" "$word" 2>&1; echo "status $?")
      expect "$(basename "$program") $word, $members members" "$plain" \
        "$(folded "$program" "$word")"
    done
    [ "$word" = once ] &&
      expect "a region runs on threads of ours from its first execution" "1 1;" "$(regions)"
    [ "$word" = flags ] &&
      expect "also if its members wait by means of their own, unless that takes longer" yes \
        "$(if regions | grep -q '^5 [1-5]'; then echo yes; else regions; fi)"
  done
done
unset OMP_NUM_THREADS
# By each of the programs that folds, once it has waited long enough to compare (folded.cpp, turns).
: > "$scratch/explained"
OMP_NUM_THREADS=$((4 * cpus)) folded "$1" turns_for_long > "$scratch/out"
expect "one thread is tried for members that wait for one another all the time" yes \
  "$(grep -q '"alone":[1-9]' "$scratch/explained" || cat "$scratch/explained"; echo yes)"
: > "$scratch/explained"
expect "with as many members as CPUs" "status 0" \
  "$(OMP_NUM_THREADS=2 folded "$1" exceptions | tail -n 1)"
expect "it is not watched first either" "1 1" "$(regions | grep -o '^1 1')"
# Beside others a team is larger, unless the program or its user has said how large it is; alone
# nothing changes.
members() {  # VARIABLES...: how many the largest team has
  : > "$scratch/explained"
  env "$@" LD_PRELOAD="$library" KILTER_OPENMP=1 KILTER_EXPLAIN="$scratch/explained" \
    "$program" once > /dev/null
  grep -o '"members":[0-9]*' "$scratch/explained" | sort -t: -k2n | tail -n 1
}
program=$1
expect "beside others" "\"members\":$((4 * cpus))" "$(members KILTER_BESIDE=1)"
expect "alone" "\"members\":$cpus" "$(members KILTER_BESIDE=0)"
expect "on cores of several kinds" "\"members\":$((4 * cpus))" "$(members KILTER_UNEQUAL_CPUS=1)"
for said in OMP_NUM_THREADS=2 KILTER_SAME_TEAM=1 OMP_DYNAMIC=false OMP_MAX_ACTIVE_LEVELS=1; do
  wanted=$cpus
  if [ "$said" = OMP_NUM_THREADS=2 ]; then wanted=2; fi
  expect "beside others with $said" "\"members\":$wanted" "$(members KILTER_BESIDE=1 "$said")"
done
: > "$scratch/explained"
expect "regions in regions with members of their own" "status 0" \
  "$(OMP_MAX_ACTIVE_LEVELS=2 OMP_NUM_THREADS=$((4 * cpus)) folded "$1" regions_inside | tail -n 1)"
expect "are left to the OpenMP library" "1 0" "$(regions | grep -o '^1 0')"
exit $failed
