#!/bin/bash
# kilter run as users call it: the program is as without Kilter, what it gets is said, and bad usage
# is refused with 125 and one line.
. "$(dirname "$0")/checks.sh"
of=run
unset KILTER_MASK OMP_NUM_THREADS OMP_WAIT_POLICY KMP_BLOCKTIME GOMP_SPINCOUNT OPENBLAS_NUM_THREADS

explains() {
  grep -qF -- "$1" "$work/err" || fail "--explain does not say '$1': $(head -c 600 "$work/err")"
}

passes run --help
says "Examples:"
refuses_125 "-- PROGRAM ARGS"
refuses_125 "-- PROGRAM ARGS" --dry-run
refuses_125 "nothing to run" --
refuses_125 "'true'; a program comes after --, as in -- true" --explain true
refuses_125 "--set 'two'" --set two -- true
refuses_125 "--set '=2'" --set =2 -- true
refuses_125 "dry-run" --dry-rum -- true
refuses_125 "--html -: the report is written to a file" --html - -- true

# What cannot be told or kept does not keep the program from running: one line, and the file is as
# it was. In a dry run it is refused.
runs_without() {  # TEXT OPTIONS...
  local text=$1
  shift
  refuses_125 "$text" --dry-run "$@" -- true
  ends 3 "$@" -- sh -c 'echo ran; exit 3'
  [ "$(cat "$work/out")" = ran ] || fail "kilter run $*: the program did not run"
  [ "$(wc -l <"$work/err")" -eq 1 ] && explains "$text" && explains "'sh' runs all the same" ||
    fail "kilter run $*: not one line on standard error: $(head -c 600 "$work/err")"
}
runs_without "no directory" --json /no/such/folder/file
runs_without "no directory" --html /no/such/folder/file
runs_without "is a directory" --json "$work"
runs_without "is a directory" --history "$work"
runs_without "no directory" --history /no/such/folder/file
mkfifo "$work/pipe"
runs_without "is no regular file" --history "$work/pipe"
ends 3 --json "$work/pipe" -- sh -c 'exit 3'   # nobody reads it
explains "what was done cannot be told: "
timeout 60 cat "$work/pipe" >"$work/read" &
ends 3 --json "$work/pipe" -- sh -c 'sleep 0.2; exit 3'
wait $!
grep -q '"exit_status":3' "$work/read" ||
  fail "who reads a pipe does not get what --json writes into it: $(head -c 600 "$work/read")"
for text in 'not JSON' '{"schema":"kilter.run/1"}' '[' '{"schema":"kilter.run-history/1","modules":[{"path":1}]}' "$(printf '\xff\xfe')"; do
  printf '%s' "$text" >"$work/no_history"
  runs_without "--history '$work/no_history': " --history "$work/no_history"
  [ "$(cat "$work/no_history")" = "$text" ] ||
    fail "a --history that is none was changed: $(cat "$work/no_history")"
done
TMPDIR=/no/such/folder ends 3 --json "$work/file" -- sh -c 'exit 3'
explains "what it does is not told"
grep -q '"exit_status":3' "$work/file" ||
  fail "without a folder for temporary files: $(head -c 600 "$work/file")"

