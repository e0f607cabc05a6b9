#!/bin/bash
# Usage: preload_test.sh LIBKILTER_PRELOAD PROBE MATMUL_XY GLOBAL_SUM
#
# Function only: which CPU a thread is on, what is left of masks, what is printed. Nothing is timed.
. "$(dirname "$0")/../cli/checks.sh"
library=$1 probe=$2 matmul=$3 sum=$4
ln -s "$library" "$work/libkilter_preload.so"   # LD_PRELOAD takes no path with a blank, and the sources may lie in one
real=$library library=$work/libkilter_preload.so

mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ "${#cpus[@]}" -ge 2 ] || { echo "needs two CPUs"; exit 77; }
fast=${cpus[0]} slow=${cpus[1]}
both="$fast,$slow"

# on two CPUs, with the library and the variables given before --
loaded() {
  local variables=()
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  taskset -c "$both" timeout -s KILL 60 env LD_PRELOAD="$library" "${variables[@]}" "$@" \
    2> "$work/errors"
}

out=$(loaded KILTER_FAST_CPUS="$fast" KILTER_LENGTHS=1,2 -- "$probe" threads 2 | sort)
expect "the longer of two threads is on the fast CPU" "thread 0 $slow
thread 1 $fast" "$out"
expect "nothing is said" "" "$(cat "$work/errors")"

printf '1\n2\n' > "$work/lengths"
out=$(loaded KILTER_FAST_CPUS="$slow" KILTER_LENGTHS="@$work/lengths" -- "$probe" threads 3 | sort)
expect "lengths from a file; a thread without a length keeps the mask of the user" "thread 0 $fast
thread 1 $slow
thread 2 $both" "$out"

out=$(loaded KILTER_POLICY=rr -- "$probe" threads 4 | sort)
expect "rr goes through the CPUs" "thread 0 $fast
thread 1 $slow
thread 2 $fast
thread 3 $slow" "$out"

out=$(loaded KILTER_FAST_CPUS="$fast" -- "$probe" threads 2 | sort)
expect "without lengths threads are left alone" "thread 0 $both
thread 1 $both" "$out"

out=$(taskset -c "$slow" env LD_PRELOAD="$library" KILTER_POLICY=rr "$probe" threads 2 | sort)
expect "the mask of the user is the limit" "thread 0 $slow
thread 1 $slow" "$out"

out=$(loaded KILTER_FAST_CPUS="$fast" KILTER_LENGTHS=5,4 -- "$probe" own "$slow")
expect "a mask in the attributes is the program's own" "own $slow" "$out"

out=$(loaded KILTER_FAST_CPUS="$fast" KILTER_LENGTHS=5 -- "$probe" nested)
expect "threads of a pinned thread begin from the mask that it had" "outer $fast
inner $both" "$out"

out=$(loaded KILTER_FAST_CPUS="$fast" KILTER_LENGTHS=5 -- "$probe" children)
expect "children of a pinned thread get the mask of the user" "parent $fast
fork $both
mask $both
mask $both
mask $both
mask $both
mask $both
parent $fast" "$out"

expect "threads may end in every way" ended "$(loaded KILTER_POLICY=rr -- "$probe" ends)"
expect "and nothing is said about it" "" "$(cat "$work/errors")"

# Misconfigured: one line, and the program runs on.
while IFS='|' read -r variable message; do
  out=$(loaded "$variable" -- "$probe" threads 1; echo "status $?")
  expect "$variable: the program runs on" "thread 0 $both
status 0" "$out"
  expect "$variable: one line" 1 "$(wc -l < "$work/errors")"
  grep -qF -- "$message" "$work/errors" ||
    fail "$variable: '$message' is not in: $(cat "$work/errors")"
done <<END
KILTER_POLICY=dike|kilter: KILTER_POLICY: 'dike' is no policy of the preload library; there are ljfpf, cjfpf, rr; threads are left alone
KILTER_LENGTHS=3,x|KILTER_LENGTHS: 'x' is no length
KILTER_LENGTHS=3,-1|KILTER_LENGTHS: '-1' is no length
KILTER_LENGTHS=@/nowhere|KILTER_LENGTHS: '/nowhere' cannot be read
KILTER_FAST_CPUS=5-2|KILTER_FAST_CPUS: '5-2' runs backwards
KILTER_FAST_CPUS=60000|KILTER_FAST_CPUS: none of these CPUs is in this process's mask
KILTER_HISTORY=/etc/hostname|'/etc/hostname': line 1 must be kilter.lengths/1
END

out=$(loaded KILTER_LENGTHS=$'@\e[31mred' -- "$probe" threads 1)
expect "a message holds nothing that a terminal obeys" "0 1" \
  "$(grep -c $'\e' "$work/errors") $(grep -cF '\x1b[31mred' "$work/errors")"

