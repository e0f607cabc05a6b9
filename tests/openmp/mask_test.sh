#!/bin/bash
# Usage: mask_test.sh LIBKILTER_OPENMP MASKS
#
# A mask that was narrowed to a quota follows it, for threads that still have it; here a file stands
# for the quota of a control group.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
program=$2
needs_two_cpus
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
both="${cpus[0]},${cpus[1]}" computer=$("$program" | cut -d' ' -f2)
run() { taskset -c "${cpus[1]}" env LD_PRELOAD="$library" "$@"; }
quota() { echo "$1 100000" > "$scratch/cpu.max"; }
# when FILE COMMAND...: does that once the program waits for it
when() {
  for _ in $(seq 500); do [ -e "$1" ] && break; sleep 0.02; done
  "${@:2}"
  rm -f "$1"
}

quota 100000
(
  when "$scratch/grown" quota 200000
  when "$scratch/gone" quota 50000
  when "$scratch/back" quota max
) &
expect "it grows, shrinks and goes" "1 1 1; 2 2 2 pinned; 1 1 1; 2 2 2;" \
  "$(run KILTER_MASK="$both;${cpus[1]};$scratch" "$program" 10 "$scratch/grown" "$scratch/gone" \
    "$scratch/back")"
wait
quota 100000
(when "$scratch/folder" true) &
expect "a folder that is not there tells nothing" "1 1 1; 1 1 1 pinned;" \
  "$(run KILTER_MASK="$both;${cpus[1]};$scratch/none" "$program" 2 "$scratch/folder")"
wait
expect "it goes where more threads work; who asks is told as before" "2 1" \
  "$(run KILTER_MASK="$both;${cpus[1]};$scratch" "$program" busy)"
expect "another mask than the one that is told is not ours" "1 $computer $computer;" \
  "$(run KILTER_MASK="$both;${cpus[0]};$scratch" "$program")"
expect "nothing told" "1 $computer $computer;" "$(run "$program")"
for told in "" x "0" ";;" "0-1;" "$both;${cpus[1]}" "99999999999999999999;1;" \
  "$both;;$scratch" "-1;-1;/"; do
  expect "told '$told'" "1 $computer $computer;" "$(run KILTER_MASK="$told" "$program")"
done
exit $failed
