#pragma once
// Machines of tests: built, and recorded ones in tests/data; and what they consist of, in short.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::test {

/// `fast` cores of kind 0 in cluster 0, `slow` cores of kind 1 in cluster 1.
inline machine two_kinds(std::uint32_t fast, std::uint32_t slow) {
  std::vector<core> cores;
  for (core_id c = 0; c < fast + slow; ++c) {
    const std::uint32_t kind = c < fast ? 0 : 1;
    cores.push_back(
        {.id = c, .os_index = static_cast<int>(c), .cluster = kind, .kind = kind, .numa_node = 0});
  }
  return {"two kinds", {{0, "fast", fast, 2.0}, {1, "slow", slow, 1.0}}, std::move(cores)};
}

inline std::string recorded(const std::string& name) {
  return std::string(KILTER_TEST_DATA) + "/machines/" + name;
}

inline std::vector<std::uint32_t> cluster_sizes(const machine& m) {
  std::vector<std::uint32_t> sizes;
  for (const cluster& cl : m.clusters()) sizes.push_back(cl.size);
  return sizes;
}

inline std::vector<int> os_indices(const machine& m) {
  std::vector<int> indices;
  for (const core& c : m.cores()) indices.push_back(c.os_index);
  return indices;
}

inline std::vector<std::string> kind_names(const machine& m) {
  std::vector<std::string> names;
  for (const core_kind& k : m.kinds()) names.push_back(k.name);
  return names;
}

}  // namespace kilter::test
