# `cpack -G DEB` makes packages: kilter, the command, kilter-mpi, what its programs need to run on
# several computers, and libkilter-dev, the library to link.
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
# A package must name one: who makes it, as Debian's tools take it from the environment, else who
# runs the machine.
if(NOT CPACK_PACKAGE_CONTACT)
  set(kilter_packager "Kilter developers")
  set(kilter_packager_address root@localhost)
  if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
    set(kilter_packager_address "$ENV{DEBEMAIL}")
    if(NOT "$ENV{DEBFULLNAME}" STREQUAL "")
      set(kilter_packager "$ENV{DEBFULLNAME}")
    endif()
  endif()
  set(CPACK_PACKAGE_CONTACT "${kilter_packager} <${kilter_packager_address}>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL development)
if(KILTER_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL command)
endif()
if(TARGET kilter_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

string(CONCAT kilter_about
  "Kilter learns from the tasks themselves what each core is worth, and decides by that where, and "
  "on how many cores, the next task runs: where cores differ by build, and where neighbours, "
  "clocks and quotas change them.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME kilter)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
# Loaded late, so that nobody sees it; the others that libopenblas0 stands for start threads of
# their own, or allow one.
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "libopenblas0-openmp")
string(CONCAT CPACK_DEBIAN_COMMAND_DESCRIPTION "${kilter_about}\n"
  "This package has the command: it compares policies, simulates machines and moves the threads of "
  "other programs.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME kilter-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "kilter (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "${kilter_about}
This package lets the programs of its command run on several computers, by Open MPI.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkilter-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libhwloc-dev (>= 2.4), libtomlplusplus-dev (>= 3.0)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "pkg-config")
string(CONCAT CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${kilter_about}\n"
  "This package has the library for C++20 programs and for C, with its files for CMake and "
  "pkg-config.")

include(CPack)