# the program's input, words, output and status are what they are without Kilter, with and without
# anything to be told at the end
for told in "" "--explain" "--json $work/file"; do
  ends 0 $told -- sh -c 'echo out; echo err >&2; cat' <<<in
  [ "$(cat "$work/out")" = "$(printf 'out\nin')" ] ||
    fail "standard output of the program ($told): $(cat "$work/out")"
  grep -qx err "$work/err" || fail "standard error of the program ($told): $(cat "$work/err")"
  ends 7 $told -- sh -c 'exit 7'
  ends 0 $told -- \
    sh -c '[ "$1" = --help ] && [ "$2" = "" ] && [ "$3" = "a  b" ] && [ "$4" = -- ]' sh \
    --help '' 'a  b' --
  ends 143 $told -- sh -c 'kill -TERM $$'
  (trap '' CHLD; ends 5 $told -- sh -c 'exit 5'; exit "$failures") ||
    fail "a parent that ignores SIGCHLD ($told)"
  ends 127 $told -- /no/such/program
  ends 127 $told -- no-such-program
  ends 126 $told -- /etc/passwd
  ends 0 $told -- sh -c "[ \"\$(ulimit -n)\" = $(ulimit -n) ]"
  ends 0 $told -- sh -c '[ "$(ls /proc/self/fd | wc -l)" -eq '"$(sh -c 'ls /proc/self/fd | wc -l' </dev/null)"' ]' </dev/null
  (ulimit -v 30000; exec 2>"$work/err"; "$kilter" run $told -- sh -c 'exit 3')
  status=$?
  [ "$status" -eq 3 ] || grep -qE 'error while loading|cannot allocate memory in static|cannot fork|Cannot allocate' "$work/err" || fail "little memory ($told): status $status: $(cat "$work/err")"

  # a signal that only Kilter gets is passed on, and the program decides
  "$kilter" run $told -- sh -c 'trap "exit 9" TERM; while :; do sleep 0.05; done' 2>/dev/null &
  pid=$!
  sleep 0.7
  kill -TERM $pid
  wait $pid
  status=$?
  [ "$status" -eq 9 ] || fail "a program that handles SIGTERM ($told): status $status, expected 9"
done
ends 0 -- true
[ -s "$work/err" ] && fail "it says something without being asked: $(cat "$work/err")"
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'kilter-run-*' -newer "$work" 2>/dev/null)" ] ||
  fail "a temporary file was left"

# without --explain and --json it is the program
"$kilter" run -- sh -c 'echo $$; exec sleep 0.3' >"$work/out" &
pid=$!
wait $pid
[ "$(cat "$work/out")" -eq $pid ] || fail "the program is not in the process that was started"

# a program in a folder with a blank, and a script
mkdir "$work/a b"
printf '#!/bin/sh\nexit 4\n' >"$work/a b/script"
chmod +x "$work/a b/script"
ends 4 --explain -- "$work/a b/script"
explains "/bin/sh is not linked with OpenMP itself"

# variables: what is given, what the user has set
ends 0 --set ONE=1 --set 'TWO=a b=c' -- sh -c '[ "$ONE" = 1 ] && [ "$TWO" = "a b=c" ]'
OMP_NUM_THREADS=3 ends 0 --set OMP_NUM_THREADS=5 -- sh -c '[ "$OMP_NUM_THREADS" = 5 ]'
OMP_NUM_THREADS=77 OMP_WAIT_POLICY=active ends 0 --explain -- \
  sh -c '[ "$OMP_NUM_THREADS" = 77 ] && [ "$OMP_WAIT_POLICY" = active ] && [ -z "$KMP_BLOCKTIME" ]'

# what others use is no matter of variables, which a program reads only once
first=$(grep -oP 'Cpus_allowed_list:\s*\K[0-9]+' /proc/self/status)
if command -v taskset >/dev/null; then
  taskset -c "$first" sh -c 'while :; do :; done' &
  neighbour=$!
  sleep 0.3
  ends 0 -- sh -c '[ -z "$OMP_WAIT_POLICY$OMP_NUM_THREADS$KMP_BLOCKTIME" ]'
  ends 0 --json - --dry-run -- true
  last_json 'not any(s["variable"].startswith(("OMP", "KMP")) for s in d["set"])'
  kill $neighbour
  wait $neighbour 2>/dev/null
fi

# a dry run runs nothing
ends 0 --dry-run --set A=b -- touch "$work/touched"
[ -e "$work/touched" ] && fail "--dry-run ran the program"
says "CPUs allowed: "
says "A=b: --set"
ends 0 --dry-run --json - --set A=b -- ./not-there x
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "--dry-run --json -: not one line: $(cat "$work/out")"
last_json 'd["schema"] == "kilter.run/1" and d["program"] == ["./not-there", "x"] and
  d["result"] is None and d["set"][-1] == {"variable": "A", "value": "b", "why": "--set"}'
