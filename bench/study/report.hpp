#pragma once
// The study as text, as JSON (schema "kilter.interference/1") and as a page of its own.

#include <nlohmann/json.hpp>
#include <string>

#include "study/summary.hpp"

namespace kilter::bench {

[[nodiscard]] std::string text_of(const study_summary&);
[[nodiscard]] nlohmann::ordered_json json_of(const study_summary&, const machine&, bool complete);
/// Self-contained: no script, no second file.
[[nodiscard]] std::string html_of(const study_summary&, const machine&);

}  // namespace kilter::bench
