#!/bin/bash
# Programs as their packages ship them, under Kilter: started with a prefix, attached to while they
# run, and with the preload library. Output and exit status must be what they are without Kilter,
# and the attached ones must get their masks back. What is not installed is skipped and named.
#
#     tests/real_programs.sh BUILD
#
# BUILD is a build directory with kilter and libkilter_preload.so. Some five minutes.
#
#     tests/real_programs.sh BUILD --times [PAIRS]
#
# What the default of `kilter lab balance` costs: each program with and without it, in turns, alone
# and beside one process that computes; median ratios of PAIRS (5) pairs. Needs a quiet machine;
# some twenty minutes. Fails if one is slower by more than 3 %.
set -u
build=$(cd "${1:?usage: tests/real_programs.sh BUILD [--times [PAIRS]]}" && pwd)
case ${2:-} in
  "") pairs=0 ;;
  --times) pairs=${3:-5} ;;
  *) echo "real_programs: '$2': give nothing or --times" >&2; exit 2 ;;
esac
kilter=$build/cli/kilter
preload=$build/guests/libkilter_preload.so
for needed in "$kilter" "$preload"; do
  [ -x "$needed" ] || [ -f "$needed" ] || {
    echo "real_programs: '$needed' is missing; give a build directory" >&2
    exit 2
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
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
    if (std::regex_match(k, r))
      std::cout << k << ' ' << std::accumulate(v.begin(), v.end(), 0) << '\n';
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
    System.out.println(
        IntStream.range(2, 3_000_000)
            .parallel()
            .filter(n -> IntStream.rangeClosed(2, (int) Math.sqrt(n)).noneMatch(d -> n % d == 0))
            .count());
    System.exit(4);
  }
}
J

cat >stencil.cpp <<'C'
#include <cstdio>
#include <vector>
int main() {
  constexpr int n = 700;
  std::vector<double> a(n * n, 1.0), b(n * n);
  for (int i = 0; i < n; ++i) a[i] = i;
  for (int step = 0; step < 3000; ++step) {
#pragma omp parallel for
    for (int y = 1; y < n - 1; ++y)
      for (int x = 1; x < n - 1; ++x)
        b[y * n + x] = 0.25 * (a[(y - 1) * n + x] + a[(y + 1) * n + x] + a[y * n + x - 1] +
                               a[y * n + x + 1]);
    a.swap(b);
  }
  std::printf("%.6f\n", a[n * 5 + 5]);
}
C
cat >barriers.cpp <<'C'
// Threads that meet at a barrier after each piece of work; the second argument: how many times all
// threads are made anew, as streamcluster does.
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
pthread_barrier_t barrier;
unsigned long sums[64];
void* work(void* at) {
  unsigned long x = 1;
  for (int step = 0; step < 400; ++step) {
    for (int i = 0; i < 300000; ++i) x = x * 6364136223846793005ul + 1442695040888963407ul;
    pthread_barrier_wait(&barrier);
  }
  *static_cast<unsigned long*>(at) += x;
  return nullptr;
}
int main(int, char** argv) {
  const int threads = std::atoi(argv[1]);
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads));
  for (int round = 0; round < std::atoi(argv[2]); ++round) {
    std::vector<pthread_t> all(static_cast<std::size_t>(threads));
    for (int t = 0; t < threads; ++t)
      pthread_create(&all[static_cast<std::size_t>(t)], nullptr, work, &sums[t]);
    for (pthread_t t : all) pthread_join(t, nullptr);
  }
  std::printf("%lu\n", sums[0]);
}
C
mkdir many
for i in $(seq 40); do
  cat >"many/$i.cpp" <<C
#include <map>
#include <string>
int f$i(int n) {
  std::map<int, std::string> m;
  while (n--) m[n] = std::to_string(n);
  return (int)m.size();
}
C
done
printf 'all: $(patsubst %%.cpp,%%.o,$(wildcard *.cpp))\n%%.o: %%.cpp\n\t@g++ -O0 -c -o $@ $<\n' \
  >many/Makefile

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

seconds_of() {  # COMMAND...: elapsed and CPU seconds
  local TIMEFORMAT='%R %U %S'
  { time "$@" >/dev/null 2>&1 </dev/null; } 2>&1 | awk '{print $1, $2 + $3}'
}

