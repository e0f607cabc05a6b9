#include "graph_files/dag_starpu.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/task_files.hpp"

namespace kilter::dags {

namespace {

constexpr double seconds_of_millisecond = 1e-3;

struct word {
  std::string_view text;  ///< of the source
  std::size_t at = 0;
};

class starpu_reader {
 public:
  explicit starpu_reader(const source_text& source) : made_(source), text_(made_.source().text) {}

  dag read() {
    made_.graph().name = made_.source().name();
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      take_line(trimmed(text_.substr(at, end - at)), at);
      at = end + 1;
    }
    end_record();
    join();
    return made_.finish();
  }

 private:
  /// The fields of one task that mean something.
  struct record {
    word id, name, model, control, depends, start, end, handles, modes, sizes;
    std::size_t at = 0;
    bool has_fields = false;
  };
  struct dependency {
    std::uint32_t task = 0;
    word on;
  };

  void take_line(std::string_view line, std::size_t at) {
    if (line.empty()) return end_record();
    // comments, what recutils says of a file, further lines of a field
    if (line.front() == '#' || line.front() == '%' || line.front() == '+') return;
    const std::size_t colon = line.find(':');
    if (colon == line.npos)
      made_.source().fail_at(at, "a line of a record is 'Field: value', got '" + shown(line) + "'");
    if (!record_.has_fields) record_.at = at;
    record_.has_fields = true;
    word* const field = field_named(line.substr(0, colon));
    if (field) *field = {trimmed(line.substr(colon + 1)), at};
  }

  word* field_named(std::string_view name) {
    struct known {
      std::string_view name;
      word record::*field;
    };
    static constexpr known all[] = {{"JobId", &record::id},          {"Name", &record::name},
                                    {"Model", &record::model},       {"Control", &record::control},
                                    {"DependsOn", &record::depends}, {"StartTime", &record::start},
                                    {"EndTime", &record::end},       {"Handles", &record::handles},
                                    {"Modes", &record::modes},       {"Sizes", &record::sizes}};
    const auto at = std::ranges::find(all, name, &known::name);
    return at == std::end(all) ? nullptr : &(record_.*(at->field));
  }

  void end_record() {
    const record r = record_;
    record_ = {};
    if (!r.has_fields) return;
    if (r.id.text.empty())
      made_.source().fail_at(r.at, "a record without JobId; a record is a task");
    const std::uint32_t task = made_.define(r.id.text, r.id.at);
    made_.task(task).type = made_.type(!r.model.text.empty()  ? r.model.text
                                       : !r.name.text.empty() ? r.name.text
                                                              : r.control.text);
    if (!r.start.text.empty() && !r.end.text.empty()) made_.task(task).seconds = seconds_of(r);
    for (const word& one : words_of(r.depends)) dependencies_.push_back({task, one});
    if (files_of_.size() <= task) files_of_.resize(task + 1);
    take_data(r, files_of_[task]);
  }

  double seconds_of(const record& r) const {
    const double start_ms = made_.amount(r.start.text, "StartTime", r.start.at),
                 end_ms = made_.amount(r.end.text, "EndTime", r.end.at);
    if (end_ms < start_ms)
      made_.source().fail_at(
          r.end.at, "EndTime " + shown(r.end.text) + " is before StartTime " + shown(r.start.text));
    return (end_ms - start_ms) * seconds_of_millisecond;
  }

  void take_data(const record& r, task_files& files) {
    const std::vector<word> handles = words_of(r.handles), modes = words_of(r.modes),
                            sizes = words_of(r.sizes);
    // older versions write only some of them
    if (modes.size() != handles.size() || sizes.size() != handles.size()) return;
    for (std::size_t i = 0; i < handles.size(); ++i) {
      const std::uint32_t data = data_.number(handles[i].text);
      data_.set_bytes(data, made_.amount(sizes[i].text, "the size of a handle", sizes[i].at));
      if (modes[i].text.find('R') != modes[i].text.npos) files.reads.push_back(data);
      if (modes[i].text.find_first_of("WX") != modes[i].text.npos) files.writes.push_back(data);
    }
  }

  static std::vector<word> words_of(const word& field) {
    std::vector<word> words;
    for (std::size_t at = field.text.find_first_not_of(" \t"); at != field.text.npos;) {
      const std::size_t end = std::min(field.text.find_first_of(" \t", at), field.text.size());
      words.push_back({field.text.substr(at, end - at), field.at});
      at = field.text.find_first_not_of(" \t", end);
    }
    return words;
  }

  void join() {
    std::uint64_t left_out = 0;
    for (const dependency& d : dependencies_) {
      const std::optional<std::uint32_t> on = made_.find(d.on.text);
      if (on) made_.edge(*on, d.task, 0.0, 0.0, d.on.at);
      left_out += !on;
    }
    if (left_out > 0)
      made_.graph().notes.push_back(
          std::to_string(left_out) +
          " dependencies on tasks that the file does not have are left out");
    data_.set_bytes_of(made_.graph().edges, files_of_);
  }

  dag_builder made_;
  std::string_view text_;
  record record_;
  std::vector<dependency> dependencies_;
  file_table data_;
  std::vector<task_files> files_of_;  ///< by task
};

}  // namespace

dag read_starpu(const source_text& source) { return starpu_reader(source).read(); }

}  // namespace kilter::dags
