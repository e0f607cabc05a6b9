#!/bin/bash
# Usage: run_openmp_test.sh KILTER OPENMP_PROGRAMS FOLDED: what `kilter run` does to parallel
# regions, and says of them. FOLDED: a program with debugging information.
. "$(dirname "$0")/checks.sh"
unset KILTER_SHARING
programs=$2 folded=$3
mkdir "$work/a b c" && cd "$work/a b c" || exit 1

plain=$("$programs" stencil)
expect "the same result" "$plain" "$("$kilter" run -- "$programs" stencil)"
expect "quiet unless asked" "" "$("$kilter" run -- "$programs" stencil 2>&1 > /dev/null)"
OMP_NUM_THREADS=2 "$kilter" run --explain --json told.json --html "a report.html" -- \
  "$programs" stencil > out 2> err
expect "the same result, explained" "$plain" "$(cat out)"
grep -q '"schema":"kilter.run/1"' "a report.html" || fail "the report has what was told"
if [ "$(nproc)" -ge 2 ]; then
  grep -q "on threads of Kilter" err || fail "what was done is said: $(cat err)"
  python3 - <<'P' || fail "what was told"
import json
told = json.load(open("told.json"))
assert told["schema"] == "kilter.run/1" and told["loaded"] == "libkilter_openmp.so", told
assert told["result"]["processes"][0]["regions"][0]["on_pool"] == 48, told
P
fi
# kilter top sees a run that tells, while it goes on and no longer.
printf '#include <time.h>\nint main(void) { double sum = 0;\nfor (const time_t end = time(0) + 300; time(0) < end;) {\n#pragma omp parallel for reduction(+ : sum)\nfor (int i = 0; i < 10000; ++i) sum += i; }\nreturn sum > 0; }\n' > long.c
if gcc -g -fopenmp long.c -o long 2> /dev/null; then
  "$kilter" run --json never.json -- ./long &
  for _ in $(seq 100); do
    "$kilter" top --once --json top.json > /dev/null
    python3 - top.json <<'P' && break
import json, sys
run = next((r for r in json.load(open(sys.argv[1]))["runs"] if r["program"].endswith("/long")), None)
if run is None or run["regions"] == [] or run["regions"][0]["calls"] == 0: sys.exit(1)
open("long.pid", "w").write(str(run["pid"]))
P
    sleep 0.1
  done
  "$kilter" top --once > top.txt
  kill -KILL "$(cat long.pid)" ||
    { fail "kilter top --json shows regions: $(cat top.json)"; kill $!; }
  wait $! 2> /dev/null
  grep -q "kilter run: .*/a b .*/long" top.txt && grep -q "members" top.txt ||
    fail "kilter top shows regions: $(cat top.txt)"
  expect "what was killed shows nothing" 0 "$("$kilter" top --once --json - | grep -c /long)"
fi
# Programs that run at once know of each other, and of one that was killed nothing is left to the
# other but its CPUs.
if [ -x long ] && [ "$(nproc)" -ge 2 ] && [ -w /dev/shm ]; then
  cpus_of() {  # PID: as `kilter top` has it
    "$kilter" top --once --json - | python3 -c 'import json, sys; print(*[len(s["cpus"]) for s in json.load(sys.stdin)["sharing"] if s["pid"] == int(sys.argv[1]) and s["program"].endswith("/long")])' "$1"
  }
  becomes() {  # WHAT EXPECTED COMMAND...: for far longer than it should take
    local what=$1 expected=$2
    shift 2
    for _ in $(seq 100); do
      [ "$("$@")" = "$expected" ] && return
      sleep 0.05
    done
    expect "$what" "$expected" "$("$@")"
  }
  "$kilter" run -- ./long & first=$!
  becomes "who is alone has all" "$(nproc)" cpus_of $first
  "$kilter" run -- ./long & second=$!
  becomes "of two, the first has half" "$((($(nproc) + 1) / 2))" cpus_of $first
  becomes "of two, the second has half" "$(($(nproc) / 2))" cpus_of $second
  "$kilter" top --once | grep -qE "$first .* /.*/long" || fail "kilter top shows who shares CPUs"
  "$kilter" run --no-sharing -- ./long & third=$!
  KILTER_SHARING=0 "$kilter" run -- ./long & fourth=$!
  sleep 0.5
  expect "--no-sharing, KILTER_SHARING=0" "" "$(cpus_of $third)$(cpus_of $fourth)"
  kill -KILL $third $fourth
  kill -KILL $second
  becomes "one that was killed leaves its CPUs" "$(nproc)" cpus_of $first
  expect "one that was killed is not there" "" "$(cpus_of $second)"
  kill -STOP $first
  becomes "one that was stopped is not there" "" cpus_of $first
  kill -CONT $first
  becomes "one that goes on is there" "$(nproc)" cpus_of $first
  kill -KILL $first
  wait 2> /dev/null
