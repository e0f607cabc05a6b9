# shellcheck shell=bash
# Sourced by the scripts of this folder, which set `here` to the repository.

# set_up_benchmark TARGET[,TARGET] ARG...: builds them in build/bench; leaves the arguments that are
# the program's in `rest`.
set_up_benchmark() {
  local targets allowed=yes
  IFS=, read -ra targets <<<"$1"
  shift
  if [ "${1-}" = --no-install ]; then
    allowed=no
    shift
  fi
  rest=("$@")
  # The program's relative paths are the caller's, so only the build changes directory.
  (
    cd "${here:?}" || exit
    . scripts/setup.sh
    [ -x "build/bench/bench/${targets[0]}" ] ||
      install_packages "$allowed" "${kilter_packages[@]}" libtbb-dev
    build build/bench --preset bench -- "${targets[@]}"
  )
}
