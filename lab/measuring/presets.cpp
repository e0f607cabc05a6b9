#include "measuring/presets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kilter/error.hpp"
#include "words/join.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

struct public_code {
  std::string_view name;  ///< papers.md
  std::vector<std::string_view> policies;
  preset settings;
};

/// The first that has all the policies is taken: plain work stealing is in both.
const std::vector<public_code>& all_code() {
  static const std::vector<public_code> all = {
      {"X22",
       {"rws", "rwsm-c", "fa", "fam-c", "da", "dam-c", "dam-p"},
       {{"table", "paper"},
        {"timing", "own"},
        {"children", "queue"},
        {"direct", "yes"},
        {"search", "ready"},
        {"refresh", "10"},
        {"fast_order", "random"},
        {"blocks", "task"}}},
      {"X19",
       {"perf", "rws"},
       {{"table", "paper"},
        {"timing", "own"},
        {"children", "slow-cluster"},
        {"search", "ready"},
        {"local", "x19"},
        {"thieves", "spare-two"},
        {"criticality", "chain"}}},
  };
  return all;
}

bool among(std::span<const std::string_view> all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

preset preset_of(std::string_view reading, std::span<const std::string> policies) {
  if (std::ranges::find(readings, reading) == readings.end())
    throw input_error(unknown_name("reading", reading, readings));
  if (reading == "kilter")
    return {{"table", "robust"}, {"timing", "honest"}, {"children", "forward"}};
  if (reading == "published")
    return {{"table", "paper"}, {"timing", "leader"}, {"children", "queue"}};
  for (const public_code& code : all_code())
    if (std::ranges::all_of(policies,
                            [&](const std::string& p) { return among(code.policies, p); }))
      return code.settings;
  std::string known;
  for (const public_code& code : all_code())
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", or of ", joined(code.policies, ", "),
                         code.name);
  throw input_error(
      fmt::format("reading 'coded': no public code has {} together; there is code of {}",
                  joined(policies, ", "), known));
}

specification read_settings(specification s, const parameter_values& written,
                            std::string_view reading) {
  for (const setting& one : settings())
    if (const auto at = written.find(one.name); at != written.end())
      one.read(one, s, one.option(), at->second);
  if (reading.empty()) return s;
  std::vector<std::string> names;
  for (const policy_list& list : s.policy_lists)
    names.insert(names.end(), list.names.begin(), list.names.end());
  for (const auto& [name, text] : preset_of(reading, names))
    if (!written.contains(name)) read_setting(s, name, text);
  return s;
}

}  // namespace kilter::lab
