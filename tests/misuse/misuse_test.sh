#!/usr/bin/env bash
# misuse_test.sh CXX INCLUDE: every case of cases.cpp but the first is refused by the compiler, in
# words of Kilter's where it has some.
set -u
cxx=$1 include=$2 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cases=27
log=$(mktemp)
trap 'rm -f "$log"' EXIT
compile() {
  "$cxx" -std=c++20 -fsyntax-only -I"$include" "-DCASE=$1" "$here/cases.cpp" >"$log" 2>&1
}
compile 0 || { cat "$log"; echo "the right use does not compile"; exit 1; }
takes='the body of a task takes nothing, task_context& or team_member& (by reference)'
declare -A words=([6]='takes one of the two' [7]=$takes [8]=$takes [9]=$takes [11]='is not mutable' [12]='returns std::optional<item>' [13]='serial_stage or ordered_stage'
  [14]='would be lost' [15]='takes what the one before returns'
  [16]='write_g_type_of_this_name' [17]=$takes [18]='returns nothing' [19]='returns nothing'
  [20]='takes one of the two: an index'
  [22]='write_the_options_before_the_body' [23]='write_the_data_before_the_body' [24]='write_options_with_this_name'
  [25]='the sum so far' [26]='the sum so far' [27]='takes an index, or first and last')
failed=0
for ((i = 1; i <= cases; ++i)); do
  if compile "$i"; then
    echo "case $i compiles"
    failed=1
  elif grep -q 'no such case' "$log"; then
    echo "case $i is missing"
    failed=1
  elif ! grep -q "${words[$i]-error}" "$log"; then
    echo "case $i is refused, but not with the words for it:"
    head -5 "$log"
    failed=1
  fi
done
compile $((cases + 1))
grep -q 'no such case' "$log" || { echo "there are more cases than are tried"; failed=1; }
exit $failed
