# The manual is made last: without it, the first file that is missing would be named, and not what
# to do. A cross build has none.
set(kilter_manual ${PROJECT_BINARY_DIR}/manual)
if(KILTER_TOOLS AND NOT CMAKE_CROSSCOMPILING)
  install(CODE "if(NOT EXISTS \"${kilter_manual}/made\" AND
    NOT CMAKE_INSTALL_COMPONENT STREQUAL \"python\")
    message(FATAL_ERROR \"kilter: not all of it is built, so it cannot be installed. First:\n\"
      \"  cmake --build '${PROJECT_BINARY_DIR}'\")
  endif()" ALL_COMPONENTS)
endif()

# `find_package(kilter)` gives the target kilter::kilter: every library of the runtime, in link
# order.
include(CMakePackageConfigHelpers)

add_library(kilter_kilter INTERFACE)
set_target_properties(kilter_kilter PROPERTIES EXPORT_NAME kilter)
target_link_libraries(kilter_kilter INTERFACE kilter_c)
target_compile_features(kilter_kilter INTERFACE cxx_std_20)
add_library(kilter::kilter ALIAS kilter_kilter)

# For a policy in a shared library: headers only, since what it calls is in the command that loads
# it.
add_library(kilter_plugin INTERFACE)
set_target_properties(kilter_plugin PROPERTIES EXPORT_NAME plugin)
target_include_directories(kilter_plugin INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(kilter_plugin INTERFACE cxx_std_20)

# In link order, which archives need.
set(kilter_archives kilter_c kilter_runtime kilter_policy kilter_model kilter_graph kilter_trace
  kilter_sharing kilter_machine kilter_base)
install(TARGETS kilter_kilter kilter_plugin ${kilter_archives} EXPORT kilter-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY library/include/kilter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

if(TARGET kilter_shared)  # kilter::shared, for those who call kilter/kilter.h alone
  install(TARGETS kilter_shared EXPORT kilter-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT development)
endif()

set(kilter_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kilter)
install(EXPORT kilter-targets NAMESPACE kilter:: DESTINATION ${kilter_cmake_dir}
  COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kilter-config.cmake.in
  ${PROJECT_BINARY_DIR}/kilter-config.cmake
  INSTALL_DESTINATION ${kilter_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kilter-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kilter-config.cmake
  ${PROJECT_BINARY_DIR}/kilter-config-version.cmake DESTINATION ${kilter_cmake_dir}
  COMPONENT development)

list(TRANSFORM kilter_archives PREPEND -l OUTPUT_VARIABLE kilter_link_flags)
# The last two for cc.
list(APPEND kilter_link_flags ${HWLOC_LDFLAGS} ${TOMLPLUSPLUS_LDFLAGS} ${CMAKE_THREAD_LIBS_INIT}
  -lstdc++ -lm)
list(REMOVE_DUPLICATES kilter_link_flags)
list(JOIN kilter_link_flags " " kilter_link_flags)
file(RELATIVE_PATH kilter_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" kilter_prefix_from_pc ${kilter_prefix_from_pc})
configure_file(${CMAKE_CURRENT_LIST_DIR}/kilter.pc.in ${PROJECT_BINARY_DIR}/kilter.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kilter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

if(TARGET kilter_preload_library)
  install(TARGETS kilter_preload_library kilter_place_library kilter_count_library
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
endif()
if(TARGET kilter_openmp_library)
  install(TARGETS kilter_openmp_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT command)
endif()
if(TARGET kilter_graphviz)
  install(TARGETS kilter_graphviz LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
endif()
install(DIRECTORY data/platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/kilter COMPONENT command)
if(TARGET kilter_mpi)
  install(TARGETS kilter_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
endif()
if(KILTER_TOOLS)
  install(DIRECTORY tests/data/dags/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kilter/workflows
    COMPONENT command)
  install(DIRECTORY lab/experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/kilter COMPONENT command
    FILES_MATCHING PATTERN "*.toml" PATTERN "native.json" PATTERN "*.json.gz")
  install(TARGETS kilter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(TARGETS kilter_commands RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/kilter
    COMPONENT command)
  # The command writes its manual, so there is none from a build for a machine that is not here.
  if(NOT CMAKE_CROSSCOMPILING)
    add_custom_command(OUTPUT ${kilter_manual}/made
      COMMAND ${CMAKE_COMMAND} -DKILTER=$<TARGET_FILE:kilter> -DINTO=${kilter_manual}
      -P ${CMAKE_CURRENT_LIST_DIR}/manual.cmake
      DEPENDS kilter ${CMAKE_CURRENT_LIST_DIR}/manual.cmake VERBATIM
      COMMENT "Writing man pages and completions")
    add_custom_target(kilter_manual ALL DEPENDS ${kilter_manual}/made)
    install(DIRECTORY ${kilter_manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
    install(FILES ${kilter_manual}/kilter.bash
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kilter
      COMPONENT command)
    install(FILES ${kilter_manual}/kilter.zsh
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _kilter COMPONENT command)
    install(FILES ${kilter_manual}/kilter.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
  endif()
endif()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
# Each Debian package needs a copy; nobody else looks there.
file(READ lab/report/vendor/LICENSE-d3 kilter_d3_licence)
string(REGEX REPLACE "\n+$" "" kilter_d3_licence "${kilter_d3_licence}")
string(REPLACE "\n" "\n " kilter_d3_licence " ${kilter_d3_licence}")
string(REPLACE "\n \n" "\n .\n" kilter_d3_licence "${kilter_d3_licence}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright.in ${PROJECT_BINARY_DIR}/copyright @ONLY)
foreach(package command=kilter mpi=kilter-mpi development=libkilter-dev)
  string(REPLACE "=" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
