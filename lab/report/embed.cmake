# Turns the page's files and the chart library into one generated source of the report library, so
# that `kilter` needs no data files at run time. The chart library is checked against the checksum
# that vendor/README.md states.

set(report_dir ${CMAKE_CURRENT_LIST_DIR})
set(report_echarts_sha256 b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0)

if(CMAKE_SCRIPT_MODE_FILE)
  # Script mode: cmake -DOUTPUT=F "-DASSETS=name=path,..." -P embed.cmake
  string(CONCAT text "// Generated from lab/report. Do not edit.\n"
    "#include \"report/assets.hpp\"\n\n"
    "namespace kilter::report::assets {\n")
  string(REPLACE "," ";" assets "${ASSETS}")
  foreach(asset IN LISTS assets)
    string(REGEX MATCH "^([a-z_]+)=(.*)$" matched "${asset}")
    set(name ${CMAKE_MATCH_1})
    set(path ${CMAKE_MATCH_2})
    if(name STREQUAL "chart_library")
      file(SHA256 ${path} sum)
      if(NOT sum STREQUAL report_echarts_sha256)
        message(FATAL_ERROR
          "${path}: SHA-256 is ${sum}; vendor/README.md states ${report_echarts_sha256}")
      endif()
    endif()
    file(READ ${path} hex HEX)
    string(LENGTH "${hex}" digits)
    math(EXPR bytes "${digits} / 2")
    string(REGEX REPLACE "(..)" "\\\\x\\1" literal "${hex}")
    string(APPEND text "const std::string_view ${name}{\"${literal}\", ${bytes}};\n")
  endforeach()
  file(WRITE ${OUTPUT} "${text}}  // namespace kilter::report::assets\n")
  return()
endif()

set(report_assets
  html=${report_dir}/page/page.html css=${report_dir}/page/page.css
  base_script=${report_dir}/page/base.js
  chart_script=${report_dir}/page/charts.js results_script=${report_dir}/page/results.js
  detail_script=${report_dir}/page/detail.js
  timeline_script=${report_dir}/page/timeline.js verdict_script=${report_dir}/page/verdicts.js
  figure_script=${report_dir}/page/figures.js figure_kinds_script=${report_dir}/page/figure_kinds.js
  figure_starts_script=${report_dir}/page/figure_starts.js
  regions_script=${report_dir}/page/regions.js
  main_script=${report_dir}/page/main.js chart_library=${report_dir}/vendor/echarts.min.js)
string(REGEX REPLACE "[a-z_]+=" "" report_asset_files "${report_assets}")
string(REPLACE ";" "," report_asset_list "${report_assets}")
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/generated/report_assets.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${PROJECT_BINARY_DIR}/generated/report_assets.cpp
  -DASSETS=${report_asset_list}
          -P ${report_dir}/embed.cmake
  DEPENDS ${report_asset_files} ${report_dir}/embed.cmake
  VERBATIM COMMENT "Embedding the report's page and charts")
target_sources(kilter_report PRIVATE ${PROJECT_BINARY_DIR}/generated/report_assets.cpp)
