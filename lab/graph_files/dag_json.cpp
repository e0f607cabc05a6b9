#include "graph_files/dag_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/json_reader.hpp"
#include "graph_files/json_text.hpp"

namespace kilter::dags {

namespace {

constexpr std::string_view schema = "kilter.graph/1";

class graph_reader {
 public:
  explicit graph_reader(const source_text& source) : in_(source), made_(source) {}

  dag read() {
    made_.graph().name = in_.source().name();
    made_.graph().widths.clear();  // this format can tell, so what it does not name is allowed
    in_.object([&](std::string_view key) {
      if (key == "schema")
        read_schema();
      else if (key == "name")
        made_.graph().name = in_.string();
      else if (key == "processors")
        in_.array([&] { read_processor(); });
      else if (key == "types")
        in_.array([&] { read_type(); });
      else if (key == "widths")
        in_.array([&] { made_.graph().widths.push_back(read_width()); });
      else if (key == "tasks")
        in_.array([&] { read_task(); });
      else if (key == "edges")
        in_.array([&] { read_edge(); });
      else
        refuse_key(key, "schema, name, processors, types, widths, tasks, edges");
    });
    in_.end();
    check_rows();
    return made_.finish();
  }

 private:
  [[noreturn]] void refuse_key(std::string_view key, const char* known) {
    in_.fail("unknown key '" + shown(key) + "'; there are " + known);
  }

  void read_schema() {
    const std::size_t at = in_.at();
    if (const std::string_view found = in_.string(); found != schema)
      in_.source().fail_at(at, "schema '" + shown(found) + "' is not that of a graph, '" +
                                   std::string(schema) + "'");
  }

  void read_processor() {
    if (made_.graph().processors.size() * std::max<std::size_t>(1, made_.graph().tasks.size()) >=
        most_times)
      in_.fail("too many processors");
    made_.graph().processors.emplace_back(in_.string());
  }

  void read_type() {
    dag::type type;
    const std::size_t at = in_.at();
    in_.object([&](std::string_view key) {
      if (key == "name")
        type.name = in_.string();
      else if (key == "kernel")
        type.kernel = in_.string();
      else if (key == "size")
        type.size = amount("the size of a type");
      else
        refuse_key(key, "name, kernel, size");
    });
    if (type.name.empty()) in_.source().fail_at(at, "a type without a name");
    const std::uint32_t i = made_.type(type.name);
    if (i < described_types_.size() && described_types_[i])
      in_.source().fail_at(at, "a second type with the name '" + shown(type.name) + "'");
    described_types_.resize(std::max<std::size_t>(described_types_.size(), i + 1));
    described_types_[i] = true;
    made_.graph().types[i] = std::move(type);
  }

  void read_task() {
    dag::task task;
    const std::size_t at = in_.at();
    bool has_type = false, has_seconds = false;
    row_.clear();
    in_.object([&](std::string_view key) {
      if (key == "id")
        task.id = in_.string_or_number();
      else if (key == "type") {
        task.type = made_.type(in_.string());
        has_type = true;
      } else if (key == "seconds") {
        task.seconds = amount("the seconds of a task");
        has_seconds = true;
      } else if (key == "on")
        in_.array([&] { row_.push_back(amount("the seconds of a task")); });
      else if (key == "priority")
        task.priority = read_priority();
      else if (key == "widths")
        in_.array([&] { task.widths.push_back(read_width()); });
      else
        refuse_key(key, "id, type, seconds, on, priority, widths");
    });
    if (task.id.empty()) in_.source().fail_at(at, "a task without an id");
    if (!has_type) task.type = made_.type("task");
    if (!has_seconds && !row_.empty()) task.seconds = *std::ranges::min_element(row_);
    const std::uint32_t number = made_.define(task.id, at);
    made_.task(number) = std::move(task);
    keep_row(number, at);
  }

  priority read_priority() {
    const std::size_t at = in_.at();
    const std::string_view word = in_.string();
    if (word != "high" && word != "low")
      in_.source().fail_at(at, "unknown priority '" + shown(word) + "'; there are high and low");
    return word == "high" ? priority::high : priority::low;
  }

  std::uint32_t read_width() {
    const std::size_t at = in_.at();
    const double width = in_.number();
    if (!(width >= 1.0 && width <= 65535.0) || width != std::floor(width))
      in_.source().fail_at(at,
                           "a width is a whole number from 1 to 65535, got " + number_text(width));
    return static_cast<std::uint32_t>(width);
  }

