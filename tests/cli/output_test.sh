#!/bin/bash
# What is written is whole or not there, what is lost is said, and a message that nobody can read
# changes nothing else.
. "$(dirname "$0")/checks.sh"

short=(compare layered --on sim:jetson-tx2 --policy rws --tasks 50 --parallelism 2 --repeat 1)
mkfifo "$work/gone"
exec 7<>"$work/gone" 8>"$work/gone" 7>&-   # writing to 8: its reader has gone

# ends STATUS REDIRECTION ARGS...: kilter ARGS with its standard output and error redirected so.
ends() {
  local expected=$1 to=$2 status
  shift 2
  eval 'run "$@" '"$to"
  status=$?
  [ "$status" -eq "$expected" ] || fail "kilter $* $to: exit status $status, expected $expected"
}
run() { timeout 60 "$kilter" "$@" </dev/null; }

# Messages that standard error does not take.
for wrong in bnech "compare layered --policy nonsense" "lab platforms nonsense" "lab explain $work/none" "graph info $work/none"; do
  read -ra words <<<"$wrong"
  for to in '2>/dev/full' '2>&-' '2>&8'; do ends 2 "$to" "${words[@]}"; done
done
for wrong in "lab balance" "lab sym" "lab sym -- /nowhere/program"; do
  read -ra words <<<"$wrong"
  expected=$([ "${#words[@]}" -gt 2 ] && echo 127 || echo 125)
  for to in '2>/dev/full' '2>&-' '2>&8'; do ends "$expected" "$to" "${words[@]}"; done
done
printf 'digraph { a [size="5"]; a -> b }' >"$work/guessed.dot"
for to in '2>/dev/full' '2>&-' '2>&8'; do
  ends 0 "$to" graph convert "$work/guessed.dot" --to json -o "$work/guessed.json"
done

# Output that standard output does not take: status 1 and one line; none where the reader has gone,
# as head does.
loses() {
  local where=$1 why=$2
  shift 2
  case $where in
    full) run "$@" >/dev/full 2>"$work/err" ;;
    closed) run "$@" >&- 2>"$work/err" ;;
    gone) run "$@" >&8 2>"$work/err" ;;
  esac
  local status=$?
  [ "$status" -eq 1 ] || fail "kilter $*, standard output $where: exit status $status, expected 1"
  [ "$(cat "$work/err")" = "${why:+kilter: cannot write standard output: $why}" ] ||
    fail "kilter $*, standard output $where: says $(head -c 300 "$work/err")"
}
for command in --help --version "compare --help" "lab platforms" "lab platforms jetson-tx2" "lab policies" topo "topo --json -" "lab reproduce --list" "graph make cholesky:n=3" "graph info cholesky:n=3" \
  "graph draw cholesky:n=3" "top --once" "top --json -" "${short[*]} --quiet" "${short[*]} --quiet --json -" "compare cholesky:n=3 --on sim:jetson-tx2 --repeat 1 --quiet"; do
  read -ra words <<<"$command"
  loses full "No space left on device" "${words[@]}"
  loses closed "Bad file descriptor" "${words[@]}"
  loses gone "" "${words[@]}"
done
ends 1 '>/dev/full 2>/dev/full' lab platforms
ends 1 '>&8 2>&8' lab platforms

# A pipe that does not wait, and whose reader is slow.
python3 -c '
import json, os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
p = subprocess.Popen([sys.argv[1], "graph", "make", "layered:tasks=20000,p=8"], stdout=w)
os.close(w)
time.sleep(0.3)
text = open(r, "rb").read()
assert p.wait() == 0 and len(json.loads(text)["tasks"]) == 20000' "$kilter" 2>"$work/err" || fail "a pipe that does not wait: $(tail -n 1 "$work/err")"

# One output that is lost does not cost the others, and nothing else gets into a file because a
# descriptor was free.
for closed in '>/dev/full' '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
  rm -f "$work/result.json"
  eval "run \"\${short[@]}\" --json \"\$work/result.json\" >\"\$work/out\" $closed" 2>"$work/err"
  python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["schema"] == "kilter.compare/2"' "$work/result.json" 2>"$work/python" ||
    fail "with $closed the JSON is not whole: $(tail -n 1 "$work/python")"
done

# A disk that is full keeps the old file.
keeps() {
  local file=$1 said status
  shift
  printf 'old and whole\n' >"$file"
  said=$( (trap '' XFSZ; ulimit -f 0; run "$@" 2>&1 >/dev/null) )
  status=$?
  { [ "$status" -eq 1 ] || [ "$status" -eq 2 ] || [ "$status" -eq 125 ]; } ||
    fail "kilter $*, disk full: exit status $status"
  [[ $said == *"File too large"* ]] || fail "kilter $*, disk full: says '$said'"
  [ "$(cat "$file")" = 'old and whole' ] ||
    fail "kilter $*, disk full: the old file is gone: $(head -c 100 "$file")"
}
mkdir "$work/disk"
disk=$work/disk
keeps "$disk/json" "${short[@]}" --quiet --json "$disk/json"
keeps "$disk/trace" "${short[@]}" --quiet --trace "$disk/trace"
keeps "$disk/table" "${short[@]}" --quiet --save-table "$disk/table"
keeps "$disk/table" compare layered --tasks 50 --parallelism 2 --repeat 1 --policy dam-c --quiet \
  --save-table "$disk/table"
