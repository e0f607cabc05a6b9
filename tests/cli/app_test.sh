#!/bin/bash
# shellcheck disable=SC2317  # a program's function is called by the name of the program
# Usage: app_test.sh KILTER PROGRAM: what `kilter lab app PROGRAM` computes, under every model
# alike, what it reads and writes, and what it refuses before anything is written.
. "$(dirname "$0")/checks.sh"
program=$2
cd "$work" || exit 1

# As `passes` and `refuses`, of this program. What is refused would write a file `never`.
app() { passes lab app "$program" "$@"; }
never() {
  local text=$1
  shift
  refuses "$text" lab app "$program" "$@" --output never
}
# names OPTION...: of those it says which words there are, or what is missing.
names() {
  local option
  for option; do
    case $option in
      size) never "there are small, medium, large, native" --size tiny ;;
      cut) never "there are loop, tasks" --cut rows ;;
      graph) refuses "add --cut tasks" lab app "$program" --record-graph never ;;
    esac
  done
}
# alike: every run has come to the same result.
alike() { json 'len({r["fingerprint"] for r in d["runs"]}) == 1'; }

# Programs verify themselves under every model, and refuse what they cannot read before anything is
# written.
kmeans() {
  app --model all --policy auto,dam-c --repeat 2 --disturb share@0:50% --json - --quiet
  json 'd["schema"] == "kilter.app/1" and len(d["runs"]) == 2 * 2 * 9 and
    d["environment"]["complete"]'
  json 'len({r["iterations"] for r in d["runs"]}) == 1 and
    all(r["tasks"] == 80 * r["iterations"] and r["seconds"] > 0 for r in d["runs"])'
  json '{s["model"] for s in d["summary"]} == {"serial", "static", "loop-static", "loop-dynamic", "omp-task", "tbb-loop", "task", "kilter auto", "kilter dam-c"}'
  app --cut tasks --json tasks.json
  says "kilter auto"
  python3 -c 'import json; d = json.load(open("tasks.json")); assert d["config"]["cut"] == "tasks" and len(d["runs"][0]["fingerprint"]) == 16' || fail "tasks.json"

  # the graph of its tasks: read, simulated, and made again
  app --cut tasks --iterations 3 --changed 0 --repeat 1 --record-graph kmeans.json \
    --json recorded.json
  says "graph: kmeans.json, 248 tasks and 484 edges, recorded on one core"
  python3 -c 'import json; d = json.load(open("recorded.json")); assert d["recorded_graph"] == {"file": "kmeans.json", "tasks": 248, "edges": 484}' || fail "recorded.json"
  python3 -c 'import json; d = json.load(open("kmeans.json")); assert d["schema"] == "kilter.graph/1" and [t["name"] for t in d["types"]] == ["iterate", "assign"]' || fail "kmeans.json"
  passes graph info kmeans.json
  says "assign 240 tasks"
  passes compare kmeans.json --on sim:haswell-16 --policy rws,auto --repeat 1 --json - --quiet
  json 'e["config"]["tasks"] == 248 and len(e["runs"]) == 2'
  passes compare kmeans.json --on sim:haswell-16 --policy rws,heft --repeat 1

  # a picture: two colours come back as two colours
  printf 'P6\n2 2\n255\n\x00\x00\x00\x0a\x0a\x0a\xc8\x00\x00\xdc\x00\x00' >two.ppm
  app --input two.ppm --clusters 2 --seed 2 --output "a b.png" --quiet
  app --input "a b.png" --clusters 2 --seed 2 --output again.png --quiet
  cmp -s "a b.png" again.png || fail "a picture of two colours is not the same again"

  # a table: centres, then the cluster of each row
  printf 'x,y\n0,0\n0,2\n50,50\n50,52\n' >table.csv
  app --input table.csv --clusters 2 --output clusters.csv --quiet
  [ "$(grep -c centre clusters.csv)" = 2 ] && [ "$(wc -l <clusters.csv)" = 6 ] ||
    fail "clusters.csv: $(cat clusters.csv)"

  # numbers of any size, with all their digits
  printf '%s\n' 1e-20,0 3e-20,0 -20e-20,1e-20 -24e-20,1e-20 >tiny.csv
  app --input tiny.csv --clusters 2 --seed 3 --changed 0 --output tiny.out --quiet
  awk -F, '/centre/ { x = $2 * 1e20; if ((x - 2) ^ 2 < 1e-6 || (x + 22) ^ 2 < 1e-6) found++ } END { exit found != 2 }' tiny.out || fail "centres of tiny numbers: $(head -2 tiny.out)"

  # One output that is lost does not cost the others.
  timeout 60 "$kilter" lab app kmeans --cut tasks --repeat 1 --json /dev/full --output kept.csv \
    --record-graph kept.json --quiet >out 2>err </dev/null
  [ $? = 1 ] && [ "$(cat err)" = "kilter: cannot write /dev/full: No space left on device" ] ||
    fail "a full disk: $(cat err)"
  [ -s kept.csv ] && [ -s kept.json ] ||
    fail "the JSON was lost, and with it the result or the graph"

  # A run that takes long says so while it goes on. Ctrl-C then ends it, and what was there before
  # is as it was.
  printf 'old and whole\n' >old.csv
  python3 - "$kilter" <<'EOF' || fail "progress and Ctrl-C on a terminal"
import os, pty, signal, subprocess, sys, time
ours, theirs = pty.openpty()
run = subprocess.Popen([sys.argv[1], "lab", "app", "kmeans", "--size", "medium", "--iterations", "1000000", "--changed", "0", "--clusters", "200", "--repeat", "1",
                        "--output", "old.csv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
os.close(theirs)
said = b""
while b"kilter auto, undisturbed, repeat 1" not in said:
    said += os.read(ours, 1000)
assert run.poll() is None, "the line came when the run was over"
run.send_signal(signal.SIGINT)
out = run.communicate(timeout=60)[0]
assert run.returncode == 130, run.returncode
assert b"No run was finished" in out, out
EOF
  [ "$(cat old.csv)" = "old and whole" ] ||
    fail "Ctrl-C cost an older result: $(head -c 100 old.csv)"

  head -c 20 two.ppm >cut.ppm
  head -c 30 "a b.png" >cut.png
  printf '1,2\n3\n' >ragged.csv
  printf '1,nan\n' >nan.csv
  printf 'nan\n1\n2\n3\n4\n5\n' >first.csv
  printf '1,,3\n4,5,\n,7,8\n' >holes.csv
  printf 'P5\n2 2\n255\n0000' >grey.pgm
  printf '\xff\xd8\xff\xe0\x00\x10JFIF' >photo.jpg
  : >empty.csv
  for file in cut.ppm cut.png ragged.csv nan.csv first.csv holes.csv grey.pgm photo.jpg empty.csv missing.csv .; do
    never "'$file'" --input "$file"
  done
  never "there are 4 points" --input table.csv --clusters 5
  never "from 0 to 1" --changed nan
  never "did you mean 'kilter'?" --model kiltr
  never "unknown policy 'dam'" --policy dam
  refuses "there is no directory" lab app kmeans --output no/such/folder
  refuses "--json writes there already" lab app kmeans --json same --output same
  refuses "--json writes there already" lab app kmeans --cut tasks --json same --record-graph same
  refuses "--json writes there already" lab app kmeans --json same --output ./same
  refuses "name a file" lab app kmeans --output -
  refuses "--output writes there already" lab app kmeans --cut tasks --output same \
    --record-graph same
  refuses "name a file" lab app kmeans --cut tasks --record-graph -
  refuses "there is no directory" lab app kmeans --cut tasks --record-graph no/such/folder
  refuses "one of kmeans" lab app
  names size cut graph
}

# Right under every model, tables in and out, and bad ones refused by line.
blackscholes() {
  app --model all --repeat 1 --json - --quiet
  json 'len(d["runs"]) >= 7 and
    all(r["tasks"] == 20 * 64 and r["iterations"] == 20 for r in d["runs"])'
  alike
  app --cut tasks --block-size 1024 --runs 2 --repeat 1 --json - --quiet
  json 'all(r["tasks"] == 2 * 9 for r in d["runs"]) and d["config"]["block_size"] == 1024'
  app --cut tasks --runs 3 --tasks 8 --repeat 1 --record-graph graph.json --quiet
  passes graph info graph.json
  says "price 24 tasks"

  printf 'spot,strike,rate,volatility,years,type\n100,100,.05,.2,1,C\n100,100,.05,.2,1,P\n' >two.csv
  app --input two.csv --runs 1 --output prices.csv --quiet
  [ "$(cut -c1-28 prices.csv | sed -n 2p)" = "100,100,0.05,0.2,1,C,10.4505" ] &&
    [ "$(wc -l <prices.csv)" = 3 ] || fail "prices.csv: $(cat prices.csv)"

  printf '100,100,.05,.2,1,C\n100,100,5,.2,1,C\n' >percent.csv
  printf '100,100,.05,.2,1\n' >short.csv
  : >empty.csv
  never "'percent.csv', line 2: rate '5'" --input percent.csv
  never "'short.csv', line 1: it has 5 fields" --input short.csv
  never "'empty.csv' has none" --input empty.csv
  never "'missing.csv'" --input missing.csv
  never "--block-size 3: there are 2 options" --input two.csv --block-size 3
  never "--tasks" --tasks 0
  names size cut graph
}

# The same poses under every model, in order and independent, and a body that is lost is said to be.
bodytrack() {
  for order in in-order independent; do
    app --model all --frames-order $order --repeat 1 --json - --quiet
    json 'all(r["tasks"] > 0 and r["seconds"] > 0 for r in d["runs"])'
    alike
    json "d['config']['frames_order'] == '$order' and d['config']['particles'] == 100 and
      d['config']['tasks'] == 8"
  done
  app --repeat 1 --output "a b.csv"
  says "cm from the right ones"
  [ "$(wc -l <"a b.csv")" = 7 ] && head -1 "a b.csv" | grep -q '^frame,x,y,z,heading' ||
    fail "a b.csv: $(head -1 "a b.csv")"
  app --repeat 1 --record-graph bodytrack.json --quiet
  passes graph info bodytrack.json
  says "resample 24 tasks"

  timeout 60 "$kilter" lab app bodytrack --frames 20 --particles 1 --layers 1 --tasks 1 --repeat 1 \
    --quiet >out 2>err </dev/null
  [ $? = 1 ] && grep -q "from the right one" out err ||
    fail "one particle followed the body: $(cat out err)"

  never "there are in-order, independent" --frames-order backwards
  never "--particles" --particles 0
  never "--tasks 101: write 1 to 100" --tasks 101
  never "--width" --width 10
  names size
}

# The same under every model and with any number of tasks; a netlist is read and placed; what it
# refuses.
canneal() {
  app --model all --repeat 1 --json - --quiet
  json 'd["schema"] == "kilter.app/1"'
  alike
  json 'all(r["iterations"] == 64 and r["tasks"] == 64 * 8 for r in d["runs"])'
  app --elements 500 --steps 30 --swaps 50 --tasks 3 --repeat 1 --output three.txt --quiet
  app --elements 500 --steps 30 --swaps 50 --tasks 5 --cut tasks --repeat 1 --output five.txt
  says "length of all wires: "
  cmp -s three.txt five.txt || fail "the placement depends on the number of tasks"
  [ "$(cut -d ' ' -f 2,3 three.txt | sort -u | wc -l)" = 500 ] ||
    fail "500 elements have no 500 places"

  # a ring whose best placement is known: no diagonals
  printf '4\t2\t2\na 1 d END\nb 1 c END\nc 1 a END\nd 1 b END\n' >ring.nets
  app --input ring.nets --steps 60 --swaps 20 --temperature 5 --repeat 1 --output ring.txt
  says "6 before, 4 after"
  [ "$(cut -d ' ' -f 1 ring.txt | tr '\n' ' ')" = "a b c d " ] || fail "ring.txt: $(cat ring.txt)"

  printf '4 2 2\na 1 b END\nb 1 x END\nc 1 END\nd 1 END\n' >unknown.nets
  printf '2 2 1\na 1 b\nb 1 END\n' >open.nets
  printf '5 2 2\n' >narrow.nets
  : >empty.nets
  never "'unknown.nets', line 3: there is no element 'x'" --input unknown.nets
  never "'open.nets', line 2: the line does not end with END" --input open.nets
  never "'narrow.nets', line 1: 2 x 2 places" --input narrow.nets
  never "'empty.nets' is empty" --input empty.nets
  never "'missing.nets'" --input missing.nets
  never "leave it out" --input ring.nets --elements 20
  never "16 or more" --elements 2
  never "finite number above 0" --temperature nan
  names size cut graph
}

# Packs and restores files, and loses nothing when an archive is broken or a disk is full.
dedup() {
  app --model all --repeat 1 --json - --quiet
  json 'd["environment"]["complete"] and len(d["runs"]) == 8'
  alike
  json 'all(r["tasks"] == 5 * r["iterations"] for r in d["runs"]) and
    d["config"]["bytes"] == 1000000'
  app --stages fused --model serial,kilter --repeat 1 --json - --quiet
  json 'all(r["tasks"] == 3 * r["iterations"] for r in d["runs"])'

  # a file, and back
  cat "$kilter" "$kilter" | head -c 3000000 >"a b"
  app --input "a b" --output "a b.dedup" --block 256 --repeat 2 --quiet
  app --extract "a b.dedup" --output back
  says "3000000 bytes"
  cmp -s "a b" back || fail "what was restored is not what was packed"
  app --input "a b" --output fused.dedup --block 256 --stages fused --model static --repeat 1 \
    --quiet
  cmp -s "a b.dedup" fused.dedup || fail "fused stages make another archive"

  # a reader that others wrote
  command -v python3 >/dev/null && { python3 - <<'PY' || fail "the archive is not as it is described"; }
import hashlib, struct, zlib
data, at, firsts, pieces = open("a b.dedup", "rb").read(), 8, [], []
assert data[:8] == b"KDEDUP\0\1"
def check(end):
    assert zlib.crc32(data[at:end]) == struct.unpack_from("<I", data, end)[0]
    return end + 4
while data[at:at + 1] != b"E":
    if data[at:at + 1] == b"U":
        length, packed = struct.unpack_from("<II", data, at + 1)
        piece = zlib.decompress(data[at + 41:at + 41 + packed])
        assert len(piece) == length and hashlib.sha256(piece).digest() == data[at + 9:at + 41]
        firsts.append(piece)
        at = check(at + 41 + packed)
    else:
        assert data[at:at + 1] == b"R"
        piece = firsts[struct.unpack_from("<Q", data, at + 1)[0]]
        at = check(at + 9)
    pieces.append(piece)
assert struct.unpack_from("<QQ", data, at + 1) == (3000000, len(pieces))
assert data[at + 17:at + 49] == hashlib.sha256(b"".join(hashlib.sha256(p).digest() for p in pieces)).digest()
assert check(at + 49) == len(data) and b"".join(pieces) == open("a b", "rb").read()
PY

  # broken archives, full disks, and files that are input and output at once
  head -c 100000 "a b.dedup" >cut.dedup
  printf 'old and whole\n' >kept
  refuses "archive 'cut.dedup': byte " lab app dedup --extract cut.dedup --output kept
  refuses "no archive of kilter lab app dedup" lab app dedup --extract "a b" --output kept
  [ "$(cat kept)" = "old and whole" ] || fail "a broken archive cost an older file"
  for where in "--input" "--extract"; do
    refuses "$where reads it" lab app dedup "$where" "a b.dedup" --output ./"a b.dedup"
  done
  timeout 60 "$kilter" lab app dedup --extract "a b.dedup" --output /dev/full >out 2>err </dev/null
  [ $? = 1 ] && [ "$(cat err)" = "kilter: cannot write /dev/full: No space left on device" ] ||
    fail "a full disk: $(cat err)"
  [ -z "$(find . -name "*part*")" ] || fail "half a file was left: $(ls -A)"
  : >empty
  app --input empty --output empty.dedup --repeat 1 --quiet
  app --extract empty.dedup --output nothing --quiet
  [ -e nothing ] && [ ! -s nothing ] || fail "nothing does not come back as nothing"

  never "is a directory" --input .
  never "No such file" --input missing
  never "no regular file" --input /dev/zero
  refuses "name the file" lab app dedup --extract "a b.dedup"
  refuses "--model: it says nothing to --extract" lab app dedup --extract "a b.dedup" \
    --output never --model serial
  refuses "there are separate, fused" lab app dedup --stages both
  refuses "64 to 65536 KiB" lab app dedup --block 1
  refuses "there is no directory" lab app dedup --output no/such/folder
}

# The same face under every model, whose surface is written.
facesim() {
  app --model all --frames 2 --tetrahedra 600 --repeat 1 --json - --quiet
  json 'all(r["tasks"] % 8 == 0 and r["seconds"] > 0 for r in d["runs"])'
  alike
  json 'd["config"]["tetrahedra"] == 600 and d["config"]["frames"] == 2 and
    d["config"]["partitions"] == 8'
  app --repeat 1 --output "a b.obj"
  says "3000 tetrahedra"
  says "Newton steps"
  grep -q '^v ' "a b.obj" && grep -q '^f ' "a b.obj" || fail "no surface: $(head -3 "a b.obj")"
  app --tetrahedra 600 --frames 1 --partitions 3 --cut tasks --repeat 1 \
    --record-graph facesim.json --quiet
  passes graph info facesim.json
  says "product"

  never "--tetrahedra" --tetrahedra 100
  never "--frames" --frames 0
  never "--partitions 4000: write 1 to" --partitions 4000
  names size cut graph
}

# Pictures that look alike, drawn or in folders.
ferret() {
  for form in pipeline tasks; do
    app --form $form --model all --repeat 1 --json - --quiet --output $form.csv
    json 'd["environment"]["complete"] and len(d["runs"]) == 8'
    alike
    json 'all(r["iterations"] == 24 and r["tasks"] == 6 * 24 for r in d["runs"]) and
      d["config"]["pictures"] == 200'
  done
  cmp -s pipeline.csv tasks.csv || fail "the two forms find other pictures"
  [ "$(head -1 pipeline.csv)" = "query,rank,picture,distance" ] &&
    [ "$(wc -l <pipeline.csv)" = 241 ] || fail "pipeline.csv: $(head -3 pipeline.csv)"
  [ "$(sed -n 2p pipeline.csv)" = "picture 0,1,picture 0,0" ] ||
    fail "a picture does not find itself: $(sed -n 2p pipeline.csv)"

  # folders: a red picture finds the red one, whatever its size
  plain() {
    printf 'P6\n%s %s\n255\n' "$1" "$1"; for _ in $(seq $(($1 * $1))); do printf "$2"; done
  }
  mkdir photos new empty broken
  plain 8 '\xf0\x05\x05' >"photos/red, large.ppm"
  plain 8 '\x05\x05\xf0' >photos/blue.ppm
  plain 8 '\x05\xf0\x05' >photos/green.ppm
  plain 4 '\xf0\x05\x05' >new/red.ppm
  head -c 20 photos/blue.ppm >broken/cut.ppm
  app --input new --database photos --top 1 --repeat 1 --output alike.csv --quiet
  [ "$(tail -1 alike.csv)" = 'red.ppm,1,"red, large.ppm",0' ] || fail "alike.csv: $(cat alike.csv)"

  never "--input 'empty': no picture is in this folder" --input empty
  never "--database 'missing': the folder cannot be read" --database missing
  never "cut.ppm' ends early" --database broken
  never "there are pipeline, tasks" --form graph
  names size
}

# Right under every model, as many tasks as S1 counts, a point cloud, and refusals.
fluidanimate() {
  app --model all --repeat 2 --json - --quiet
  json 'len(d["runs"]) == 2 * 8 and d["environment"]["complete"]'
  alike
  json 'all(r["tasks"] == 20 * (257 if r["model"].split()[0] in ("kilter", "task") else 256) for r in d["runs"])'
  app --model kilter,static --joins phase --cut tasks --frames 3 --repeat 1 --json - --quiet
  json 'all(r["tasks"] == 3 * 256 for r in d["runs"]) and d["config"]["joins"] == "phase"'

  app --particles 500 --frames 10 --divisions 4 --output "a b.ply"
  says "500 particles in 2 x 2 blocks, 10 frames"
  says "mean density"
  [ "$(head -c 3 "a b.ply")" = ply ] && [ "$(tail -c +"$(($(grep -abo end_header "a b.ply" | cut -d: -f1) + 12))" "a b.ply" | wc -c)" = $((500 * 28)) ] || fail "a b.ply is no point cloud of 500"

  # 8 phases of 4 blocks and the end of the frame, twice
  app --particles 500 --frames 2 --divisions 4 --repeat 1 --record-graph water.json
  says "graph: water.json, 66 tasks and "
  passes graph info water.json
  says "accelerations 8 tasks"

  never "write a power of two" --divisions 12
  never "so write 32 or less" --particles 1500 --divisions 64
  never "write a number from 100" --particles 99
  never "did you mean 'phase'?" --joins phases
  refuses "add --cut tasks" lab app fluidanimate --joins phase --record-graph never
  never "--particles" --particles 99999999999
  names size cut
}

# Right under every model, on one computer and on four ranks of Open MPI; a rank that dies ends all,
# and a checkpoint goes on as if nothing had been.
heat() {
  app --model all --disturb share@0:50% --repeat 2 --json - --quiet
  json 'len(d["runs"]) == 2 * 8 * d["config"]["repeat"] and d["environment"]["complete"]'
  alike
  app --output "a b.plate" --quiet
  app --input "a b.plate" --steps 250 --output warm.png
  says "256 x 256 points, 50 steps"
  [ "$(file -b --mime-type warm.png)" = image/png ] || fail "warm.png is no picture"
  app --input warm.png --steps 20 --quiet

  # Memory does not grow with the number of tasks, here 800,000.
  app --blocks 64x64 --repeat 1 --json - --quiet
  json 'd["runs"][0]["tasks"] == 64 * 64 * 200 and d["most_bytes"] < 200e6'

  head -c 1000 "a b.plate" >cut.plate
  : >empty.plate
  for file in cut.plate empty.plate missing.plate .; do never "'$file'" --input "$file"; done
  for steps in 100 200; do never "has already made 200" --input "a b.plate" --steps $steps; done
  for blocks in 8 0x1 8x 8x1x1 -1x1 99999x1; do never "--blocks '$blocks'" --blocks="$blocks"; done
  never "fewer blocks" --blocks 300x1
  never "did you mean 'grid'?" --layout gird
  never "did you mean 'join'?" --exchange joined
  never "at most 200000 are taken" --size native --blocks 9999x9999
  refuses "there is no directory" lab app heat --checkpoint no/such/folder
  refuses "--output writes there already" lab app heat --output never --checkpoint never
  refuses "--json writes there already" lab app heat --json never --checkpoint never
  refuses "--checkpoint writes there already" lab app heat --record-graph never --checkpoint never
  refuses "name a file" lab app heat --checkpoint -

  if ! command -v mpirun >/dev/null; then
    refused=$(OMPI_COMM_WORLD_SIZE=2 "$kilter" lab app heat 2>&1) &&
      fail "a rank without MPI ran alone"
    grep -q "cannot join" <<<"$refused" || fail "a rank without MPI says '$refused'"
    return
  fi

  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
  if ! timeout 60 mpirun --oversubscribe -n 2 true >out 2>err </dev/null; then
    echo "mpirun starts nothing here, so ranks are tested as threads only (unit_programs): $(head -c 300 err)"
    return
  fi
  # in_ranks COUNT ARGS...: as `passes`, but as so many ranks.
  in_ranks() {
    local count=$1
    shift
    timeout 300 mpirun --oversubscribe -n "$count" "$kilter" "$@" >"$work/out" 2>"$work/err" \
      </dev/null || fail "$count ranks of kilter $*: $(head -c 600 "$work/err")"
  }
  fingerprints() {
    python3 -c 'import json, sys; print(*sorted({r["fingerprint"] for f in sys.argv[1:] for r in json.load(open(f))["runs"]}))' "$@"
  }
  app --json alone.json --quiet
  in_ranks 4 lab app heat --json rows.json --quiet
  in_ranks 4 lab app heat --layout grid --exchange join --model kilter,static \
    --disturb share@0:20% --json grid.json --quiet
  in_ranks 3 lab app heat --policy dam-c --blocks 3x4 --json three.json --quiet
  [ "$(fingerprints alone.json rows.json grid.json three.json | wc -w)" = 1 ] ||
    fail "ranks give another field"
  in_ranks 2 lab app heat
  grep -q "2 ranks (2 x 1)" out || fail "ranks are not told of: $(cat out)"
  grep -q $'\033' out && fail "colour in a file"

  for input in "--input missing.plate" "--blocks 100x1" "--policy dam"; do
    # shellcheck disable=SC2086  # words
    timeout 60 mpirun --oversubscribe -n 4 "$kilter" lab app heat $input >out 2>err </dev/null
    status=$?
    [ "$status" = 2 ] || fail "four ranks, $input: exit status $status"
    [ "$(grep -c '^kilter: ' err)" = 1 ] ||
      fail "four ranks, $input: not one line of ours: $(cat err)"
  done

  # A rank dies; from what was kept all go on to the same end.
  steps=20000
  app --steps $steps --repeat 1 --json undisturbed.json --quiet
  timeout 120 mpirun --oversubscribe -n 4 "$kilter" lab app heat --steps $steps \
    --checkpoint "$work/kept.plate" --checkpoint-every 50 --quiet >out 2>err </dev/null &
  job=$!
  for _ in $(seq 600); do [ -e kept.plate ] && break; sleep 0.1; done
  kill -9 "$(pgrep -f "^$kilter lab app heat .*$work/kept" | tail -1)" ||
    fail "no rank to kill: $(cat out err)"
  wait $job && fail "three of four ranks went on"
  tr "\n" " " <err | grep -qE "(mpi|prte)run noticed that process rank . .* exited on +signal 9" ||
    fail "nobody says which rank died: $(cat err)"
  pgrep -f "^$kilter lab app heat .*$work/kept" >/dev/null && fail "a rank is left"
  app --input kept.plate --steps $steps --repeat 1 --json continued.json --quiet
  [ "$(fingerprints undisturbed.json continued.json | wc -w)" = 1 ] ||
    fail "what was continued has another end"
}

# The same under every model; centres of a table; what it refuses.
streamcluster() {
  app --points 200 --blocks 2 --dimensions 4 --centres 2..4 --divisions 3 --model all --repeat 1 \
    --json - --quiet
  json 'd["schema"] == "kilter.app/1" and len({r["iterations"] for r in d["runs"]}) == 1'
  alike
  json 'd["config"]["points"] == 200 and d["config"]["rows"] == 400 and
    all(r["tasks"] % 3 == 0 for r in d["runs"])'
  app --points 200 --blocks 2 --dimensions 4 --centres 2..4 --cut tasks --repeat 1
  says "centres: "

  # two groups, each of three rows
  printf 'x,y\n0,0\n50,50\n0,1\n50,51\n0,2\n50,52\n' >table.csv
  app --input table.csv --centres 2..2 --repeat 1 --output centres.csv --quiet
  [ "$(grep -c '^centre,3,' centres.csv)" = 2 ] && [ "$(wc -l <centres.csv)" = 8 ] ||
    fail "centres.csv: $(cat centres.csv)"
  [ "$(tail -6 centres.csv | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = "3 3 " ] ||
    fail "rows of centres.csv: $(tail -6 centres.csv)"

  printf '1,2\n3\n' >ragged.csv
  never "'ragged.csv', line 2" --input ragged.csv
  never "'missing.csv'" --input missing.csv
  never "there are 6 points" --input table.csv
  never "leave it out" --input table.csv --blocks 2
  never "leave it out" --input table.csv --dimensions 2
  never "write LEAST..MOST" --centres 20..10
  never "write LEAST..MOST" --centres 12
  never "a block needs more points than the 20 centres" --points 20
  never "make one of them smaller" --points 100000000 --blocks 1000000
  names size cut graph
}

# Right under every model, prices as a table, and bad numbers refused.
swaptions() {
  app --model all --repeat 1 --json - --quiet
  json 'len(d["runs"]) >= 7 and all(r["tasks"] == 128 and r["iterations"] == 1 for r in d["runs"])'
  alike
  app --cut tasks --swaptions 7 --simulations 100 --expiry 1 --tenor 2 --repeat 1 \
    --record-graph graph.json --output prices.csv --json - --quiet
  json 'd["config"]["swaptions"] == 7 and d["config"]["simulations"] == 100 and
    all(r["tasks"] == 7 for r in d["runs"])'
  [ "$(head -1 prices.csv)" = "side,strike,expiry,tenor,price,standard error" ] &&
    [ "$(grep -c ',1,2,' prices.csv)" = 7 ] || fail "prices.csv: $(cat prices.csv)"
  passes graph info graph.json
  says "simulate 7 tasks"

  never "--simulations 1" --simulations 1
  never "--expiry" --expiry 0
  never "--tenor" --tenor 31
  never "--swaptions" --swaptions -1
  names cut graph
}

# The network verifies itself under every model, and what cannot be read or used is refused before
# anything is written.
vgg16() {
  tiny=(--resolution 32 --divide 64)
  app "${tiny[@]}" --model all --policy auto,dam-c --pictures 2 --repeat 2 --json - --quiet
  json 'd["schema"] == "kilter.app/1" and len(d["runs"]) == 2 * 9 and d["environment"]["complete"]'
  json 'all(r["iterations"] == 2 and r["tasks"] > 100 and r["seconds"] > 0 for r in d["runs"]) and
    len(d["found"]) == 6'
  app "${tiny[@]}" --model all --block-length 8 --pictures 1 --repeat 1 --json - --quiet
  json 'len(d["runs"]) == 8'
  alike
  json 'd["config"]["resolution"] == 32 and d["config"]["divide"] == 64 and
    d["config"]["size"] == "small" and d["config"]["weights"] is None'
  app --block-length 8 --pictures 1 --repeat 1 --output "a b.csv" --quiet
  says "VGG-16 at 64 x 64, channels / 8, 1,137,808 weights, 1 picture, 8 channels in a task"
  says "conv5_3 8 fc6 8"
  [ "$(wc -l <"a b.csv")" = 1001 ] && [ "$(head -1 "a b.csv")" = class,probability ] ||
    fail "a b.csv: $(head -3 "a b.csv")"
  awk -F, 'NR > 1 { sum += $2; if ($1 != NR - 2 || $2 < 0) exit 1 } END { exit sum < .99999 || sum > 1.00001 }' "a b.csv" || fail "a b.csv holds no probabilities of 1,000 classes"

  # OpenBLAS is loaded here and nowhere else: it waits for ever where it finds no room
  (ulimit -v 250000; refuses "finds no room" lab app vgg16 "${tiny[@]}" --pictures 1 \
    --repeat 1; exit "$failures") || failures=$((failures + 1))

  # a picture of its own, and names
  printf 'P6\n2 2\n255\n\x00\x00\x00\x0a\x0a\x0a\xc8\x00\x00\xdc\x00\x00' >two.ppm
  for i in $(seq 1000); do echo "name $i"; done >names.txt
  app "${tiny[@]}" --pictures 1 --repeat 1 --input two.ppm --labels names.txt --output two.csv \
    --quiet
  best=$(tail -n +2 two.csv | sort -t, -k2 -g -r | head -1 | cut -d, -f1)
  says "  name $((best + 1))"
  app "${tiny[@]}" --pictures 1 --repeat 1 --output drawn.csv --quiet
  cmp -s two.csv drawn.csv && fail "the picture makes no difference"

  # weights: Darknet's format of this network, all of them zero, so that all classes are alike
  { printf '\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00'; head -c $((293700 - 12)) /dev/zero; } >zero.weights
  app --weights zero.weights "${tiny[@]}" --pictures 1 --repeat 1 --output same.csv --quiet
  [ "$(tail -n +2 same.csv | cut -d, -f2 | sort -u)" = 0.00100000005 ] ||
    fail "without weights all classes are alike: $(head -3 same.csv)"

  head -c 20 two.ppm >cut.ppm
  head -c 1000 zero.weights >cut.weights
  head -n 999 names.txt >fewer.txt
  : >empty
  for file in cut.ppm names.txt empty missing .; do never "'$file'" --input "$file"; done
  for file in cut.weights names.txt empty missing . /dev/null; do
    never "weights '$file'" --weights "$file" "${tiny[@]}"
  done
  for file in fewer.txt empty missing .; do never "labels '$file'" --labels "$file"; done
  never "has 553430196 in Darknet's format" --weights zero.weights
  python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<iiii", 0, 2, 0, 0)[:12] + struct.pack("<f", 1e38) * ((293700 - 12) // 4))' >huge.weights
  refuses "the weights are too large for this picture" lab app vgg16 \
    --weights huge.weights "${tiny[@]}" --pictures 1 --repeat 1 --output never --quiet
  never "it must be a multiple of 32" --resolution 33
  never "it must be 1, 2, 4, 8, 16, 32 or 64" --divide 3
  never "--pictures" --pictures 0
  never "--block-length" --block-length -1
  refuses "--json writes there already" lab app vgg16 --json same --output same
  refuses "there is no directory" lab app vgg16 --output no/such/folder
  names size
}

part "$program"
[ -e never ] && fail "something was written although the input was refused"
finish
