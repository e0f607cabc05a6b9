#!/usr/bin/env bash
# Cross-builds the libraries and unit tests for aarch64 and runs them under qemu-user. A test of function: qemu says nothing about time.
# Installs the cross compiler, qemu-user and the arm64 libraries unless --no-install is given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
allowed=yes
[ "${1-}" = --no-install ] && allowed=no
install_packages "$allowed" "${kilter_packages[@]}" g++-aarch64-linux-gnu qemu-user
sysroot=build/aarch64-sysroot
if [ ! -d "$sysroot/usr" ]; then
  # The arm64 packages are unpacked beside the build, not installed: the system keeps one architecture.
  say "kilter: fetching arm64 libraries into $sysroot"
  mkdir -p "$sysroot/debs" "$sysroot/lists/partial"
  options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::Lists=$PWD/$sysroot/lists")
  quietly "apt-get update for arm64" apt-get "${options[@]}" update
  (cd "$sysroot/debs" && quietly "fetching arm64 packages" apt-get "${options[@]}" download \
    libhwloc-dev libhwloc15 libtomlplusplus-dev libtomlplusplus3 libgtest-dev libgmock-dev nlohmann-json3-dev libxml2 zlib1g liblzma5 libicu72 libudev1)
  for deb in "$sysroot"/debs/*.deb; do dpkg -x "$deb" "$sysroot"; done
fi
cat >build/aarch64.cmake <<T
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH $PWD/$sysroot /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$PWD/$sysroot/usr/lib/aarch64-linux-gnu:$PWD/$sysroot/lib/aarch64-linux-gnu)
set(CMAKE_CXX_FLAGS_INIT "-isystem $PWD/$sysroot/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,$PWD/$sysroot/usr/lib/aarch64-linux-gnu:$PWD/$sysroot/lib/aarch64-linux-gnu")
T
export PKG_CONFIG_SYSROOT_DIR=$PWD/$sysroot
export PKG_CONFIG_LIBDIR=$PWD/$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$PWD/$sysroot/usr/share/pkgconfig
build build/aarch64 -DCMAKE_TOOLCHAIN_FILE="$PWD/build/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release -DKILTER_TOOLS=OFF -- \
  unit_base unit_machine unit_graph unit_trace unit_model unit_policy unit_runtime conformance_contract
failed=0
for t in base machine graph trace model policy runtime; do
  [ -x "build/aarch64/tests/unit_$t" ] || continue
  say "unit_$t"
  qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$PWD/$sysroot/usr/lib/aarch64-linux-gnu:$PWD/$sysroot/lib/aarch64-linux-gnu" \
    "build/aarch64/tests/unit_$t" --gtest_brief=1 || failed=1
done
exit $failed
