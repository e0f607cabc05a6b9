#include "cli/deliver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <sstream>
#include <utility>

#include "kilter/error.hpp"
#include "lab/details.hpp"
#include "lab/interrupt.hpp"
#include "lab/outputs.hpp"
#include "lab/text.hpp"
#include "report/report.hpp"

namespace kilter::cli {

namespace {

constexpr int done = 0, stopped = 130;

void deliver(const lab::experiment& e, const lab::bench_result& r, const outputs& out) {
  const lab::document d = lab::to_document(e, r, out.how);
  const bool stdout_taken = out.how.json_path == "-" || out.how.html_path == "-" || out.how.trace_path == "-";
  if (!stdout_taken)
    lab::write_output("-", lab::bench_text(e, r, lab::colour_wanted(STDOUT_FILENO)));
  else if (!out.quiet)
    fmt::print(stderr, "{}", lab::bench_text(e, r, lab::colour_wanted(STDERR_FILENO)));
  const auto write = [&](const char* what, const std::string& path, const std::string& content) {
    lab::write_output(path, content);
    if (out.quiet || path == "-") return;
    const std::string line = fmt::format("{}: {}\n", what, lab::absolute_path(path));
    stdout_taken ? fmt::print(stderr, "{}", line) : lab::write_output("-", line);
  };
  if (!out.how.json_path.empty()) write("json", out.how.json_path, lab::document_text(d));
  if (!out.how.trace_path.empty()) {
    std::ostringstream trace;
    lab::write_trace(trace, *e.machine, r.details);
    write("trace", out.how.trace_path, trace.str());
  }
  if (!out.how.html_path.empty()) write("report", out.how.html_path, report::html(nlohmann::json(d)));
}

}  // namespace

void add_outputs(CLI::App& command, outputs& out) {
  command.add_option("--json", out.how.json_path, "Write everything as JSON to this file; -: to standard output")->type_name("FILE");
  command.add_option("--html", out.how.html_path, "Write a self-contained report to this file")->type_name("FILE");
  command.add_option("--trace", out.how.trace_path, "Write events for ui.perfetto.dev to this file")->type_name("FILE");
  command.add_flag("--quiet", out.quiet, "No progress line and no paths; with --json - nothing but JSON");
}

void check_outputs(const outputs& out) {
  const std::pair<const char*, const std::string*> all[] = {
      {"--json", &out.how.json_path}, {"--html", &out.how.html_path}, {"--trace", &out.how.trace_path}};
  for (std::size_t i = 0; i < std::size(all); ++i)
    for (std::size_t j = i + 1; j < std::size(all); ++j)
      if (!all[i].second->empty() && *all[i].second == *all[j].second)
        throw input_error(fmt::format("{} '{}': {} writes there already; name another file", all[j].first, *all[j].second, all[i].first));
  lab::check_output("--json", out.how.json_path);
  lab::check_output("--trace", out.how.trace_path);
  lab::check_report_output("--html", out.how.html_path);
}

int measure_and_deliver(lab::experiment e, const outputs& out) {
  lab::progress progress(lab::steps_of(e), out.quiet);
  const auto measured = lab::measurement::make(std::move(e), progress);
  {
    const lab::interrupt_guard guard([&] {
      try {
        deliver(measured->plan(), measured->result(), out);
      } catch (const std::exception& failure) {
        fmt::print(stderr, "kilter: {}\n", failure.what());
      }
      ::_exit(stopped);
    });
    measured->run();
  }
  progress.clear();
  deliver(measured->plan(), measured->result(), out);
  return lab::interrupted() ? stopped : done;
}

}  // namespace kilter::cli