# measure COMMAND...: pairs of runs, the order changing, first alone and then beside a process that
# computes
measure() {
  local beside pid without with i
  "$@" >/dev/null 2>&1 </dev/null   # files are read once
  for beside in alone busy; do
    pid=""
    if [ $beside = busy ]; then
      sh -c 'while :; do :; done' &
      pid=$!
    fi
    : >ratios
    for i in $(seq "$pairs"); do
      if [ $((i % 2)) -eq 0 ]; then
        with=$(seconds_of "$kilter" lab balance --quiet -- "$@")
        without=$(seconds_of "$@")
      else
        without=$(seconds_of "$@")
        with=$(seconds_of "$kilter" lab balance --quiet -- "$@")
      fi
      echo "$with $without" | awk '{print $1 / $3, $2 / ($4 > 0 ? $4 : 0.001), $3}' >>ratios
    done
    [ -z "$pid" ] || { kill $pid; wait $pid 2>/dev/null; }
    ran=$((ran + pairs))
    # A run of less than a second has more noise than 3 %.
    LC_ALL=C sort -g ratios | awk -v name="$name" -v beside=$beside '
      { t[NR] = $1; cpu += $2; s += $3 }
      END {
        m = NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2
        slow = m > 1.03 && s / NR >= 1
        printf "%-4s %-14s %-5s time %.3f (%.3f to %.3f), CPU time %.3f, of %.2f s\n",
          slow ? "SLOW" : "ok", name, beside, m, t[1], t[NR], cpu / NR, s / NR
        exit slow
      }' || failed=$((failed + 1))
  done
}

# program NAME COMMAND...: what it prints without Kilter is what is wanted
program() {
  name=$1
  shift
  if ! command -v "$1" >/dev/null; then
    skipped="$skipped $name"
    return
  fi
  if [ "$pairs" -gt 0 ]; then
    measure "$@"
    return
  fi
  "$@" >"$name.out" 2>/dev/null </dev/null
  wanted=$?
  for policy in dio rr auto; do
    timeout 300 "$kilter" lab balance --quiet --policy $policy --quantum 50 --json result.json -- \
      "$@" \
      >out 2>err </dev/null
    status=$?
    moves=$((moves + $(grep -o '"moves_done": *[0-9]*' result.json | grep -o '[0-9]*$' || echo 0)))
    same "$name, started under $policy"
  done
  LD_PRELOAD=$preload KILTER_HISTORY=$work/history KILTER_FAST_CPUS=$fast timeout 300 "$@" \
    >out 2>err </dev/null
  status=$?
  same "$name, with the preload library"

  "$@" >out 2>err </dev/null &
  local pid=$! before after
  before=$(masks_of $pid)
  timeout -s INT 1 "$kilter" lab balance --quiet --policy dio --quantum 50 --pid $pid \
    >/dev/null 2>attach
  local attached=$?
  after=$(masks_of $pid)
  wait $pid
  status=$?
  same "$name, attached to for a second"
  # 130: it was still running when Kilter was interrupted; 124: timeout's word for the same; 0: it
  # ended before. 125: it ended before Kilter had looked.
  case $attached in
    130 | 124) [ -z "$after" ] || [ "$before" = "$after" ] || {
      failed=$((failed + 1))
      echo "FAIL $name: masks '$before' became '$after'"
    } ;;
    0) ;;
    *) grep -q 'there is no such process' attach || {
      failed=$((failed + 1))
      echo "FAIL $name: kilter ended with $attached: $(cat attach)"
    } ;;
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
if command -v g++ >/dev/null && g++ -O2 -fopenmp -o openmp openmp.cpp 2>/dev/null; then
  OMP_NUM_THREADS=4 program openmp ./openmp
else
  skipped="$skipped openmp"
fi
if command -v g++ >/dev/null; then
  g++ -O2 -fopenmp -o stencil stencil.cpp 2>/dev/null &&
    g++ -O2 -pthread -o barriers barriers.cpp || skipped="$skipped stencil barriers"
  [ ! -x stencil ] || OMP_NUM_THREADS=$(nproc) program stencil ./stencil
  [ ! -x barriers ] || {
    program barriers ./barriers "$(nproc)" 5
    program new-threads ./barriers 4 4
    program one-thread ./barriers 1 5
  }
  if command -v make >/dev/null; then
    program make make -B -s -C many -j "$(nproc)"
  else
    skipped="$skipped make"
  fi
fi
program script sh -c 'i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i + 1)); done; echo $i'
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  program numpy /usr/bin/python3 arrays.py
else
  skipped="$skipped numpy"
fi
if command -v java >/dev/null && command -v javac >/dev/null && javac Primes.java; then
  program java java -cp . Primes
else
  skipped="$skipped java"
fi
program sort sort --parallel=4 -r numbers

if [ "$pairs" -gt 0 ]; then
  echo "$ran pairs, $failed of the rows slower by more than 3 %${skipped:+; not installed:$skipped}"
  exit $((failed > 0))
fi
missing=${skipped:+; not installed:$skipped}
echo "$ran runs, $failed failed, $moves moves of threads in those that Kilter started$missing"
[ $failed -eq 0 ] && [ $moves -gt 0 ]
