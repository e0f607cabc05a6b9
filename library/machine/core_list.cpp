// Lists of cores as users type them.

#include <algorithm>
#include <charconv>

#include "kilter/error.hpp"
#include "kilter/machine.hpp"

namespace kilter {
inline namespace v0 {

namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string exists(const machine& m) {
  const auto last = m.core_count() - 1;
  return m.name() + " has " + (last == 0 ? "only core 0" : "cores 0-" + std::to_string(last));
}

class list_reader {
 public:
  list_reader(std::string_view text, const machine& m) : text_(text), machine_(m) {}

  std::vector<core_id> read() {
    if (text_.empty()) garbage("nothing is named");
    if (text_.find_first_of(",-") == std::string_view::npos) return first(number(text_));

    std::vector<core_id> cores;
    std::string_view rest = text_;
    if (rest.back() == ',') rest.remove_suffix(1);
    for (bool more = true; more;) {
      const auto comma = rest.find(',');
      more = comma != std::string_view::npos;
      add_range(rest.substr(0, comma), cores);
      if (more) rest.remove_prefix(comma + 1);
    }
    std::sort(cores.begin(), cores.end());
    if (const auto twice = std::adjacent_find(cores.begin(), cores.end()); twice != cores.end())
      fail("core " + std::to_string(*twice) + " is named twice; name each core once");
    return cores;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error("cores " + quoted(text_) + ": " + what);
  }
  [[noreturn]] void garbage(const std::string& what) const {
    fail(what + "; write a count (4) or a list of core ids (0-3,6 or 2,)");
  }

  std::uint64_t number(std::string_view digits) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) return ~std::uint64_t{0};
    if (error != std::errc{} || end != digits.data() + digits.size())
      garbage(quoted(digits) + " is not a core id");
    return value;
  }

  std::vector<core_id> first(std::uint64_t count) const {
    if (count == 0) fail("a count of 0 leaves no core; for the list of core 0 write '0,'");
    if (count > machine_.core_count()) fail("there are not that many cores; " + exists(machine_));
    std::vector<core_id> cores(count);
    for (core_id c = 0; c < count; ++c) cores[c] = c;
    return cores;
  }

  core_id existing(std::string_view digits) const {
    const std::uint64_t value = number(digits);
    if (value >= machine_.core_count())
      fail("core " + std::string(digits) + " does not exist; " + exists(machine_));
    return static_cast<core_id>(value);
  }

  void add_range(std::string_view item, std::vector<core_id>& cores) const {
    const auto dash = item.find('-');
    if (dash == std::string_view::npos) {
      cores.push_back(existing(item));
      return;
    }
    const core_id from = existing(item.substr(0, dash)), to = existing(item.substr(dash + 1));
    if (from > to)
      fail("the range " + quoted(item) + " runs backwards; write the lower core first");
    for (core_id c = from; c <= to; ++c) cores.push_back(c);
  }

  std::string_view text_;
  const machine& machine_;
};

}  // namespace

std::vector<core_id> parse_cores(std::string_view text, const machine& m) {
  return list_reader(text, m).read();
}

}  // namespace v0
}  // namespace kilter
