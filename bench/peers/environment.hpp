#pragma once
// Where, when and with what a benchmark ran.

#include <nlohmann/json.hpp>

namespace kilter::bench {

[[nodiscard]] nlohmann::ordered_json environment_of_bench(bool complete);
/// A number that changes when this program is built from other sources.
[[nodiscard]] std::string build_identity();

}  // namespace kilter::bench
