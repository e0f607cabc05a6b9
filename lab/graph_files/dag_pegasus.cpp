#include "graph_files/dag_pegasus.hpp"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/task_files.hpp"

namespace kilter::dags {

namespace {

constexpr std::size_t deepest = 100;

/// A text as a stream, without a copy of it.
struct text_buffer : std::streambuf {
  explicit text_buffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // it is only read from
    setg(begin, begin, begin + text.size());
  }
};

/// YAML as it goes by: where in the document a value stands is told by the keys on the way to it,
/// as in "jobs/uses/lfn". No tree is kept.
class pegasus_reader : YAML::EventHandler {
 public:
  explicit pegasus_reader(const source_text& source) : made_(source) {}

  dag read() {
    made_.graph().name = made_.source().name();
    text_buffer buffer(made_.source().text);
    std::istream in(&buffer);
    try {
      YAML::Parser parser(in);
      if (!parser.HandleNextDocument(*this)) made_.source().fail_at(0, "the file has no document");
      refuse_odd_key();
      if (parser.HandleNextDocument(*this))
        made_.source().fail_at(made_.source().text.size(),
                               "a second document; one workflow a file is read");
    } catch (const YAML::Exception& e) {
      made_.source().fail_at(at(e.mark), "no valid YAML: " + shown(e.msg));
    }
    files_of_.resize(made_.graph().tasks.size());
    files_.set_bytes_of(made_.graph().edges, files_of_);
    return made_.finish();
  }

 private:
  struct level {
    bool is_map = false, at_key = true;
    std::size_t path_length = 0;  ///< of what was before its keys
  };
  struct job {
    std::string id, name, file, kind;
    double seconds = 0.0;
    task_files files;
    std::size_t at = 0;
  };
  struct use {
    std::string name, link;
    double bytes = -1.0;  ///< not told
  };
  struct dependency {
    std::string id;
    std::vector<std::pair<std::string, std::size_t>> children;
  };

  static std::size_t at(const YAML::Mark& mark) {
    return static_cast<std::size_t>(std::max(0, mark.pos));
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    OnScalar(mark, {}, anchor, {});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    made_.source().fail_at(at(mark), "an alias (*name); write out what it stands for");
  }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (value.find('\0') != value.npos)
      made_.source().fail_at(at(mark), "a NUL character in a string");
    if (!levels_.empty() && levels_.back().is_map && levels_.back().at_key) {
      path_.append(path_.empty() ? "" : "/").append(value);
      levels_.back().at_key = false;
      return;
    }
    take(value, at(mark));
    end_value();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    enter(false, at(mark));
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    enter(true, at(mark));
    if (path_ == "jobs")
      job_ = {}, job_.at = at(mark);
    else if (path_ == "jobs/uses")
      use_ = {};
    else if (path_ == "jobDependencies")
      dependency_ = {};
  }
  void OnMapEnd() override {
    if (path_ == "jobs")
      end_job();
    else if (path_ == "jobs/uses")
      end_use();
    else if (path_ == "jobDependencies")
      end_dependency();
    leave();
  }

  void enter(bool is_map, std::size_t where) {
    if (levels_.size() == deepest)
      made_.source().fail_at(where,
                             "values are nested more than " + std::to_string(deepest) + " deep");
    if (!levels_.empty() && levels_.back().is_map && levels_.back().at_key && !odd_key_)
      odd_key_ = where;
    levels_.push_back({.is_map = is_map, .path_length = path_.size()});
  }
  void leave() {
    levels_.pop_back();
    end_value();
  }
  /// The key of the value that ends here stands no longer.
  void end_value() {
    if (levels_.empty() || !levels_.back().is_map) return;
    levels_.back().at_key = true;
    path_.resize(levels_.back().path_length);
  }

  /// A bracket that nothing closes makes such a key too, and what the parser says of that is the
  /// better message: so this one waits.
  void refuse_odd_key() const {
    if (odd_key_)
      made_.source().fail_at(*odd_key_, "a key that is a list or a map; keys are names");
  }

  void take(const std::string& value, std::size_t where) {
    if (odd_key_) return;
    if (path_ == "name")
      made_.graph().name = value;
    else if (path_ == "pegasus" && !value.starts_with("5"))
      made_.source().fail_at(where, "a workflow of Pegasus '" + shown(value) +
                                        "'; version 5 is read, and DAX before it");
    else if (path_ == "jobs/id")
      job_.id = value;
    else if (path_ == "jobs/name")
      job_.name = value;
    else if (path_ == "jobs/file")
      job_.file = value;
    else if (path_ == "jobs/type")
      job_.kind = value;
    else if (path_ == "jobs/profiles/pegasus/runtime" || path_ == "jobs/runtime")
      job_.seconds = made_.amount(value, "the run time of a job", where);
    else if (path_ == "jobs/uses/lfn")
      use_.name = value;
    else if (path_ == "jobs/uses/type")
      use_.link = value;
    else if (path_ == "jobs/uses/size" || path_ == "jobs/uses/metadata/size")
      use_.bytes = made_.amount(value, "the size of a file", where);
    else if (path_ == "jobDependencies/id")
      dependency_.id = value, dependency_at_ = where;
    else if (path_ == "jobDependencies/children")
      dependency_.children.emplace_back(value, where);
  }

  void end_use() {
    if (odd_key_) return;
    const std::uint32_t file = files_.number(use_.name);
    if (use_.bytes >= 0.0) files_.set_bytes(file, use_.bytes);
    if (use_.link == "input" || use_.link == "inout") job_.files.reads.push_back(file);
    if (use_.link == "output" || use_.link == "inout") job_.files.writes.push_back(file);
  }

  void end_job() {
    if (odd_key_) return;
    const std::uint32_t task = made_.define(job_.id, job_.at);
    const std::string& name = job_.name.empty() ? job_.file : job_.name;
    made_.task(task).type = made_.type(name.empty() ? job_.kind : name);
    made_.task(task).seconds = job_.seconds;
    if (files_of_.size() <= task) files_of_.resize(task + 1);
    files_of_[task] = std::move(job_.files);
  }

  void end_dependency() {
    if (odd_key_ || dependency_.children.empty()) return;
    const std::uint32_t from = made_.refer(dependency_.id, dependency_at_);
    for (const auto& [child, where] : dependency_.children)
      made_.edge(from, made_.refer(child, where), 0.0, 0.0, where);
  }

  dag_builder made_;
  file_table files_;
  std::vector<task_files> files_of_;  ///< by task
  std::vector<level> levels_;
  std::string path_;
  job job_;
  use use_;
  dependency dependency_;
  std::size_t dependency_at_ = 0;
  std::optional<std::size_t> odd_key_;  ///< where one is
};

}  // namespace

dag read_pegasus(const source_text& source) { return pegasus_reader(source).read(); }

}  // namespace kilter::dags
