#!/bin/bash
# kilter lab app ferret: pictures that look alike, drawn or in folders.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

for form in pipeline tasks; do
  passes lab app ferret --form $form --model all --repeat 1 --json - --quiet --output $form.csv
  json 'd["environment"]["complete"] and len(d["runs"]) == 8 and len({r["fingerprint"] for r in d["runs"]}) == 1'
  json 'all(r["iterations"] == 24 and r["tasks"] == 6 * 24 for r in d["runs"]) and d["config"]["pictures"] == 200'
done
cmp -s pipeline.csv tasks.csv || fail "the two forms find other pictures"
[ "$(head -1 pipeline.csv)" = "query,rank,picture,distance" ] && [ "$(wc -l <pipeline.csv)" = 241 ] || fail "pipeline.csv: $(head -3 pipeline.csv)"
[ "$(sed -n 2p pipeline.csv)" = "picture 0,1,picture 0,0" ] || fail "a picture does not find itself: $(sed -n 2p pipeline.csv)"

# folders: a red picture finds the red one, whatever its size
plain() { printf 'P6\n%s %s\n255\n' "$1" "$1"; for _ in $(seq $(($1 * $1))); do printf "$2"; done; }
mkdir photos new empty broken
plain 8 '\xf0\x05\x05' >"photos/red, large.ppm"
plain 8 '\x05\x05\xf0' >photos/blue.ppm
plain 8 '\x05\xf0\x05' >photos/green.ppm
plain 4 '\xf0\x05\x05' >new/red.ppm
head -c 20 photos/blue.ppm >broken/cut.ppm
passes lab app ferret --input new --database photos --top 1 --repeat 1 --output alike.csv --quiet
[ "$(tail -1 alike.csv)" = 'red.ppm,1,"red, large.ppm",0' ] || fail "alike.csv: $(cat alike.csv)"

refuses "--input 'empty': no picture is in this folder" lab app ferret --input empty --output never
refuses "--database 'missing': the folder cannot be read" lab app ferret --database missing --output never
refuses "cut.ppm' ends early" lab app ferret --database broken --output never
refuses "there are pipeline, tasks" lab app ferret --form graph --output never
refuses "there are small, medium, large, native" lab app ferret --size tiny --output never
[ -e never ] && fail "something was written although the input was refused"

finish
