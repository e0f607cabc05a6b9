#include "graph_files/dag_dax.hpp"

#include <cstdint>
#include <vector>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/task_files.hpp"
#include "graph_files/xml_events.hpp"

namespace kilter::dags {

namespace {

class dax_reader : xml_events {
 public:
  explicit dax_reader(const source_text& source) : made_(source) {}

  dag read() {
    made_.graph().name = made_.source().name();
    read_xml(made_.source(), *this);
    files_of_.resize(made_.graph().tasks.size());
    files_.set_bytes_of(made_.graph().edges, files_of_);
    return made_.finish();
  }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  void open(std::string_view element, const xml_attributes& a, std::size_t at) override {
    if (element == "adag" && !a["name"].empty())
      made_.graph().name = a["name"];
    else if (element == "job" || element == "dax" || element == "dag")
      open_job(element, a, at);
    else if (element == "uses" && job_ != nothing)
      use(a, at);
    else if (element == "profile" && job_ != nothing && a["namespace"] == "pegasus" &&
             a["key"] == "runtime")
      in_runtime_ = true;
    else if (element == "child")
      child_ = made_.refer(a["ref"], at);
    else if (element == "parent")
      open_parent(a, at);
    at_ = at;
    text_.clear();
  }

  void close(std::string_view element) override {
    if (element == "profile" && in_runtime_) {
      made_.task(job_).seconds = made_.amount(trimmed(text_), "the run time of a job", at_);
      in_runtime_ = false;
    }
    if (element == "job" || element == "dax" || element == "dag") job_ = nothing;
    if (element == "child") child_ = nothing;
  }

  void text(std::string_view piece) override {
    if (in_runtime_) text_ += piece;
  }

  void open_job(std::string_view element, const xml_attributes& a, std::size_t at) {
    if (job_ != nothing)
      made_.source().fail_at(at, "a job within job '" + shown(made_.task(job_).id) + "'");
    job_ = made_.define(a["id"], at);
    const std::string_view name = a["name"].empty() ? a["file"] : a["name"];
    made_.task(job_).type = made_.type(name.empty() ? element : name);
    if (!a["runtime"].empty())
      made_.task(job_).seconds = made_.amount(a["runtime"], "the run time of a job", at);
    if (files_of_.size() <= job_) files_of_.resize(job_ + 1);
  }

  void use(const xml_attributes& a, std::size_t at) {
    const std::uint32_t file = files_.number(a["file"].empty() ? a["name"] : a["file"]);
    if (!a["size"].empty())
      files_.set_bytes(file, made_.amount(a["size"], "the size of a file", at));
    const std::string_view link = a["link"];
    if (link == "input" || link == "inout") files_of_[job_].reads.push_back(file);
    if (link == "output" || link == "inout") files_of_[job_].writes.push_back(file);
  }

  void open_parent(const xml_attributes& a, std::size_t at) {
    if (child_ == nothing) made_.source().fail_at(at, "a <parent> that is in no <child>");
    made_.edge(made_.refer(a["ref"], at), child_, 0.0, 0.0, at);
  }

  dag_builder made_;
  file_table files_;
  std::vector<task_files> files_of_;  ///< by task
  std::uint32_t job_ = nothing, child_ = nothing;
  bool in_runtime_ = false;
  std::string text_;
  std::size_t at_ = 0;  ///< of the element that was opened last
};

}  // namespace

dag read_dax(const source_text& source) { return dax_reader(source).read(); }

}  // namespace kilter::dags
