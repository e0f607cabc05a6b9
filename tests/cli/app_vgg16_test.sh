#!/bin/bash
# kilter lab app vgg16: the network verifies itself under every model, and what cannot be read or used is refused before anything is written.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

tiny=(--resolution 32 --divide 64)
passes lab app vgg16 "${tiny[@]}" --model all --policy auto,dam-c --pictures 2 --repeat 2 --json - --quiet
json 'd["schema"] == "kilter.app/1" and len(d["runs"]) == 2 * 9 and d["environment"]["complete"]'
json 'all(r["iterations"] == 2 and r["tasks"] > 100 and r["seconds"] > 0 for r in d["runs"]) and len(d["found"]) == 6'
passes lab app vgg16 "${tiny[@]}" --model all --block-length 8 --pictures 1 --repeat 1 --json - --quiet
json 'len(d["runs"]) == 8 and len({r["fingerprint"] for r in d["runs"]}) == 1'
json 'd["config"]["resolution"] == 32 and d["config"]["divide"] == 64 and d["config"]["size"] == "small" and d["config"]["weights"] is None'
passes lab app vgg16 --block-length 8 --pictures 1 --repeat 1 --output "a b.csv" --quiet
says "VGG-16 at 64 x 64, channels / 8, 1,137,808 weights, 1 picture, 8 channels in a task"
says "conv5_3 8 fc6 8"
[ "$(wc -l <"a b.csv")" = 1001 ] && [ "$(head -1 "a b.csv")" = class,probability ] || fail "a b.csv: $(head -3 "a b.csv")"
awk -F, 'NR > 1 { sum += $2; if ($1 != NR - 2 || $2 < 0) exit 1 } END { exit sum < .99999 || sum > 1.00001 }' "a b.csv" || fail "a b.csv holds no probabilities of 1,000 classes"

# OpenBLAS is loaded here and nowhere else: it waits for ever where it finds no room
(ulimit -v 250000; refuses "finds no room" lab app vgg16 "${tiny[@]}" --pictures 1 --repeat 1; exit "$failures") || failures=$((failures + 1))

# a picture of its own, and names
printf 'P6\n2 2\n255\n\x00\x00\x00\x0a\x0a\x0a\xc8\x00\x00\xdc\x00\x00' >two.ppm
for i in $(seq 1000); do echo "name $i"; done >names.txt
passes lab app vgg16 "${tiny[@]}" --pictures 1 --repeat 1 --input two.ppm --labels names.txt --output two.csv --quiet
best=$(tail -n +2 two.csv | sort -t, -k2 -g -r | head -1 | cut -d, -f1)
says "  name $((best + 1))"
passes lab app vgg16 "${tiny[@]}" --pictures 1 --repeat 1 --output drawn.csv --quiet
cmp -s two.csv drawn.csv && fail "the picture makes no difference"

# weights: Darknet's format of this network, all of them zero, so that all classes are alike
{ printf '\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00'; head -c $((293700 - 12)) /dev/zero; } >zero.weights
passes lab app vgg16 --weights zero.weights "${tiny[@]}" --pictures 1 --repeat 1 --output same.csv --quiet
[ "$(tail -n +2 same.csv | cut -d, -f2 | sort -u)" = 0.00100000005 ] || fail "without weights all classes are alike: $(head -3 same.csv)"

head -c 20 two.ppm >cut.ppm
head -c 1000 zero.weights >cut.weights
head -n 999 names.txt >fewer.txt
: >empty
for file in cut.ppm names.txt empty missing .; do refuses "'$file'" lab app vgg16 --input "$file" --output never; done
for file in cut.weights names.txt empty missing . /dev/null; do refuses "weights '$file'" lab app vgg16 --weights "$file" "${tiny[@]}" --output never; done
for file in fewer.txt empty missing .; do refuses "labels '$file'" lab app vgg16 --labels "$file" --output never; done
refuses "has 553430196 in Darknet's format" lab app vgg16 --weights zero.weights --output never
python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<iiii", 0, 2, 0, 0)[:12] + struct.pack("<f", 1e38) * ((293700 - 12) // 4))' >huge.weights
refuses "the weights are too large for this picture" lab app vgg16 --weights huge.weights "${tiny[@]}" --pictures 1 --repeat 1 --output never --quiet
refuses "it must be a multiple of 32" lab app vgg16 --resolution 33 --output never
refuses "it must be 1, 2, 4, 8, 16, 32 or 64" lab app vgg16 --divide 3 --output never
refuses "there are small, medium, large, native" lab app vgg16 --size tiny --output never
refuses "--pictures" lab app vgg16 --pictures 0 --output never
refuses "--block-length" lab app vgg16 --block-length -1 --output never
refuses "--json writes there already" lab app vgg16 --json same --output same
refuses "there is no directory" lab app vgg16 --output no/such/folder
[ -e never ] && fail "something was written although the input was refused"

finish
