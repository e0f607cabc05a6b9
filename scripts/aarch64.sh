# shellcheck shell=bash
# Sourced after setup.sh: the cross compiler, the arm64 libraries and the emulator, in build/.

aarch64_sysroot=$PWD/build/aarch64-sysroot
aarch64_toolchain=$PWD/build/aarch64.cmake
# OpenBLAS's alternative is not chosen there, so its folder is named.
aarch64_usr=$aarch64_sysroot/usr/lib/aarch64-linux-gnu
aarch64_blas=$aarch64_usr/openblas-openmp
aarch64_libraries=$aarch64_usr:$aarch64_sysroot/lib/aarch64-linux-gnu:$aarch64_blas
aarch64_runner="qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$aarch64_libraries"

# set_up_aarch64 ALLOWED: installs and fetches what is missing, and writes the toolchain file.
set_up_aarch64() {
  install_packages "$1" "${kilter_packages[@]:?}" g++-aarch64-linux-gnu qemu-user
  local packages=(libhwloc-dev libhwloc15 libtomlplusplus-dev libtomlplusplus3 libgtest-dev
    libgmock-dev nlohmann-json3-dev libfmt-dev libfmt9 libcli11-dev libexpat1-dev libexpat1
    libyaml-cpp-dev libyaml-cpp0.7 zlib1g-dev libxml2 zlib1g liblzma5 libicu72 libudev1
    libpng-dev libpng16-16 libopenblas-openmp-dev libopenblas0-openmp libgfortran5)
  if [ "$(cat "$aarch64_sysroot/unpacked" 2>/dev/null)" != "${packages[*]}" ]; then
    # The arm64 packages are unpacked beside the build, not installed: the system keeps one
    # architecture.
    say "kilter: fetching arm64 libraries into $aarch64_sysroot"
    mkdir -p "$aarch64_sysroot/debs" "$aarch64_sysroot/lists/partial"
    local options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64
      -o "Dir::State::Lists=$aarch64_sysroot/lists")
    quietly "apt-get update for arm64" apt-get "${options[@]}" update
    (cd "$aarch64_sysroot/debs" &&
      quietly "fetching arm64 packages" apt-get "${options[@]}" download "${packages[@]}")
    local deb
    for deb in "$aarch64_sysroot"/debs/*.deb; do dpkg -x "$deb" "$aarch64_sysroot"; done
    printf '%s\n' "${packages[*]}" >"$aarch64_sysroot/unpacked"
  fi
  cat >"$aarch64_toolchain" <<T
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH $aarch64_sysroot /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_CROSSCOMPILING_EMULATOR $aarch64_runner)
set(CMAKE_CXX_FLAGS_INIT "-isystem $aarch64_sysroot/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,$aarch64_libraries")
T
}

# For the configuring of a cross build: pkg-config finds the arm64 packages.
aarch64_environment() {
  export PKG_CONFIG_SYSROOT_DIR=$aarch64_sysroot
  PKG_CONFIG_LIBDIR=$aarch64_usr/pkgconfig:$aarch64_blas/pkgconfig
  export PKG_CONFIG_LIBDIR=$PKG_CONFIG_LIBDIR:$aarch64_sysroot/usr/share/pkgconfig
}