# Earlier runs: the thread that took longer is the longer one. Forty to one is no matter of timing.
history="$work/history"
loaded KILTER_HISTORY="$history" KILTER_FAST_CPUS="$fast" -- "$probe" work 1 40
expect "the first run is remembered" "kilter.lengths/1
preload_probe 0 1
preload_probe 1 1" "$(cut -d' ' -f1-3 "$history")"
loaded KILTER_HISTORY="$history" KILTER_FAST_CPUS="$fast" KILTER_VERBOSE=1 -- "$probe" work 1 40
expect "the second run knows the longer thread" "kilter: thread 0: CPU $slow
kilter: thread 1: CPU $fast, fast" "$(sed 's/ of preload_probe, length [^:]*//' "$work/errors")"
printf 'preload_probe 2 1 0.0' >>"$history"
loaded KILTER_HISTORY="$history" KILTER_FAST_CPUS="$fast" KILTER_VERBOSE=1 -- "$probe" work 1 40
expect "half a history places as far as it goes" \
  "kilter: '$history': the file ends within line 4; that line is left out; the rest is used
kilter: thread 0: CPU $slow
kilter: thread 1: CPU $fast, fast" "$(sed 's/ of preload_probe, length [^:]*//' "$work/errors")"
loaded KILTER_HISTORY="$work/no/such" -- "$probe" work 1
expect "a history that cannot be written costs a line" 1 \
  "$(grep -c 'this run is not remembered' "$work/errors")"

# Programs that announce.
out=$(loaded KILTER_FAST_CPUS="$fast" KILTER_VERBOSE=1 -- "$matmul" 2 200 100; echo "status $?")
expect "matmul_xy is right and was heard" 1 \
  "$(echo "$out" | grep -c 'announced and heard, result right')"
expect "X is on the fast CPU" "kilter: thread 0 of matmul_xy, length 100: CPU $slow
kilter: thread 1 of matmul_xy, length 200: CPU $fast, fast" "$(cat "$work/errors")"
out=$(loaded KILTER_POLICY=cjfpf KILTER_FAST_CPUS="$fast" KILTER_VERBOSE=1 -- "$sum" 2 40 20 20 1000)
expect "global_sum is right and was heard" 1 \
  "$(echo "$out" | grep -c 'announced and heard, sum right')"
expect "the long critical section is on the fast CPU" \
  "kilter: thread 0 of global_sum, length 251: CPU $slow
kilter: thread 1 of global_sum, length 667: CPU $fast, fast" "$(cat "$work/errors")"
for arguments in "$matmul|4 60 40" "$sum|4 12 8 20 1000"; do
  read -ra numbers <<< "${arguments#*|}"
  out=$("${arguments%|*}" "${numbers[@]}")
  expect "$arguments without the library: right" 1 \
    "$(echo "$out" | grep -cE 'announced to nobody, (result|sum) right')"
done
out=$(loaded -- "$matmul" 2 60 40; cat "$work/errors")
expect "where all CPUs are alike nobody listens" 1 \
  "$(echo "$out" | grep -c 'announced to nobody, result right')"
for program in "$matmul" "$sum"; do
  "$program" 0 2> "$work/errors"
  expect "$program 0" 2 $?
done

# What it brings into a stranger's process: nothing but itself, and what decides is loaded where
# glibc is.
for part in preload count; do
  expect "libkilter_$part.so needs no library" "" \
    "$(readelf -d "${real%/*}/libkilter_$part.so" | grep NEEDED)"
  expect "libkilter_$part.so needs no version of one" "" \
    "$(readelf -V "${real%/*}/libkilter_$part.so" | grep GLIBC)"
done
needed=$(readelf -d "${real%/*}/libkilter_place.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so|libm\.so|ld-linux|libdl|libpthread)')
expect "what decides needs no library but C's" "" "$needed"
expect "what decides exports its entry" "kilter_placement" \
  "$(nm -D --defined-only "${real%/*}/libkilter_place.so" | awk '{ print $3 }' | xargs)"
expect "it exports what it interposes and where it listens" "execv execve execvp execvpe kilter_hint_listen popen posix_spawn posix_spawnp pthread_create system" \
  "$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | xargs)"

# A program of another C library, by itself and among those of this one: it runs, is told of once if
# it has threads, and hands the library on to its children.
if command -v musl-gcc >/dev/null; then
  musl-gcc -o "$work/musl" "$(dirname "$0")/other_library.c" -pthread ||
    fail "other_library.c does not compile"
  alone="kilter: musl has another C library than glibc; its threads are left alone"
  for policy in ljfpf cjfpf rr; do
    expect "$policy: a program of musl runs" "threads 2
status 0" "$(loaded KILTER_POLICY=$policy KILTER_LENGTHS=1,2 KILTER_FAST_CPUS="$fast" -- "$work/musl" threads; echo "status $?")"
    expect "$policy: and one line says that it is left alone" "$alone" "$(cat "$work/errors")"
  done
  expect "a child of a shell" "threads 2
status 0" "$(loaded KILTER_LENGTHS=1,2 KILTER_FAST_CPUS="$fast" -- sh -c '"$0" threads; echo "status $?"' "$work/musl")"
  expect "its own children" "mask $both
mask $both
mask $both" "$(loaded KILTER_LENGTHS=1,2 KILTER_FAST_CPUS="$fast" -- "$work/musl" children "$probe")"
  expect "nothing is said of a program without threads" "" "$(cat "$work/errors")"
else
  echo "no musl-gcc (package musl-tools): programs of another C library were not tried"
fi
finish