last_json '{"cpus", "online", "quota", "threads", "left", "openmp", "loaded", "not_loaded_because"} <= set(d) and d["not_loaded_because"] == "the program was not found"'

# JSON is the last line, after what the program prints
ends 3 --json - -- sh -c 'echo last; exit 3'
[ "$(head -n 1 "$work/out")" = last ] || fail "JSON before the program's own output"
last_json 'd["result"]["exit_status"] == 3 and d["result"]["signal"] is None and
  d["result"]["seconds"] > 0'
ends 143 --json - -- sh -c 'kill -TERM $$'
last_json 'd["result"]["exit_status"] is None and d["result"]["signal"] == 15'

# whatever becomes of Kilter's own words, the program's output and status stay what they are
if [ -w /dev/full ]; then
  timeout 60 "$kilter" run --explain -- sh -c 'exit 3' 2>/dev/full
  [ $? -eq 3 ] || fail "standard error is full"
  timeout 60 "$kilter" run --json - -- sh -c 'exit 3' >/dev/full 2>"$work/err"
  [ $? -eq 3 ] || fail "standard output is full"
  explains "No space left"
fi
timeout 60 "$kilter" run --explain -- sh -c '[ -e /proc/$$/fd/2 ] && exit 4; exit 3' 2>&-
[ $? -eq 3 ] || fail "standard error is closed"

refuses_125 "--cpus 'slow'" --cpus slow -- true
ends 0 --dry-run --cpus fast -- true
says "mask: "

# under a quota, where this user may make one: with as many CPUs as are paid for
quota() {
  rm -f "$work/said"; "$kilter" disturb quota@all:30% --repeat 1 --quiet -- \
    sh -c 'exec "$@" >"$0"' "$work/said" "$@" >/dev/null 2>&1 && xargs <"$work/said"
}
cpus=$(nproc)
if [ "$cpus" -gt 1 ] && quota "$kilter" run --dry-run --json "$work/quota" -- true >/dev/null; then
  cp "$work/quota" "$work/out"
  last_json 'abs(d["quota"] - 0.3 * len(d["cpus"])) < 0.02 and d["threads"]["pool"] < len(d["cpus"])'
  last_json 'd["loaded"] is None or len(d["mask"]["cpus"]) == d["threads"]["pool"] and
    not [s for s in d["set"] if s["variable"].startswith(("GOMAX", "DOTNET", "JAVA"))]'
  last_json '(d["mask"]["cpus"] == []) == (d["loaded"] is None)'
  if ! grep -q '"loaded":null' "$work/quota"; then
    paid=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["threads"]["pool"])' "$work/quota" 2>/dev/null || echo 1)
    for told in "" --explain; do
      [ "$(quota "$kilter" run $told -- nproc)" = "$paid" ] ||
        fail "nproc under a quota ($told) is not $paid"
    done
    [ "$(quota "$kilter" run --cpus all -- env -u OMP_NUM_THREADS nproc)" = "$cpus" ] ||
      fail "--cpus all: the mask does not stay"
    [ "$(quota "$kilter" run --same-team -- nproc)" = "$cpus" ] ||
      fail "--same-team: the mask does not stay"
    [ "$(quota env KMP_AFFINITY=compact "$kilter" run -- env -u OMP_NUM_THREADS nproc)" = "$cpus" ] || fail "KMP_AFFINITY: the mask does not stay"
    ! command -v taskset >/dev/null || [ "$(quota "$kilter" run -- taskset -c "$first" sh -c 'nproc; echo "$OMP_NUM_THREADS"')" = "1 $paid" ] || fail "a program that sets masks has another one"
    [ "$(quota sh -c "'$kilter' run -- true; nproc")" = "$cpus" ] ||
      fail "the mask of who has started it has changed"
  fi
