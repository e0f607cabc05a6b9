#pragma once
// The page's files as the build embedded them (embed.cmake).

#include <string_view>

namespace kilter::report::assets {

extern const std::string_view html, css, base_script, chart_script, results_script, detail_script,
    timeline_script, verdict_script, figure_script, figure_kinds_script, figure_starts_script,
    regions_script, main_script, chart_library;

}  // namespace kilter::report::assets
