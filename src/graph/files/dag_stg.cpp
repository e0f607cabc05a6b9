#include "graph/files/dag_stg.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph/files/dag_builder.hpp"

namespace kilter::dags {

namespace {

class stg_reader {
 public:
  explicit stg_reader(const source_text& source) : source_(source), made_(source) {}

  dag read() {
    made_.graph().name = source_.file.substr(source_.file.rfind('/') + 1);
    const std::size_t head_at = at();
    const std::uint64_t announced = count("the number of tasks", most_tasks);
    std::uint64_t tasks = 0;
    for (; more(); ++tasks) read_task();
    if (tasks != announced && tasks != announced + 2)
      source_.fail_at(head_at, "the first line announces " + std::to_string(announced) + " tasks (and perhaps two empty ones), and " + std::to_string(tasks) + " follow");
    return made_.finish();
  }

 private:
  void read_task() {
    const std::size_t task_at = at();
    const std::uint32_t task = made_.define(number_word("the number of a task"), task_at);
    const std::size_t time_at = at();
    const std::string_view time = word("the time of task " + made_.task(task).id);
    double seconds = 0.0;
    const auto read = std::from_chars(time.data(), time.data() + time.size(), seconds);
    if (read.ec != std::errc{} || read.ptr != time.data() + time.size()) source_.fail_at(time_at, "the time of a task must be a number, got '" + shown(time) + "'");
    made_.task(task).seconds = made_.amount(seconds, "the time of a task", time_at);
    made_.task(task).type = made_.type("task");
    const std::uint64_t predecessors = count("the number of predecessors of task " + made_.task(task).id, most_edges);
    for (std::uint64_t i = 0; i < predecessors; ++i) {
      const std::size_t id_at = at();
      made_.edge(made_.refer(number_word("a predecessor of task " + made_.task(task).id), id_at), task, 0.0, 0.0, id_at);
    }
  }

  /// Where the next word begins; the end of the text if there is none.
  std::size_t at() {
    const std::string_view text = source_.text;
    while (at_ < text.size() && (text[at_] == '#' || is_space(text[at_])))
      at_ = text[at_] == '#' ? std::min(text.find('\n', at_), text.size()) : at_ + 1;
    return at_;
  }
  bool more() { return at() < source_.text.size(); }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  std::string_view word(const std::string& what) {
    if (!more()) source_.fail_at(at_, "the file ends where " + what + " should be");
    const std::size_t begin = at_;
    while (at_ < source_.text.size() && !is_space(source_.text[at_]) && source_.text[at_] != '#') ++at_;
    return source_.text.substr(begin, at_ - begin);
  }

  std::string_view number_word(const std::string& what) {
    const std::size_t begin = at();
    const std::string_view found = word(what);
    if (found.find_first_not_of("0123456789") != found.npos) source_.fail_at(begin, what + " must be a whole number, got '" + shown(found) + "'");
    return found;
  }

  std::uint64_t count(const std::string& what, std::uint64_t most) {
    const std::size_t begin = at();
    const std::string_view digits = number_word(what);
    std::uint64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{} || value > most)
      source_.fail_at(begin, what + " is " + shown(digits) + "; at most " + std::to_string(most) + " are possible");
    return value;
  }

  source_text source_;
  dag_builder made_;
  std::size_t at_ = 0;
};

}  // namespace

dag read_stg(const source_text& source) { return stg_reader(source).read(); }

std::string stg_text(const dag& g) {
  const auto n = static_cast<std::uint32_t>(g.tasks.size());
  std::vector<std::vector<std::uint32_t>> before(n);
  std::vector<bool> is_sink(n, true);
  for (const dag::edge& e : g.edges) {
    before[e.to].push_back(e.from);
    is_sink[e.from] = false;
  }
  const auto roots = std::ranges::count_if(before, [](const auto& b) { return b.empty(); });
  const auto sinks = std::ranges::count(is_sink, true);
  const bool has_ends = n > 1 && roots == 1 && sinks == 1 && g.tasks.front().seconds == 0.0 && g.tasks.back().seconds == 0.0;
  const std::uint32_t shift = has_ends ? 0 : 1;

  std::string out = std::to_string(has_ends ? n - 2 : n) + "\n";
  const auto row = [&](std::uint32_t number, double seconds, const std::vector<std::uint32_t>& predecessors, std::string_view id) {
    out.append(std::to_string(number)).append(" ").append(number_text(seconds)).append(" ").append(std::to_string(predecessors.size()));
    for (const std::uint32_t p : predecessors) out.append(" ").append(std::to_string(p));
    if (!id.empty()) out.append(" # ").append(shown(id));
    out.append("\n");
  };
  if (!has_ends) row(0, 0.0, {}, "");
  for (std::uint32_t t = 0; t < n; ++t) {
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t b : before[t]) numbers.push_back(b + shift);
    if (!has_ends && numbers.empty()) numbers.push_back(0);
    row(t + shift, g.tasks[t].seconds, numbers, g.tasks[t].id);
  }
  if (!has_ends) {
    std::vector<std::uint32_t> last;
    for (std::uint32_t t = 0; t < n; ++t)
      if (is_sink[t]) last.push_back(t + 1);
    row(n + 1, 0.0, last, "");
  }
  return out;
}

}  // namespace kilter::dags