fi
ends 0 -- sh -c '[ "$(nproc)" = '"$cpus"' ] && [ -z "$KILTER_MASK" ]'

# what it needs and cannot have is said in one line, and the program runs all the same
for most in 3 4 5 6 7; do
  (ulimit -n $most; exec "$kilter" run --explain -- sh -c 'exit 3') 2>"$work/err"
  status=$?
  [ $status -eq 3 ] || grep -q 'error while loading' "$work/err" ||
    fail "$most descriptors: status $status: $(cat "$work/err")"
done

# what a program is decides what can be done to it
if command -v gcc >/dev/null; then
  echo 'int main(void) { return 6; }' >"$work/six.c"
  gcc -fopenmp -Wl,--no-as-needed -o "$work/linked" "$work/six.c" &&
    ends 6 --explain -- "$work/linked" && explains "is linked with libgomp.so.1"
  cp "$work/linked" "$work/setuid" && chmod u+s "$work/setuid" &&
    ends 6 --explain -- "$work/setuid" && explains "privileges of its own"
  if gcc -static -o "$work/static" "$work/six.c" 2>/dev/null; then
    ends 6 --explain -- "$work/static"
    explains "is linked statically, so nothing can be loaded into it; its environment is all that changes"
  fi
fi

# the library, where there is one, is loaded into what can load it, and told what it has to know; a
# stand-in writes that down
if command -v gcc >/dev/null; then
  mkdir -p "$work/in stalled/bin" "$work/in stalled/lib"
  cp "$kilter" "$work/in stalled/bin/kilter"
  cat >"$work/stand_in.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((destructor)) static void tell(void) {
  const char *file = getenv("KILTER_EXPLAIN");
  FILE* out = file ? fopen(file, "a") : 0;
  if (!out) return;
  fputs("{\"schema\":\"kilter.regions/1\",\"pid\":7,\"passed_on_for\":\"WHAT\",\"rescues\":0,\"exchanges\":0,\"alone\":0}\n{\"modu", out);
  fclose(out);
  fprintf(stderr, "openmp %s\n", getenv("KILTER_OPENMP"));
}
C
  gcc -shared -fPIC -o "$work/in stalled/lib/libkilter_openmp.so" "$work/stand_in.c"
  kilter="$work/in stalled/bin/kilter"
  OMP_NUM_THREADS=77 ends 6 --explain --json - -- "$work/linked"
  explains "libkilter_openmp.so is loaded into it"
  grep -qx 'openmp 1' "$work/err" || fail "what the library was told: $(cat "$work/err")"
  explains "process 7: WHAT is set"
  last_json 'd["loaded"] == "libkilter_openmp.so" and
    [p["pid"] for p in d["result"]["processes"]] == [7]'
  KILTER_OPENMP=0 ends 6 --explain -- "$work/linked"
  grep -qx 'openmp 0' "$work/err" || fail "KILTER_OPENMP=0: $(cat "$work/err")"
  ends 6 -- "$work/linked"
  ends 0 --set LD_PRELOAD=libc.so.6 -- \
    sh -c 'case "$LD_PRELOAD" in libkilter_openmp.so:libc.so.6) exit 0 ;; *) exit 1 ;; esac'
  ends 0 -- sh -c '[ "$KILTER_OPENMP" = 1 ] && [ -z "$KILTER_EXPLAIN$KILTER_SAME_TEAM" ]'
  ends 0 --same-team -- sh -c '[ "$KILTER_SAME_TEAM" = 1 ]'
  ends 6 --json - -- "$work/setuid"
  last_json 'd["loaded"] is None'
  [ ! -x "$work/static" ] || { ends 6 --json - -- "$work/static" &&
    last_json 'd["loaded"] is None and d["result"]["processes"] == []'; }
fi
finish
