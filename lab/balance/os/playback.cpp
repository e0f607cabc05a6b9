#include "balance/os/playback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kilter/error.hpp"

namespace kilter::balance::os {

namespace {

std::string content_of(const std::string& file) {
  std::ifstream in(file);
  if (!in)
    throw input_error(
        fmt::format("--observer 'replay:{}': cannot be opened: {}", file, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

playback::playback(const std::string& file) : text_(content_of(file)), reader_(text_, file) {}

bool playback::put_over(observation& o) {
  const auto then = reader_.next();
  if (!then) return false;
  o.rates = then->rates;
  rates_ |= then->rates;
  for (thread_sample& s : o.threads) {
    const auto at =
        std::lower_bound(then->threads.begin(), then->threads.end(), s.thread,
                         [](const thread_sample& x, thread_id id) { return x.thread < id; });
    if (at == then->threads.end() || at->thread != s.thread) continue;
    // counts are rates of that quantum over this one
    const double scale = o.length_s / then->length_s;
    if (at->misses) s.misses = *at->misses * scale;
    if (at->instructions) s.instructions = *at->instructions * scale;
    s.miss_ratio = at->miss_ratio;
    s.told = at->told;
  }
  return true;
}

}  // namespace kilter::balance::os
