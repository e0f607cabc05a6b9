# `find_package(kilter)` gives the target kilter::kilter: every library of the runtime, in link order.
include(CMakePackageConfigHelpers)

add_library(kilter_kilter INTERFACE)
set_target_properties(kilter_kilter PROPERTIES EXPORT_NAME kilter)
target_link_libraries(kilter_kilter INTERFACE kilter_runtime)
target_compile_features(kilter_kilter INTERFACE cxx_std_20)
add_library(kilter::kilter ALIAS kilter_kilter)

# For a policy in a shared library: headers only, since what it calls is in the command that loads it.
add_library(kilter_plugin INTERFACE)
set_target_properties(kilter_plugin PROPERTIES EXPORT_NAME plugin)
target_include_directories(kilter_plugin INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(kilter_plugin INTERFACE cxx_std_20)

install(TARGETS kilter_kilter kilter_plugin kilter_runtime kilter_policy kilter_model kilter_graph kilter_trace kilter_machine kilter_base
  EXPORT kilter-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/kilter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "hint.h")
if(TARGET kilter_preload_library)
  install(TARGETS kilter_preload_library kilter_place_library kilter_count_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY data/platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/kilter)
install(DIRECTORY tests/data/dags/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kilter/workflows)
install(DIRECTORY experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/kilter FILES_MATCHING PATTERN "*.toml")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(KILTER_TOOLS)
  install(TARGETS kilter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(kilter_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kilter)
install(EXPORT kilter-targets NAMESPACE kilter:: DESTINATION ${kilter_cmake_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kilter-config.cmake.in ${PROJECT_BINARY_DIR}/kilter-config.cmake
  INSTALL_DESTINATION ${kilter_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kilter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kilter-config.cmake ${PROJECT_BINARY_DIR}/kilter-config-version.cmake DESTINATION ${kilter_cmake_dir})
