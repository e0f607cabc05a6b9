#include "apps/programs/ranks.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "apps/programs/mpi/library.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
std::vector<T> all_values(ranks& r, T mine) {
  std::vector<T> values;
  for (const std::string& bytes : r.each(bytes_of(mine)))
    std::memcpy(&values.emplace_back(), bytes.data(), sizeof(T));
  return values;
}

std::string computer_and_cpus(const machine& here) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string text = name.data();
  for (const core& c : here.cores()) text += " " + std::to_string(c.os_index);
  return text;
}

}  // namespace

void meet(ranks& r) { (void)r.each(""); }

double most(ranks& r, double mine) { return std::ranges::max(all_values(r, mine)); }

double total(ranks& r, double mine) {
  const std::vector<double> all = all_values(r, mine);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

std::uint64_t sum(ranks& r, std::uint64_t mine) {
  const std::vector<std::uint64_t> all = all_values(r, mine);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

std::string first_said(ranks& r, const std::string& mine) {
  for (const std::string& text : r.each(mine))
    if (!text.empty()) return text;
  return "";
}

std::vector<core_id> share_of(ranks& r, const machine& here) {
  const std::vector<std::string> all = r.each(computer_and_cpus(here));
  const std::string& mine = all[r.rank()];
  const auto sharers = static_cast<std::size_t>(std::ranges::count(all, mine));
  const auto before =
      static_cast<std::size_t>(std::count(all.begin(), all.begin() + r.rank(), mine));
  const std::size_t cores = here.core_count();
  if (sharers > cores) return {static_cast<core_id>(before % cores)};
  std::vector<core_id> share;
  for (std::size_t c = cores * before / sharers; c < cores * (before + 1) / sharers; ++c)
    share.push_back(static_cast<core_id>(c));
  return share;
}

const char* const built_ranks_library = KILTER_BUILT_RANKS;

std::shared_ptr<ranks> join_ranks(std::span<const std::string> directories) {
  // mpirun's; srun and others that speak PMIx set the second
  const char* others = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (!others && !std::getenv("PMIX_RANK")) return std::make_shared<ranks>();
  std::string refused = "it was built without Open MPI (Debian: libopenmpi-dev)";
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + ranks_library_name;
    if (directory.empty() || ::access(path.c_str(), R_OK) != 0) continue;
    // Open MPI loads parts of its own, which look for its symbols
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      refused = ::dlerror();
      continue;
    }
    const auto join =
        reinterpret_cast<decltype(&kilter_join_ranks)>(::dlsym(library, "kilter_join_ranks"));
    if (join) return std::shared_ptr<ranks>(join());
    refused = path + " is of another Kilter";
  }
  throw input_error(std::string("this is one of ") + (others ? others : "several") +
                    " processes that MPI started, but this kilter cannot join them: " + refused);
}

}  // namespace kilter::apps
