#!/bin/bash
# Usage: tasks_test.sh LIBKILTER_OPENMP PROGRAMS...
#
# PROGRAMS are the same one, with other options of the compiler.
#
# Programs of tasks give on threads of Kilter what they give with libgomp or libomp, whatever the
# team, and that is where they run beside a neighbour.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
shift
needs_two_cpus

cpus=$(nproc)
for program in "$@"; do
  for word in $("$program"); do
    # libgomp of gcc 12 waits for ever where another thread says that a task is over, and libomp of
    # clang 14 in some runs for untied tasks.
    if [ "$word" = detached ]; then plain=$(printf '1 2 5\n%.0s' 1 2 3 4 5 6; echo "status 0")
    elif [[ "$word" = untied* ]]; then plain=$(printf '5461\n%.0s' 1 2 3 4 5 6; echo "status 0")
    else plain=$(OMP_NUM_THREADS=2 timeout -s KILL 60 "$program" "$word" 2>&1; echo "status $?"); fi
    for members in 2 $((4 * cpus)) $((5 * cpus + 3)); do
      for mode in 1 all; do
        [ "$word $members $mode" = "detached 2 1" ] && continue
        got=$(timeout -s KILL 20 env OMP_NUM_THREADS=$members LD_PRELOAD="$library" \
            KILTER_OPENMP=$mode OMP_WAIT_POLICY=passive "$program" "$word" 2>&1; echo "status $?")
        expect "$(basename "$program") $word, $members members, mode $mode" "$plain" "$got"
      done
    done
    got=$(timeout -s KILL 20 env LD_PRELOAD="$library" KILTER_OPENMP=1 KILTER_BESIDE=1 "$program" \
        "$word" 2>&1; echo "status $?")
    expect "$(basename "$program") $word, as beside a neighbour" "$plain" "$got"
    [[ "$word" = detached || "$word" = untied* ]] && continue
    for mode in 0 1; do
      got=$(timeout -s KILL 20 env OMP_NUM_THREADS=2 LD_PRELOAD="$library" KILTER_OPENMP=$mode \
          "$program" "$word" 2>&1; echo "status $?")
      expect "$(basename "$program") $word, alone, mode $mode" "$plain" "$got"
    done
  done
done

# left PROGRAM WORD: the executions of its regions that are not on threads of ours, or that there
# are none
# shellcheck disable=SC2317  # comes_to calls it
left() {
  : > "$scratch/explained"
  env OMP_NUM_THREADS=$((4 * cpus)) LD_PRELOAD="$library" KILTER_OPENMP=1 \
    KILTER_EXPLAIN="$scratch/explained" OMP_WAIT_POLICY=passive "$@" > "$scratch/out" 2>&1
  sed -n 's/.*"calls":\([0-9]*\),"on_pool":\([0-9]*\),.*"left_for":"\([^"]*\)".*/\1 \2 \3/p' \
    "$scratch/explained" > "$scratch/regions"
  [ -s "$scratch/regions" ] || echo "no region"
  while read -r calls on_pool why; do
    [ "$calls" = "$on_pool" ] || echo "$calls $on_pool $why"
  done < "$scratch/regions"
}
for program in "$@"; do
  for word in $("$program" |
      grep -x -e recursion -e groups -e generator -e left_behind -e order -e loops -e rendezvous \
      -e untied -e values -e sums -e events); do
    runs="runs on threads of ours from the first execution on, if its team is folded"
    comes_to "$(basename "$program"): $word $runs" "" left "$program" "$word"
  done
done
exit $failed
