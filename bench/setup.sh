# Sourced by bench/run and bench/interference, which set `here` to the repository.

# set_up_benchmark TARGET[,TARGET] ARG...: builds them in build/bench; leaves the arguments that are the program's in `rest`.
set_up_benchmark() {
  local targets=${1//,/ } allowed=yes
  shift
  if [ "${1-}" = --no-install ]; then
    allowed=no
    shift
  fi
  rest=("$@")
  # The program's relative paths are the caller's, so only the build changes directory.
  (
    cd "$here"
    . scripts/setup.sh
    [ -x "build/bench/bench/${targets%% *}" ] || install_packages "$allowed" "${kilter_packages[@]}" libtbb-dev
    build build/bench -DCMAKE_BUILD_TYPE=Release -DKILTER_BENCH=ON -- $targets
  )
}
