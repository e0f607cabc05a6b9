#!/bin/bash
# What shells complete: commands, options, values and files, asked of kilter itself and typed into a
# bash. And that pages and tests know all that there is.
. "$(dirname "$0")/checks.sh"

# completes EXPECTED WORDS...: EXPECTED are all answers for the last word, in order, each followed
# by a blank.
completes() {
  local expected=$1 answers
  shift
  answers=$("$kilter" completion words -- "$@" | cut -f1 | tr '\n' ' ')
  [ "$answers" = "$expected" ] || fail "completion of '$*': '$answers', expected '$expected'"
}

completes "compare completion " co
[ -z "$("$kilter" completion words -- b | sort | uniq -d)" ] || fail "completion: a command twice"
completes "make info convert draw " graph ""
completes "make info convert draw " help graph ""
completes "--policy " compare layered --pol
completes "paper robust " compare layered --table ""
completes "--table=paper --table=robust " compare layered --table=
completes ":files rws,dam-c rws,dam-p " compare layered --policy rws,dam-
completes ":files rws,dam-c,dam-p " compare layered --policy rws,dam-c,dam-
completes "sim:odroid-xu3 " compare x --on sim:o
completes "sim:odroid-xu3 " compare heat --on sim:o
completes "emulate:odroid-xu3 " topo --on emulate:o
completes "native " lab demo --on n
completes "native,sim:odroid-xu3 " lab reproduce matrix --on native,sim:o
completes ":files cholesky " compare chole
completes "--on " compare cholesky:n=3 --on
completes "layered :files layered: " compare lay
printf 'schema = "kilter.platform/1"\n' >"$work/mine.toml"
printf '[package]\n' >"$work/other.toml"
whole=$(realpath "$kilter")
here=$(cd "$work" && "$whole" completion words -- compare layered --on sim:./)
[ "$here" = "sim:./mine.toml" ] || fail "completion of platform files: '$here'"
completes "wave@ " compare layered --disturb w
completes "svg png pdf " graph draw x --to ""
completes "dot " graph convert x --to d
completes ":files cholesky " graph info ch
completes "matmul " compare random --kernel ma
completes "lu,qr " lab reproduce matrix --graphs lu,q
completes "S2-15 " lab reproduce S2-15
completes ":files " lab demo --json ""
completes ":files " lab explain ""
completes ":commands " lab balance -- ""
completes ":files " lab balance --quiet -- ls ""
completes "bash zsh fish " completion ""
completes "--smt " topo --json x --sm
completes "" topo --smt --sm
completes "--json " topo --smt --js
completes "" topo --jso=
completes "" nothing ""
KILTER_EXPERIMENTS=$work completes "" lab reproduce S2
for option in policy table timing criticality objective local steal children explore \
  cats-update thieves co-runner data costs root on disturb kernel; do
  [ -n "$("$kilter" completion words -- compare layered --$option "")" ] ||
    fail "compare layered --$option has no values"
done

# What completion lists has a row or an item in the page, where one word may have others before it.
root=$(realpath "$(dirname "$0")/../..")
there_are() {
  "$kilter" completion words -- "$@" "" | cut -f1 | sed -n 's/^\([a-z][a-z0-9-]*\)@*$/\1/p'
}
page_has() { grep -qE "^(\||-) ([^|]*, )?\`$2\`" "$root/$1" || fail "$1 says nothing of '$2'"; }
tests_have() { grep -rqF "$2" "$root/tests/unit/$1" || fail "tests/unit/$1 has no test of '$2'"; }
for policy in $(there_are compare layered --policy | grep -vx all); do
  page_has docs/policies.md "$policy"
  page_has lab/docs/schedulers.md "$policy"
  tests_have policy "\"$policy\""
done
for kind in $(there_are disturb); do
  page_has docs/disturbances.md "$kind"
  tests_have lab "\"$kind@"
done
for program in $(there_are lab app); do
  page_has docs/programs.md "$program"
  tests_have programs "/$program.hpp"
  completes "small medium large native " lab app "$program" --size ""  # as benchmarks run it
done
"$kilter" graph info "$0" 2>&1 |
  sed 's/.*it reads //; s/, also compressed.*//; s/([^)]*)//g; s/, /\n/g' >"$work/formats"
while read -r format _; do
  grep -qwF -- "$format" "$root/lab/docs/graphs.md" ||
    fail "lab/docs/graphs.md says nothing of '$format'"
done <"$work/formats"
[ "$(wc -l <"$work/formats")" -gt 8 ] ||
  fail "which graphs are read is not told: $(cat "$work/formats")"

refuses "did you mean 'zsh'" completion zs
refuses "one of bash, zsh, fish" completion

# As typed: bash cuts words at = and :, and what has to stand there is its own matter.
mkdir "$work/typed" "$work/typed/my graphs"
ln -s "$(realpath "$kilter")" "$work/typed/kilter"
touch "$work/typed/my graphs/a.json" "$work/typed/workflow.json"
cd "$work/typed" || exit 1
PATH=$work/typed:$PATH python3 - <<'PYTHON' >"$work/out" 2>&1 || fail "in a bash: $(cat "$work/out")"
import os, pty, select, sys, time

pid, bash = pty.fork()
if pid == 0:
    plain = dict(os.environ, TERM="dumb", PS1="", COLUMNS="200")
    os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], plain)


def appears(wanted):
    """Whether bash shows it within a time that no machine needs."""
    shown, end = "", time.monotonic() + 30
    while wanted not in shown and time.monotonic() < end:
        if select.select([bash], [], [], 0.2)[0]:
            shown += os.read(bash, 65536).decode(errors="replace")
    return wanted in shown, shown


def types(keys):
    os.write(bash, keys.encode())


types("bind 'set enable-bracketed-paste off'; source <(kilter completion bash); echo 'rea''dy'\n")
assert appears("ready")[0], "bash does not start"
for keys, line in [
    ("kilter gra\t", "kilter graph "),
    ("kilter graph draw work\t", "kilter graph draw workflow.json "),
    ("kilter graph draw my\t", "kilter graph draw my\\ graphs/"),
    ("kilter graph draw x --to pn\t", "--to png "),
    ("kilter graph draw x --to=pn\t", "--to=png "),
    ("kilter compare layered --on sim:od\t", "--on sim:odroid-xu3 "),
    ("kilter compare layered --policy=rws,dam-\t\t", "rws,dam-p"),
    ("kilter disturb flo\t0\x01", "kilter disturb float@0"),
    ("kilter topo --json=work\t", "--json=workflow.json "),
    ("kilter lab balance -- kilt\t", "-- kilter "),
]:
    types(keys)
    found, shown = appears(line)
    if not found:
        sys.exit(print(f"{keys!r} becomes {shown!r}, not {line!r}") or 1)
    types("\x05\x15")  # to the end, and all of it away
os.kill(pid, 9)
PYTHON

cd "$OLDPWD" || exit 1
"$kilter" completion zsh >"$work/_kilter"
"$kilter" completion fish >"$work/kilter.fish"
if command -v zsh >/dev/null; then
  zsh -n "$work/_kilter" || fail "zsh does not take its script"
else
  echo "no zsh here: its script was not tried"
fi
if command -v fish >/dev/null; then
  fish --no-execute "$work/kilter.fish" || fail "fish does not take its script"
else
  echo "no fish here: its script was not tried"
fi

finish
