#!/bin/bash
# kilter lab app canneal: the same under every model and with any number of tasks; a netlist is read and placed; what it refuses.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app canneal --model all --repeat 1 --json - --quiet
json 'd["schema"] == "kilter.app/1" and len({r["fingerprint"] for r in d["runs"]}) == 1'
json 'all(r["iterations"] == 64 and r["tasks"] == 64 * 8 for r in d["runs"])'
passes lab app canneal --elements 500 --steps 30 --swaps 50 --tasks 3 --repeat 1 --output three.txt --quiet
passes lab app canneal --elements 500 --steps 30 --swaps 50 --tasks 5 --cut tasks --repeat 1 --output five.txt
says "length of all wires: "
cmp -s three.txt five.txt || fail "the placement depends on the number of tasks"
[ "$(cut -d ' ' -f 2,3 three.txt | sort -u | wc -l)" = 500 ] || fail "500 elements have no 500 places"

# a ring whose best placement is known: no diagonals
printf '4\t2\t2\na 1 d END\nb 1 c END\nc 1 a END\nd 1 b END\n' >ring.nets
passes lab app canneal --input ring.nets --steps 60 --swaps 20 --temperature 5 --repeat 1 --output ring.txt
says "6 before, 4 after"
[ "$(cut -d ' ' -f 1 ring.txt | tr '\n' ' ')" = "a b c d " ] || fail "ring.txt: $(cat ring.txt)"

printf '4 2 2\na 1 b END\nb 1 x END\nc 1 END\nd 1 END\n' >unknown.nets
printf '2 2 1\na 1 b\nb 1 END\n' >open.nets
printf '5 2 2\n' >narrow.nets
: >empty.nets
refuses "'unknown.nets', line 3: there is no element 'x'" lab app canneal --input unknown.nets --output never
refuses "'open.nets', line 2: the line does not end with END" lab app canneal --input open.nets --output never
refuses "'narrow.nets', line 1: 2 x 2 places" lab app canneal --input narrow.nets --output never
refuses "'empty.nets' is empty" lab app canneal --input empty.nets --output never
refuses "'missing.nets'" lab app canneal --input missing.nets --output never
refuses "leave it out" lab app canneal --input ring.nets --elements 20 --output never
refuses "16 or more" lab app canneal --elements 2 --output never
refuses "finite number above 0" lab app canneal --temperature nan --output never
refuses "there are small, medium, large, native" lab app canneal --size tiny --output never
refuses "there are loop, tasks" lab app canneal --cut rows --output never
refuses "add --cut tasks" lab app canneal --record-graph never
[ -e never ] && fail "something was written although the input was refused"

finish
