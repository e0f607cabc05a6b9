# shellcheck shell=bash
# Shared by the script tests of the command, and of what it loads into programs. Each test sources
# it with the path of the program, or of what is loaded, as $1.
set -u
kilter=$1
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*"
}

# expect WHAT EXPECTED GOT
expect() {
  [ "$2" = "$3" ] || fail "$1"$'\n'"  expected: $2"$'\n'"  got:      $3"
}

# refuses TEXT ARGS...: exit status 2, nothing on standard output, one line on standard error that
# contains TEXT, and at once.
refuses() {
  local text=$1 status lines
  shift
  timeout 20 "$kilter" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  lines=$(wc -l <"$work/err")
  [ "$status" -eq 2 ] ||
    fail "kilter $*: exit status $status, expected 2: $(head -c 300 "$work/err")"
  [ -s "$work/out" ] && fail "kilter $*: wrote to standard output"
  [ "$lines" -eq 1 ] ||
    fail "kilter $*: $lines lines on standard error, expected one: $(head -c 300 "$work/err")"
  grep -qF -- "$text" "$work/err" ||
    fail "kilter $*: does not say '$text': $(head -c 300 "$work/err")"
}

# passes ARGS...: exit status 0; its standard output is left in $work/out, its standard error in
# $work/err.
passes() {
  timeout 300 "$kilter" "$@" >"$work/out" 2>"$work/err" </dev/null
  local status=$?
  [ "$status" -eq 0 ] || fail "kilter $*: exit status $status: $(head -c 600 "$work/err")"
}

# says TEXT: the last command's standard output contains it.
says() {  # a sentence may go on in the next line
  grep -qF -- "$1" "$work/out" || tr -s ' \n' ' ' <"$work/out" | grep -qF -- "$1" ||
    fail "standard output does not say '$1'"
}

# json PYTHON-EXPRESSION: of the last standard output as document `d`; skipped where there is no
# python3
json() {
  command -v python3 >/dev/null || return 0
  python3 -c "import json,sys; d=json.load(open(sys.argv[1])); e=(d.get('experiments') or [{}])[0] if isinstance(d, dict) else {}
sys.exit(0 if ($1) else 1)" "$work/out" || fail "JSON: not ($1)"
}

# part NAME: the function of that name, where a script has its tests in several.
part() {
  declare -F "$1" >/dev/null || fail "there are no tests of '$1'"
  "$1"
}

finish() {
  [ "$failures" -eq 0 ] && echo "all passed"
  exit "$((failures > 0))"
}
