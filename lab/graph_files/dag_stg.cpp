#include "graph_files/dag_stg.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"

namespace kilter::dags {

namespace {

class stg_reader {
 public:
  explicit stg_reader(const source_text& source) : source_(source), made_(source) {}

  dag read() {
    made_.graph().name = source_.name();
    const std::size_t head_at = at();
    const std::uint64_t announced = count("the number of tasks", most_tasks);
    if (second_in_line()) {
      const std::uint64_t processors = count("the number of processors", most_tasks);
      made_.graph().notes.push_back("the file is for " + std::to_string(processors) +
                                    " processors; that is not used");
      has_costs_ = true;
    }
    if (!fits(announced, has_costs_) && fits(announced, !has_costs_)) has_costs_ = !has_costs_;
    std::uint64_t tasks = 0;
    for (; more(); ++tasks) read_task();
    if (tasks != announced && tasks != announced + 2)
      source_.fail_at(head_at, "the first line announces " + std::to_string(announced) +
                                   " tasks (and perhaps two empty ones), and " +
                                   std::to_string(tasks) + " follow");
    return made_.finish();
  }

 private:
  void read_task() {
    const std::size_t task_at = at();
    const std::uint32_t task = made_.define(number_word("the number of a task"), task_at);
    const std::size_t time_at = at();
    made_.task(task).seconds = made_.amount(word("the time of task " + made_.task(task).id),
                                            "the time of a task", time_at);
    made_.task(task).type = made_.type("task");
    const std::uint64_t predecessors =
        count("the number of predecessors of task " + made_.task(task).id, most_edges);
    for (std::uint64_t i = 0; i < predecessors; ++i) {
      const std::size_t id_at = at();
      const std::uint32_t from =
          made_.refer(number_word("a predecessor of task " + made_.task(task).id), id_at);
      double cost_s = 0.0;
      if (has_costs_) {
        const std::size_t cost_at = at();
        cost_s = made_.amount(word("the communication cost"), "a communication cost", cost_at);
      }
      made_.edge(from, task, cost_s, 0.0, id_at);
    }
  }

  /// Whether the first line has two words, and no more.
  bool second_in_line() {
    const std::size_t end = std::min(source_.text.find('\n', at_), source_.text.size());
    const std::string_view line = source_.text.substr(at_, end - at_);
    const std::string_view rest = trimmed(line.substr(0, line.find('#')));
    return !rest.empty() && rest.find_first_of(" \t") == rest.npos;
  }

  /// Whether the words that are left, read with or without costs, are just the tasks that the first
  /// line announces, as those of the other layout hardly ever are.
  bool fits(std::uint64_t announced, bool with_costs) {
    const std::size_t was = at_;
    std::uint64_t tasks = 0;
    bool possible = true;
    for (; possible && more(); ++tasks) {
      std::uint64_t predecessors = 0;
      possible = skip_word() && skip_word() && number_of(predecessors);
      for (std::uint64_t i = 0; possible && i < predecessors; ++i)
        possible = skip_word() && (!with_costs || skip_word());
    }
    at_ = was;
    return possible && (tasks == announced || tasks == announced + 2);
  }
  bool skip_word() {
    if (!more()) return false;
    (void)word("");
    return true;
  }
  bool number_of(std::uint64_t& value) {
    if (!more()) return false;
    const std::string_view digits = word("");
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
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
    while (at_ < source_.text.size() && !is_space(source_.text[at_]) && source_.text[at_] != '#')
      ++at_;
    return source_.text.substr(begin, at_ - begin);
  }

  std::string_view number_word(const std::string& what) {
    const std::size_t begin = at();
    const std::string_view found = word(what);
    if (found.find_first_not_of("0123456789") != found.npos)
      source_.fail_at(begin, what + " must be a whole number, got '" + shown(found) + "'");
    return found;
  }

  std::uint64_t count(const std::string& what, std::uint64_t most) {
    const std::size_t begin = at();
    const std::string_view digits = number_word(what);
    std::uint64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{} ||
        value > most)
      source_.fail_at(begin, what + " is " + shown(digits) + "; at most " + std::to_string(most) +
                                 " are possible");
    return value;
  }

  source_text source_;
  dag_builder made_;
  std::size_t at_ = 0;
  bool has_costs_ = false;
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
  const bool has_ends = n > 1 && roots == 1 && sinks == 1 && g.tasks.front().seconds == 0.0 &&
                        g.tasks.back().seconds == 0.0;
  const std::uint32_t shift = has_ends ? 0 : 1;

  std::string out = std::to_string(has_ends ? n - 2 : n) + "\n";
  const auto row = [&](std::uint32_t number, double seconds,
                       const std::vector<std::uint32_t>& predecessors, std::string_view id) {
    out.append(std::to_string(number))
        .append(" ")
        .append(number_text(seconds))
        .append(" ")
        .append(std::to_string(predecessors.size()));
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
