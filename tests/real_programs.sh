#!/bin/bash
# Programs as their packages ship them, under Kilter: started with a prefix, attached to while they run, and with the preload library. Output and exit
# status must be what they are without Kilter, and the attached ones must get their masks back. What is not installed is skipped and named.
# Usage: tests/real_programs.sh BUILD       a build directory with kilter and libkilter_preload.so; some five minutes
set -u
build=$(cd "${1:?usage: tests/real_programs.sh BUILD}" && pwd)
kilter=$build/src/cli/kilter
preload=$build/src/balance/preload/libkilter_preload.so
for needed in "$kilter" "$preload"; do
  [ -x "$needed" ] || [ -f "$needed" ] || { echo "real_programs: '$needed' is missing; give a build directory" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 700 runtime
ln -s "$preload" libkilter_preload.so   # LD_PRELOAD takes no path with a blank
preload=$work/libkilter_preload.so
export XDG_RUNTIME_DIR=$work/runtime
ran=0 failed=0 moves=0 skipped="" compared=all

# Input for the compressors: text that is compressible and the same in each run.
seq 1 4000000 >numbers
cat >sums.cpp <<'C'
#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <regex>
#include <string>
#include <vector>
int main() {
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < 1000; ++i) m[std::to_string(i % 7)].push_back(i);
  std::regex r("[0-6]");
  for (auto& [k, v] : m)
    if (std::regex_match(k, r)) std::cout << k << ' ' << std::accumulate(v.begin(), v.end(), 0) << '\n';
}
C
cat >openmp.cpp <<'C'
#include <cstdio>
int main() {
  for (int round = 0; round < 200; ++round) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 1000)
    for (long i = 0; i < 4000000; ++i) sum += i * i % 7;
    if (round % 50 == 0) std::printf("%ld\n", sum);
  }
}
C
cat >arrays.py <<'P'
import numpy, threading
a = numpy.arange(400 * 400, dtype=numpy.int64).reshape(400, 400) % 17
sums = [0] * 4
def work(i):
    b = a
    for _ in range(6): b = (b @ a) % 1000003
    sums[i] = int(b.sum())
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(sums)
raise SystemExit(3)
P
cat >Primes.java <<'J'
import java.util.stream.IntStream;
public class Primes {
  public static void main(String[] a) {
    System.out.println(IntStream.range(2, 3_000_000).parallel().filter(n -> IntStream.rangeClosed(2, (int) Math.sqrt(n)).noneMatch(d -> n % d == 0)).count());
    System.exit(4);
  }
}
J

masks_of() {  # PID: the masks of its threads and of those of its children
  local p t
  for p in "$1" $(pgrep -P "$1"); do
    for t in /proc/"$p"/task/*; do grep -h Cpus_allowed_list "$t/status" 2>/dev/null; done
  done | sort -u
}

same() {  # WHAT
  ran=$((ran + 1))
  if [ "$status" -ne "$wanted" ]; then
    failed=$((failed + 1))
    echo "FAIL $1: exit status $status, $wanted without Kilter: $(head -c 300 err)"
  elif [ "$compared" = all ] && ! cmp -s out "$name.out"; then
    failed=$((failed + 1))
    echo "FAIL $1: other output than without Kilter"
  else
    echo "ok   $1"
  fi
}

# program NAME COMMAND...: what it prints without Kilter is what is wanted
program() {
  name=$1
  shift
  if ! command -v "$1" >/dev/null; then
    skipped="$skipped $name"
    return
  fi
  "$@" >"$name.out" 2>/dev/null </dev/null
  wanted=$?
  for policy in dio rr; do
    timeout 300 "$kilter" balance --quiet --policy $policy --quantum 50 --json result.json -- "$@" >out 2>err </dev/null
    status=$?
    moves=$((moves + $(grep -o '"moves_done": *[0-9]*' result.json | grep -o '[0-9]*$' || echo 0)))
    same "$name, started under $policy"
  done
  LD_PRELOAD=$preload KILTER_HISTORY=$work/history KILTER_FAST_CPUS=$fast timeout 300 "$@" >out 2>err </dev/null
  status=$?
  same "$name, with the preload library"

  "$@" >out 2>err </dev/null &
  local pid=$! before after
  before=$(masks_of $pid)
  timeout -s INT 1 "$kilter" balance --quiet --policy dio --quantum 50 --pid $pid >/dev/null 2>attach
  local attached=$?
  after=$(masks_of $pid)
  wait $pid
  status=$?
  same "$name, attached to for a second"
  # 130: it was still running when Kilter was interrupted; 124: timeout's word for the same; 0: it ended before. 125: it ended before Kilter had looked.
  case $attached in
    130 | 124) [ -z "$after" ] || [ "$before" = "$after" ] || { failed=$((failed + 1)); echo "FAIL $name: masks '$before' became '$after'"; } ;;
    0) ;;
    *) grep -q 'there is no such process' attach || { failed=$((failed + 1)); echo "FAIL $name: kilter ended with $attached: $(cat attach)"; } ;;
  esac
}

fast=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
program xz xz -T 4 -1 -c numbers
program gzip gzip -c numbers
program zstd zstd -q -T4 -5 -c numbers
program bzip2 bzip2 -c numbers
program sha256sum sha256sum numbers numbers numbers
compared=status program openssl openssl speed -seconds 1 -multi 4 sha256   # prints how fast it was
program g++ g++ -O2 -c -o /dev/stdout sums.cpp
if command -v g++ >/dev/null && g++ -O2 -fopenmp -o openmp openmp.cpp 2>/dev/null; then OMP_NUM_THREADS=4 program openmp ./openmp; else skipped="$skipped openmp"; fi
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then program numpy /usr/bin/python3 arrays.py; else skipped="$skipped numpy"; fi
if command -v java >/dev/null && command -v javac >/dev/null && javac Primes.java; then program java java -cp . Primes; else skipped="$skipped java"; fi
program sort sort --parallel=4 -r numbers

echo "$ran runs, $failed failed, $moves moves of threads in those that Kilter started${skipped:+; not installed:$skipped}"
[ $failed -eq 0 ] && [ $moves -gt 0 ]
