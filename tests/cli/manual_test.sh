#!/bin/bash
# kilter help, and the man pages: each command has one, it says what --help says, and roff takes it
# without a warning.
. "$(dirname "$0")/checks.sh"

# The commands below one, from the text that users read.
commands_below() {
  "$kilter" "$@" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p'
}

every_command() {
  local name
  printf '%s\n' "$*"
  for name in $(commands_below "$@"); do every_command "$@" "$name"; done
}

mapfile -t all < <(every_command)
[ ${#all[@]} -gt 30 ] || fail "--help names only ${#all[@]} commands"
mkdir "$work/man1"
passes help --man-pages "$work/man1"
[ -s "$work/out" ] && fail "help --man-pages wrote to standard output"
for command in "${all[@]}"; do
  page="kilter${command:+ $command}"
  page="$work/man1/${page// /-}.1"
  [ -f "$page" ] || { fail "'kilter $command' has no man page"; continue; }
  # shellcheck disable=SC2086
  "$kilter" $command --help >"$work/help"
  # shellcheck disable=SC2086
  passes help $command
  cmp -s "$work/out" "$work/help" || fail "kilter help $command is not kilter $command --help"
  # shellcheck disable=SC2086
  passes help --man $command
  cmp -s "$work/out" "$page" || fail "help --man $command and --man-pages differ"
  for option in $(grep -oE '^ +(-[a-zA-Z],)?--[a-z-]+' "$work/help" | grep -oE -- '--[a-z-]+'); do
    grep -qF -- "${option//-/\\-}" "$page" || fail "$page does not name $option"
  done
  if command -v mandoc >/dev/null; then
    # Pages have no date, so that all builds of a version write the same ones.
    mandoc -T lint -W warning "$page" | grep -v 'missing date, using "": TH$' >"$work/warnings"
    [ -s "$work/warnings" ] && fail "$page: $(head -n 2 "$work/warnings")"
  fi
  if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 "$page" >"$work/shown" 2>"$work/warnings"
    [ -s "$work/warnings" ] && fail "$page: $(head -n 2 "$work/warnings")"
    [ -s "$work/shown" ] || fail "$page shows nothing"
  fi
done
[ "$(find "$work/man1" -type f | wc -l)" -eq ${#all[@]} ] || fail "there are pages of no command"
command -v groff >/dev/null || echo "no groff here: the pages were not rendered"

"$kilter" help --man graph make >"$work/page.1"
if command -v groff >/dev/null; then
  groff -man -Tascii -P-cbou "$work/page.1" >"$work/out"
  says "'my graphs/large.json'"  # quotes and dashes that can be copied
  says "-o, --out FILE"
  says "kilter-graph(1)"
fi

passes -V
says "kilter "
cp "$work/out" "$work/version"
passes --version
cmp -s "$work/out" "$work/version" || fail "-V and --version differ"

refuses "unknown command 'comapre': did you mean 'compare'?" help comapre
refuses "did you mean 'layered'" help compare layred
refuses "'kilter topo' has no commands, got 'x'" help topo x
refuses "$work/nowhere" help --man-pages "$work/nowhere"
refuses "leave out CMD" help --man-pages "$work/man1" topo

finish
