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

# only_says TEXT WHAT: the last command, WHAT, wrote nothing to standard output, and one line to
# standard error, which contains TEXT.
only_says() {
  local lines
  lines=$(wc -l <"$work/err")
  [ -s "$work/out" ] && fail "$2: wrote to standard output"
  [ "$lines" -eq 1 ] ||
    fail "$2: $lines lines on standard error, expected one: $(head -c 600 "$work/err")"
  grep -qF -- "$1" "$work/err" || fail "$2: does not say '$1': $(head -c 300 "$work/err")"
}

# refuses TEXT ARGS...: exit status 2 at once, and the text is all that is said.
refuses() {
  local text=$1 status
  shift
  timeout 20 "$kilter" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ "$status" -eq 2 ] ||
    fail "kilter $*: exit status $status, expected 2: $(head -c 300 "$work/err")"
  only_says "$text" "kilter $*"
}

# ends STATUS ARGS...: `kilter $of ARGS` has that exit status; its output is left in $work/out and
# $work/err.
of=
ends() {
  local expected=$1 status
  shift
  # shellcheck disable=SC2086
  timeout 60 "$kilter" $of "$@" >"$work/out" 2>"$work/err"
  status=$?
  [ "$status" -eq "$expected" ] ||
    fail "kilter $of $*: exit status $status, expected $expected: $(head -c 600 "$work/err")"
}

# refuses_125 TEXT ARGS...: the same with status 125, and the text is all that is said.
refuses_125() {
  local text=$1
  shift
  ends 125 "$@"
  only_says "$text" "kilter $of $*"
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
# python3. last_json: of its last line.
json() {
  command -v python3 >/dev/null || return 0
  python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
e = (d.get('experiments') or [{}])[0] if isinstance(d, dict) else {}
sys.exit(0 if ($1) else 1)" "${2-$work/out}" || fail "JSON: not ($1): $(head -c 600 "${2-$work/out}")"
}
last_json() {
  tail -n 1 "$work/out" >"$work/last"
  json "$1" "$work/last"
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