keeps "$disk/graph" graph make cholesky:n=3 -o "$disk/graph"
keeps "$disk/svg" graph draw cholesky:n=3 -o "$disk/svg"
keeps "$disk/sym" lab sym --quiet --json "$disk/sym" -- true
said=$( (trap '' XFSZ; ulimit -f 0; run "${short[@]}" --save-table "$disk/table" 2>/dev/null) )
[[ $said == *"undisturbed"* ]] || fail "a table that cannot be saved costs the measurement: $said"
[ "$(cd "$disk" && echo *)" = "graph json svg sym table trace" ] ||
  fail "files are left behind: $(ls "$disk")"

# Observations: nothing of them is there before all are, and a disk that is full is noticed.
printf 'old and whole\n' >"$work/record"
run lab balance --quiet --record "$work/record" -- cat "$work/record" >"$work/out" 2>"$work/err" ||
  fail "--record: $(cat "$work/err")"
[ "$(cat "$work/out")" = 'old and whole' ] ||
  fail "--record: the old file was gone while the program ran"
grep -q '"schema"' "$work/record" ||
  fail "--record: nothing was recorded: $(head -c 200 "$work/record")"
run lab balance --quiet --record /dev/full -- true 2>"$work/err"
[ $? -eq 125 ] && grep -qF "No space left on device" "$work/err" ||
  fail "--record on a full disk: $(cat "$work/err")"

# Whoever is ended while he writes leaves nothing behind.
mkdir "$work/ended"
"$kilter" graph make layered:tasks=300000,p=8 -o "$work/ended/graph.json" 2>/dev/null &
writer=$!
while kill -0 "$writer" 2>/dev/null &&
  ! readlink /proc/$writer/fd/* 2>/dev/null | grep -qF "$work/ended/"; do
  :
done
kill -TERM "$writer" 2>/dev/null
wait "$writer" 2>/dev/null
left=$(cd "$work/ended" && find . -mindepth 1 ! -name graph.json)
[ -z "$left" ] || fail "whoever was ended left $left"

# Where a link of somebody else lies, nothing is written through it.
ln -s "$work/ended/not-mine" "$work/ended/link"
passes graph make cholesky:n=3 -o "$work/ended/link"
[ ! -e "$work/ended/not-mine" ] || fail "a file was made where a planted link points to"

# Programs that change their directory remember in the one in which Kilter was started.
mkdir "$work/start" "$work/elsewhere"
printf '1\n' >"$work/start/lengths"
threads='import os, sys, threading, time; os.chdir(sys.argv[1]); t = threading.Thread(target=sum, args=(range(10**6),)); t.start(); t.join(); time.sleep(0.3)'
(cd "$work/start" &&
  run lab balance --quiet --policy ljfpf --fast 0, --history past -- \
  python3 -c "$threads" "$work/elsewhere") 2>"$work/err" ||
  fail "a relative --history: $(cat "$work/err")"
[ -s "$work/start/past" ] || fail "a relative --history is not in the directory in which Kilter was started: $(ls "$work/start" "$work/elsewhere")"
(cd "$work/start" &&
  run lab balance --quiet --policy ljfpf --fast 0, --lengths @lengths -- \
  python3 -c "$threads" "$work/elsewhere") 2>"$work/err"
[ ! -s "$work/err" ] || fail "a relative --lengths @FILE: $(cat "$work/err")"

# Programs that Kilter starts end as they would without it when nobody reads what they write.
ends 141 '' lab sym --quiet -- sh -c 'kill -PIPE $$'

# What the system refuses is said together with what was wanted.
said=$( (ulimit -v 400000; run compare layered --on sim:jetson-tx2 --tasks 20000000 --quiet 2>&1 >/dev/null) )
[ $? -eq 1 ] || fail "no memory: another exit status"
[[ $said == *"not enough memory for 'kilter compare layered"* ]] || fail "no memory: says '$said'"
said=$( (ulimit -s 4000000; ulimit -v 3000000; run compare layered --tasks 50 --parallelism 2 --repeat 1 --quiet 2>&1 >/dev/null) )
[ $? -eq 1 ] || fail "no thread: another exit status"
[[ $said == *"no thread can be started for 'kilter compare layered"* ]] ||
  fail "no thread: says '$said'"
# However many threads there are to be had, it is one or the other: done, or said.
for most in 1500000 2500000 3500000 4500000 5500000; do
  (ulimit -s 1000000; ulimit -v $most; run compare layered --tasks 50 --parallelism 2 --repeat 1 \
    --cores 2 --quiet) >"$work/out" 2>"$work/err"
  status=$?
  { [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ]; }; } ||
    fail "$most KiB for threads: exit status $status: $(head -c 300 "$work/err")"
  (ulimit -s 1000000; ulimit -v $most; run lab reproduce matrix --graphs qr,lu,fft \
    --on sim:jetson-tx2 --policy rws --disturb none --tasks 100 --seeds 1 --threads 8 --quiet) \
    >"$work/out" 2>"$work/err"
  status=$?
  { [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ]; }; } ||
    fail "$most KiB for helpers: exit status $status: $(head -c 300 "$work/err")"
done

finish
