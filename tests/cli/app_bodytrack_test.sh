#!/bin/bash
# kilter lab app bodytrack: the same poses under every model, in order and independent, and a body that is lost is said to be.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

for order in in-order independent; do
  passes lab app bodytrack --model all --frames-order $order --repeat 1 --json - --quiet
  json 'len({r["fingerprint"] for r in d["runs"]}) == 1 and all(r["tasks"] > 0 and r["seconds"] > 0 for r in d["runs"])'
  json "d['config']['frames_order'] == '$order' and d['config']['particles'] == 100 and d['config']['tasks'] == 8"
done
passes lab app bodytrack --repeat 1 --output "a b.csv"
says "cm from the right ones"
[ "$(wc -l <"a b.csv")" = 7 ] && head -1 "a b.csv" | grep -q '^frame,x,y,z,heading' || fail "a b.csv: $(head -1 "a b.csv")"
passes lab app bodytrack --repeat 1 --record-graph bodytrack.json --quiet
passes graph info bodytrack.json
says "resample 24 tasks"

timeout 60 "$kilter" lab app bodytrack --frames 20 --particles 1 --layers 1 --tasks 1 --repeat 1 --quiet >out 2>err </dev/null
[ $? = 1 ] && grep -q "from the right one" out err || fail "one particle followed the body: $(cat out err)"

refuses "there are small, medium, large, native" lab app bodytrack --size tiny --output never
refuses "there are in-order, independent" lab app bodytrack --frames-order backwards --output never
refuses "--particles" lab app bodytrack --particles 0 --output never
refuses "--tasks 101: write 1 to 100" lab app bodytrack --tasks 101 --output never
refuses "--width" lab app bodytrack --width 10 --output never
[ -e never ] && fail "something was written although the input was refused"

finish
