#include "graph_files/dag_wfcommons.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/json_reader.hpp"
#include "graph_files/task_files.hpp"

namespace kilter::dags {

namespace {

struct reference {
  std::string to;
  std::size_t at = 0;
};

struct record {
  std::string name, id, category, program;
  double seconds = 0.0;
  std::size_t at = 0;
  std::vector<reference> parents, children;
  task_files files;
};

/// "mProject_ID0000001" and "FASTQC (sample 1)" without what tells one task from the next.
std::string_view without_number(std::string_view name) {
  if (const std::size_t bracket = name.find(" ("); bracket != name.npos && bracket > 0)
    name = name.substr(0, bracket);
  const std::size_t id = name.rfind("_ID");
  const bool numbered = id != name.npos && id > 0 && id + 3 < name.size() &&
                        name.find_first_not_of("0123456789", id + 3) == name.npos;
  return numbered ? name.substr(0, id) : name;
}

std::string type_name(const record& r) {
  if (!r.category.empty()) return r.category;
  // A workflow system that numbers its tasks names them after the program, and goes on with their
  // data.
  const std::string_view base = without_number(r.name);
  if (base.size() < r.name.size() && !r.program.empty() && base.starts_with(r.program))
    return r.program;
  return std::string(base);
}

class wfcommons_reader {
 public:
  explicit wfcommons_reader(const source_text& source) : in_(source), made_(source) {}

  dag read() {
    in_.object([&](std::string_view key) {
      if (key == "name")
        made_.graph().name = text();
      else if (key == "schemaVersion")
        by_name_first_ = text() < "1.5";
      else if (key == "workflow")
        read_workflow();
      else
        in_.skip();
    });
    in_.end();
    define_tasks();
    take_runs();
    join();
    return made_.finish();
  }

 private:
  /// A string, a number as it is written, or nothing for null.
  std::string text() {
    if (in_.next() != json_reader::kind::null) return std::string(in_.string_or_number());
    in_.skip();
    return {};
  }
  double amount(std::string_view what) {
    const std::size_t at = in_.at();
    if (in_.next() != json_reader::kind::null) return made_.amount(in_.number(), what, at);
    in_.skip();
    return 0.0;
  }
  template <class Each>
  void list(Each&& each) {
    if (in_.next() == json_reader::kind::null) return in_.skip();
    in_.array(each);
  }

  void read_workflow() {
    in_.object([&](std::string_view key) {
      if (key == "tasks" || key == "jobs")
        list([&] { tasks_.push_back(read_task()); });
      else if (key == "specification")
        read_specification();
      else if (key == "execution")
        read_execution();
      else
        in_.skip();
    });
  }

  void read_specification() {
    in_.object([&](std::string_view key) {
      if (key == "tasks")
        list([&] { tasks_.push_back(read_task()); });
      else if (key == "files")
        list([&] { read_file(); });
      else
        in_.skip();
    });
  }

  void read_execution() {
    in_.object([&](std::string_view key) {
      if (key == "tasks")
        list([&] { runs_.push_back(read_task()); });
      else
        in_.skip();
    });
  }

  /// What the versions say of a task, be it in one place or in two.
  record read_task() {
    record r;
    r.at = in_.at();
    in_.object([&](std::string_view key) {
      if (key == "name")
        r.name = text();
      else if (key == "id")
        r.id = text();
      else if (key == "category")
        r.category = text();
      else if (key == "runtimeInSeconds" || key == "runtime")
        r.seconds = amount("the run time of a task");
      else if (key == "parents")
        list([&] { r.parents.push_back(read_reference()); });
      else if (key == "children")
        list([&] { r.children.push_back(read_reference()); });
      else if (key == "inputFiles")
        list([&] { r.files.reads.push_back(files_.number(text())); });
      else if (key == "outputFiles")
        list([&] { r.files.writes.push_back(files_.number(text())); });
      else if (key == "files")
        list([&] { read_linked_file(r); });
      else if (key == "command" && in_.next() == json_reader::kind::object)
        read_command(r);
      else
        in_.skip();
    });
    return r;
  }

  reference read_reference() {
    const std::size_t at = in_.at();
    return {text(), at};
  }

  void read_command(record& r) {
    in_.object([&](std::string_view key) {
      if (key == "program")
        r.program = text();
      else
        in_.skip();
    });
  }

