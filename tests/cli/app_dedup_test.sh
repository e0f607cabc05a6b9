#!/bin/bash
# kilter lab app dedup: packs and restores files, and loses nothing when an archive is broken or a disk is full.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app dedup --model all --repeat 1 --json - --quiet
json 'd["environment"]["complete"] and len(d["runs"]) == 8 and len({r["fingerprint"] for r in d["runs"]}) == 1'
json 'all(r["tasks"] == 5 * r["iterations"] for r in d["runs"]) and d["config"]["bytes"] == 1000000'
passes lab app dedup --stages fused --model serial,kilter --repeat 1 --json - --quiet
json 'all(r["tasks"] == 3 * r["iterations"] for r in d["runs"])'

# a file, and back
cat "$kilter" "$kilter" | head -c 3000000 >"a b"
passes lab app dedup --input "a b" --output "a b.dedup" --block 256 --repeat 2 --quiet
passes lab app dedup --extract "a b.dedup" --output back
says "3000000 bytes"
cmp -s "a b" back || fail "what was restored is not what was packed"
passes lab app dedup --input "a b" --output fused.dedup --block 256 --stages fused --model static --repeat 1 --quiet
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
for where in "--input" "--extract"; do refuses "$where reads it" lab app dedup "$where" "a b.dedup" --output ./"a b.dedup"; done
timeout 60 "$kilter" lab app dedup --extract "a b.dedup" --output /dev/full >out 2>err </dev/null
[ $? = 1 ] && [ "$(cat err)" = "kilter: cannot write /dev/full: No space left on device" ] || fail "a full disk: $(cat err)"
[ "$(ls -A | grep -c part)" = 0 ] || fail "half a file was left: $(ls -A)"
: >empty
passes lab app dedup --input empty --output empty.dedup --repeat 1 --quiet
passes lab app dedup --extract empty.dedup --output nothing --quiet
[ -e nothing ] && [ ! -s nothing ] || fail "nothing does not come back as nothing"

refuses "is a directory" lab app dedup --input . --output never
refuses "No such file" lab app dedup --input missing --output never
refuses "no regular file" lab app dedup --input /dev/zero --output never
refuses "name the file" lab app dedup --extract "a b.dedup"
refuses "--model: it says nothing to --extract" lab app dedup --extract "a b.dedup" --output never --model serial
refuses "there are separate, fused" lab app dedup --stages both
refuses "64 to 65536 KiB" lab app dedup --block 1
refuses "there is no directory" lab app dedup --output no/such/folder
[ -e never ] && fail "something was written although the input was refused"

finish
