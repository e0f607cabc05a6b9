#!/bin/bash
# kilter app canneal: the same under every model; netlists in, placements out; what cannot be is refused.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes app canneal --model all --repeat 1 --json - --quiet
json 'len(d["runs"]) >= 7 and len({r["fingerprint"] for r in d["runs"]}) == 1 and all(r["tasks"] == 64 * 8 and r["iterations"] == 64 for r in d["runs"])'
passes app canneal --elements 100 --steps 3 --swaps 50 --tasks 4 --cut tasks --repeat 1 --record-graph graph.json --quiet
passes graph info graph.json
says "evaluate 12 tasks"

printf '4 2 2\na 1 b END\nb 1 c END\nc 1 d END\nd 1 a END\n' >ring.nets
passes app canneal --input ring.nets --steps 20 --swaps 10 --output placed.txt --repeat 1 --quiet
[ "$(sort placed.txt | cut -d' ' -f2- | sort -u | wc -l)" = 4 ] && [ "$(cut -d' ' -f1 placed.txt | tr -d '\n')" = abcd ] || fail "placed.txt: $(cat placed.txt)"

printf '4 2 2\na 1 b END\nb 1 x END\nc 1 d END\nd 1 a END\n' >unknown.nets
printf '4 2 2\na 1 b END\n' >cut.nets
printf 'nets\n' >words.nets
for file in unknown.nets cut.nets words.nets missing.nets; do refuses "'$file'" app canneal --input "$file" --output never; done
refuses "--temperature" app canneal --temperature 0 --output never
refuses "--tasks" app canneal --tasks 0 --output never
refuses "there are loop, tasks" app canneal --cut rows --output never
refuses "add --cut tasks" app canneal --record-graph never
[ -e never ] && fail "something was written"

finish