  /// Version 1.5: all files in one list.
  void read_file() {
    std::string name;
    double bytes = 0.0;
    in_.object([&](std::string_view key) {
      if (key == "id")
        name = text();
      else if (key == "sizeInBytes")
        bytes = amount("the size of a file");
      else
        in_.skip();
    });
    files_.set_bytes(files_.number(name), bytes);
  }

  /// Before 1.5: with the task, and which way it goes.
  void read_linked_file(record& r) {
    std::string name, path, link;
    double bytes = 0.0;
    in_.object([&](std::string_view key) {
      if (key == "name")
        name = text();
      else if (key == "path")
        path = text();
      else if (key == "link")
        link = text();
      else if (key == "sizeInBytes" || key == "size")
        bytes = amount("the size of a file");
      else
        in_.skip();
    });
    const std::uint32_t number = files_.number(path + name);
    files_.set_bytes(number, bytes);
    (link == "input" ? r.files.reads : r.files.writes).push_back(number);
  }

  void define_tasks() {
    for (record& r : tasks_) {
      const std::uint32_t t = made_.define(r.id.empty() ? r.name : r.id, r.at);
      made_.task(t).seconds = r.seconds;
      const auto [at, is_new] = by_name_.try_emplace(r.name, t);
      if (!is_new) at->second = several;
      by_id_.try_emplace(made_.task(t).id, t);
      r.files.tidy();
    }
  }

  /// The task that a reference means: since 1.5 an id, before that a name, and the other one where
  /// files do not keep to it.
  std::uint32_t find(const std::string& what, std::size_t at) const {
    const auto id = by_id_.find(what), name = by_name_.find(what);
    const bool is_id = id != by_id_.end(),
               is_name = name != by_name_.end() && name->second != several;
    if (is_name && (by_name_first_ || !is_id)) return name->second;
    if (is_id) return id->second;
    if (name != by_name_.end())
      made_.source().fail_at(
          at, "several tasks have the name '" + shown(what) + "'; an id is needed here");
    made_.source().fail_at(at, "there is no task with the id or name '" + shown(what) + "'");
  }

  void take_runs() {
    for (const record& run : runs_) {
      const std::uint32_t t = find(run.id.empty() ? run.name : run.id, run.at);
      made_.task(t).seconds = run.seconds;
      if (!run.program.empty()) tasks_[t].program = run.program;
    }
    for (std::uint32_t t = 0; t < tasks_.size(); ++t)
      made_.task(t).type = made_.type(type_name(tasks_[t]));
  }

  void join() {
    std::vector<bool> has_parent(tasks_.size());
    const auto edge = [&](std::uint32_t from, std::uint32_t to, std::size_t at) {
      made_.edge(from, to, 0.0, 0.0, at);
      has_parent[to] = true;
    };
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      for (const reference& p : tasks_[t].parents) edge(find(p.to, p.at), t, p.at);
      for (const reference& c : tasks_[t].children) edge(t, find(c.to, c.at), c.at);
    }
    follow_files(has_parent);
    std::vector<task_files> files;
    for (record& r : tasks_) files.push_back(std::move(r.files));
    files_.set_bytes_of(made_.graph().edges, files);
  }

  void follow_files(const std::vector<bool>& has_parent) {
    std::vector<std::vector<std::uint32_t>> writers(files_.size());
    for (std::uint32_t t = 0; t < tasks_.size(); ++t)
      for (const std::uint32_t f : tasks_[t].files.writes) writers[f].push_back(t);
    for (std::uint32_t t = 0; t < tasks_.size(); ++t)
      if (!has_parent[t])
        for (const std::uint32_t f : tasks_[t].files.reads)
          for (const std::uint32_t w : writers[f])
            if (w != t) made_.edge(w, t, 0.0, 0.0, tasks_[t].at);
  }

  static constexpr std::uint32_t several = ~std::uint32_t{0};

  json_reader in_;
  dag_builder made_;
  bool by_name_first_ = false;
  std::vector<record> tasks_, runs_;
  std::unordered_map<std::string, std::uint32_t> by_id_, by_name_;
  file_table files_;
};

}  // namespace

dag read_wfcommons(const source_text& source) { return wfcommons_reader(source).read(); }

}  // namespace kilter::dags
