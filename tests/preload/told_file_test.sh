#!/bin/bash
# Usage: told_file_test.sh LIBKILTER_OPENMP PROGRAMS LIBKILTER_COUNT PROBE
#
# The files by which Kilter and what it loads into programs tell one another something are found
# again by name when the run may be over: nothing is made, no link is followed, no pipe waited for,
# and nothing done in a folder that others may write in.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../openmp/preloaded.sh"
has_library "$1"
ln -s "$3" "$scratch/libkilter_count.so"
programs=$2 probe=$4
needs_two_cpus

# One program for each of the three variables; what it prints is the same whatever lies there.
explain() {
  env LD_PRELOAD="$library" KILTER_OPENMP=1 OMP_NUM_THREADS=2 KILTER_EXPLAIN="$1" timeout -s KILL 20 "$programs" stencil
}
known() {
  env LD_PRELOAD="$library" KILTER_OPENMP=1 OMP_NUM_THREADS=2 KILTER_KNOWN_REGIONS="$1" KILTER_EXPLAIN="$scratch/told" timeout -s KILL 20 "$programs" stencil
}
counts() {
  FILE="$1" LIBRARY="$scratch/libkilter_count.so" timeout -s KILL 20 sh -c 'KILTER_COUNTS_PID=$$ KILTER_COUNTS=$FILE LD_PRELOAD=$LIBRARY exec "$0" conditions 2' "$probe"
}
on_pool() { grep -o '"on_pool":[0-9]*' "$scratch/told" | cut -d: -f2; }

: > "$scratch/told"
stencil=$(explain "$scratch/told") conditions=$("$probe" conditions 2)
region=$(sed -n 's/.*"offset":\([0-9]*\),"calls":50.*/\1/p' "$scratch/told")
expect "what was done is told" 48 "$(on_pool)"
: > "$scratch/counted"
counts "$scratch/counted" > /dev/null
expect "what was counted is told" 1 "$(grep -c '^end$' "$scratch/counted")"
printf '%x \n' "$region" > "$scratch/known"
: > "$scratch/told"
known "$scratch/known" > /dev/null
expect "what is known is used" 50 "$(on_pool)"

# lies WHAT PATH VICTIM: whether the programs run as ever and leave VICTIM as it is, and what it has
# is not known
lies() {
  local what=$1 path=$2 victim=$3 before
  before=$(cat "$victim")
  expect "$what: told" "$stencil" "$(explain "$path")"
  expect "$what: counted" "$conditions" "$(counts "$path")"
  : > "$scratch/told"
  expect "$what: known" "$stencil" "$(known "$path")"
  expect "$what: nothing is known of it" 48 "$(on_pool)"
  expect "$what: it is left alone" "$before" "$(cat "$victim")"
}
ln -s "$scratch/known" "$scratch/link"
lies "a link" "$scratch/link" "$scratch/known"
ln "$scratch/known" "$scratch/second_name"
lies "a file with another name" "$scratch/second_name" "$scratch/known"
rm "$scratch/second_name"
mkfifo "$scratch/pipe"
lies "a pipe" "$scratch/pipe" "$scratch/known"
mkdir "$scratch/open"
cp "$scratch/known" "$scratch/open/known"
chmod 0777 "$scratch/open"
lies "a folder that others write in" "$scratch/open/known" "$scratch/open/known"
mkdir -m 0700 "$scratch/closed"
cp "$scratch/known" "$scratch/closed/known"
ln -s "$scratch/closed" "$scratch/link_to_folder"
lies "a link to a folder" "$scratch/link_to_folder/known" "$scratch/closed/known"
if [ "$(id -u)" = 0 ]; then
  cp "$scratch/known" "$scratch/closed/of_another"
  chown 65534 "$scratch/closed/of_another"
  lies "a file of another user" "$scratch/closed/of_another" "$scratch/closed/of_another"
fi
lies "no file" "$scratch/closed/none" "$scratch/known"
lies "no folder" "$scratch/none/none" "$scratch/known"
[ ! -e "$scratch/closed/none" ] && [ ! -e "$scratch/none" ] ||
  { echo "FAILED: a file is made"; failed=1; }
exit $failed