  /// Rows lie by task number, which is not the order of the tasks if edges came before them.
  void keep_row(std::uint32_t number, std::size_t at) {
    if (tasks_++ == 0) columns_ = row_.size();
    if (row_.size() != columns_) {
      const std::string id = shown(made_.task(number).id);
      in_.source().fail_at(at, "task '" + id + "' has " + std::to_string(row_.size()) +
                                   " entries in 'on', the first task has " +
                                   std::to_string(columns_) + "; all need one a processor");
    }
    if (columns_ == 0) return;
    auto& rows = made_.graph().seconds_on;
    const std::size_t first = number * columns_;
    if (first + columns_ > most_times)
      in_.source().fail_at(at, "too many times on processors; at most " +
                                   std::to_string(most_times) + " are possible");
    if (rows.size() < first + columns_) rows.resize(first + columns_);
    std::ranges::copy(row_, rows.begin() + static_cast<std::ptrdiff_t>(first));
  }

  void check_rows() {
    const std::size_t processors = made_.graph().processors.size();
    if (columns_ != processors && tasks_ > 0)
      in_.fail("the tasks have " + std::to_string(columns_) + " entries in 'on', and there are " +
               std::to_string(processors) + " processors; all need one a processor");
  }

  void read_edge() {
    const std::size_t at = in_.at();
    std::uint32_t ends[2] = {0, 0};
    double amounts[2] = {0.0, 0.0};
    std::size_t i = 0;
    in_.array([&] {
      if (i < 2) {
        const std::size_t id_at = in_.at();
        ends[i] = made_.refer(in_.string_or_number(), id_at);
      } else if (i < 4) {
        amounts[i - 2] = amount(i == 2 ? "the seconds of an edge" : "the bytes of an edge");
      }
      ++i;
    });
    if (i < 2 || i > 4)
      in_.source().fail_at(
          at, "an edge is [from, to, seconds, bytes], the last two may be left out; this one has " +
                  std::to_string(i) + " entries");
    made_.edge(ends[0], ends[1], amounts[0], amounts[1], at);
  }

  double amount(std::string_view what) {
    const std::size_t at = in_.at();
    return made_.amount(in_.number(), what, at);
  }

  json_reader in_;
  dag_builder made_;
  std::vector<bool> described_types_;
  std::vector<double> row_;
  std::size_t columns_ = 0, tasks_ = 0;
};

bool has_default(const dag::type& t) { return t.kernel.empty() && t.size == 0.0; }

}  // namespace

dag read_graph_json(const source_text& source) { return graph_reader(source).read(); }

std::string graph_json(const dag& g) {
  json_text out;
  out.raw("{\"schema\":").string(schema).raw(",\"name\":").string(g.name);
  if (!g.processors.empty()) {
    out.raw(",\n\"processors\":");
    out.list(g.processors, "", [&](const std::string& name) { out.string(name); });
  }
  // Types in their order, so that they have the same numbers when read back.
  if (g.types.size() > 1 || !has_default(g.types.front()) || g.types.front().name != "task") {
    out.raw(",\n\"types\":");
    out.list(g.types, "", [&](const dag::type& t) {
      out.raw("{\"name\":").string(t.name);
      if (!t.kernel.empty()) out.raw(",\"kernel\":").string(t.kernel);
      if (t.size != 0.0) out.raw(",\"size\":").number(t.size);
      out.raw("}");
    });
  }
  const auto widths = [&](const std::vector<std::uint32_t>& all) {
    out.raw("\"widths\":");
    out.list(all, "", [&](std::uint32_t w) { out.number(w); });
  };
  if (!g.widths.empty()) {
    out.raw(",\n");
    widths(g.widths);
  }
  out.raw(",\n\"tasks\":");
  std::uint32_t number = 0;
  out.list(g.tasks, "\n", [&](const dag::task& t) {
    out.raw("{\"id\":").string(t.id);
    if (g.types[t.type].name != "task") out.raw(",\"type\":").string(g.types[t.type].name);
    out.raw(",\"seconds\":").number(t.seconds);
    if (!g.processors.empty()) {
      out.raw(",\"on\":[");
      for (std::uint32_t p = 0; p < g.processors.size(); ++p)
        out.raw(p == 0 ? "" : ",").number(g.given_s(number, p));
      out.raw("]");
    }
    if (t.priority == priority::high) out.raw(",\"priority\":\"high\"");
    if (!t.widths.empty()) {
      out.raw(",");
      widths(t.widths);
    }
    out.raw("}");
    ++number;
  });
  out.raw(",\n\"edges\":");
  out.list(g.edges, "\n", [&](const dag::edge& e) {
    out.raw("[").string(g.tasks[e.from].id).raw(",").string(g.tasks[e.to].id);
    if (e.cost_s != 0.0 || e.bytes != 0.0) out.raw(",").number(e.cost_s);
    if (e.bytes != 0.0) out.raw(",").number(e.bytes);
    out.raw("]");
  });
  out.raw("}\n");
  return out.take();
}

}  // namespace kilter::dags