fi
# What a run told is used by the next one, unless the program is another by then.
if [ "$(nproc)" -ge 2 ]; then
  cp "$programs" "known program"
  on_pool() {
    OMP_NUM_THREADS=2 "$kilter" run --history "what is known" --json told.json -- \
      "./known program" stencil > out
    expect "the same result, with a history" "$plain" "$(cat out)"
    python3 -c 'import json; print(json.load(open("told.json"))["result"]["processes"][0]["regions"][0]["on_pool"])'
  }
  expect "a first run watches" 48 "$(on_pool)"
  expect "a second one need not" 50 "$(on_pool)"
  touch -d "2 seconds ago" "known program"
  expect "a program that was built again is watched again" 48 "$(on_pool)"
  [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 \( -name "*kilter-known-regions*" -o -name "*kilter-run*" \))" ] || fail "a file is left"
fi
# Who runs on when the run is over makes no file, and writes to none that somebody has put there.
on_and_on='echo "$KILTER_EXPLAIN" > where; (while [ ! -e go ]; do sleep 0.02; done; "$0" stencil; touch gone) > /dev/null 2>&1 &'
"$kilter" run --json told.json -- sh -c "$on_and_on" "$programs"
where=$(cat where)
[ -n "$where" ] && [ ! -e "${where%/*}" ] || fail "'$where' is left"
mkdir -m 0755 "${where%/*}"
echo precious > precious
ln -s "$work/a b c/precious" "$where"
touch go
for _ in $(seq 500); do [ -e gone ] && break; sleep 0.02; done
expect "what is planted is not followed" "precious $(basename "$where")" \
  "$(cat precious) $(ls "${where%/*}")"
rm -r "${where%/*}"
if [ "$(nproc)" -ge 2 ] && command -v addr2line > /dev/null; then
  ln -s "$folded" "a program"
  "$kilter" run --explain --json told.json --set OMP_NUM_THREADS=4 \
    --set OMP_WAIT_POLICY=passive -- "./a program" once > out 2> err
  expect "folded, the same result" "$("$folded" once)" "$(cat out)"
  line=$(grep -n 'omp parallel$' "$(dirname "$0")/../openmp/folded.cpp" | head -n 1 | cut -d: -f1)
  grep -qE "folded.cpp:($line|$((line + 1))) .* 4 members  on threads of Kilter" err ||
    fail "a region is named by its line, $line: $(cat err)"
  grep -q "/folded.cpp:$line\|/folded.cpp:$((line + 1))" told.json ||
    fail "JSON has the line: $(cat told.json)"
  # shellcheck disable=SC2123  # nothing is found there
  (PATH=/nonexistent; "$kilter" run --explain --set OMP_NUM_THREADS=4 -- "./a program" once > out \
    2> err)
  grep -q "a program+0x\|$(basename "$folded")+0x" err ||
    fail "without addr2line a region is named by its module: $(cat err)"
fi
printf 'int main(void) { int sum = 0;\n#pragma omp parallel for reduction(+ : sum)\nfor (int i = 0; i < 10; ++i) sum += i;\nreturn sum; }\n' > sanitized.c
for sanitizer in address thread; do
  gcc -fopenmp -fsanitize=$sanitizer sanitized.c -o sanitized 2> /dev/null ||
    continue   # it may be without
  TSAN_OPTIONS=report_bugs=0 ./sanitized > out 2> err
  [ $? = 45 ] || continue   # here it does not run by itself
  TSAN_OPTIONS=report_bugs=0 "$kilter" run --explain -- ./sanitized > out 2> err
  expect "with a sanitizer, $sanitizer" 45 $?
  grep -q "is linked with a sanitizer" err || fail "a sanitizer is named: $(cat err)"
done
"$kilter" run --explain -- true 2> err
grep -q "no parallel region of OpenMP was seen" err || fail "a program without regions: $(cat err)"
finish
