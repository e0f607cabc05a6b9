#include "cli/deliver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <sstream>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "kilter/error.hpp"
#include "lab/details.hpp"
#include "lab/interrupt.hpp"
#include "lab/outputs.hpp"
#include "lab/text.hpp"
#include "report/report.hpp"

namespace kilter::cli {

namespace {

constexpr int done = 0;

bool stdout_taken(const outputs& out) { return out.how.json_path == "-" || out.how.html_path == "-" || out.how.trace_path == "-"; }

/// One file of the results, and a line that says where it is.
void write_result(const outputs& out, const char* what, const std::string& path, const std::string& content) {
  lab::write_output(path, content);
  if (out.quiet || path == "-") return;
  const std::string line = fmt::format("{}: {}\n", what, printable(lab::absolute_path(path)));
  stdout_taken(out) ? fmt::print(stderr, "{}", line) : lab::write_output("-", line);
}

void write_table(const outputs& out, const std::function<std::string(bool colour)>& text) {
  if (!stdout_taken(out))
    lab::write_output("-", text(lab::colour_wanted(STDOUT_FILENO)));
  else if (!out.quiet)
    fmt::print(stderr, "{}", text(lab::colour_wanted(STDERR_FILENO)));
}

void deliver(const lab::experiment& e, const lab::bench_result& r, const outputs& out) {
  const lab::document d = lab::to_document(e, r, out.how);
  write_table(out, [&](bool colour) { return lab::bench_text(e, r, colour); });
  if (!out.how.json_path.empty()) write_result(out, "json", out.how.json_path, lab::document_text(d));
  if (!out.how.trace_path.empty()) {
    std::ostringstream trace;
    lab::write_trace(trace, *e.machine, r.details);
    write_result(out, "trace", out.how.trace_path, trace.str());
  }
  if (!out.how.html_path.empty()) write_result(out, "report", out.how.html_path, report::html(nlohmann::json(d)));
}

}  // namespace

void add_yes(CLI::App& command, bool& yes) {
  command.add_flag("--yes", yes, fmt::format("Run it although it takes longer than {}", lab::duration_text(lab::longest_unasked_s)));
}

void announce(const lab::duration& d, bool yes, const outputs& out) {
  if (const std::string line = lab::announcement(d, yes); !line.empty() && !out.quiet) fmt::print(stderr, "kilter: {}\n", line);
}

void add_results(CLI::App& command, outputs& out) {
  command.add_option("--json", out.how.json_path, "Write everything as JSON to this file; -: to standard output")->type_name("FILE");
  command.add_option("--html", out.how.html_path, "Write a self-contained report to this file")->type_name("FILE");
  command.add_flag("--quiet", out.quiet, "No progress line and no paths; with --json - nothing but JSON");
}

void add_outputs(CLI::App& command, outputs& out) {
  add_results(command, out);
  command.add_option("--trace", out.how.trace_path, "Write events for ui.perfetto.dev to this file")->type_name("FILE");
}

void deliver(const outputs& out, const std::function<std::string(bool colour)>& text, const lab::document& d) {
  write_table(out, text);
  if (!out.how.json_path.empty()) write_result(out, "json", out.how.json_path, lab::document_text(d));
  if (!out.how.html_path.empty()) write_result(out, "report", out.how.html_path, report::html(nlohmann::json(d)));
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

int run_and_deliver(const std::function<void()>& run, const std::function<void()>& deliver) {
  {
    const lab::interrupt_guard guard([&] {
      try {
        deliver();
      } catch (const std::exception& failure) {
        fmt::print(stderr, "kilter: {}\n", printable(failure.what()));
      }
      ::_exit(stopped);
    });
    run();
  }
  deliver();
  return lab::interrupted() ? stopped : done;
}

int measure_and_deliver(lab::experiment e, const outputs& out) {
  lab::progress progress(lab::steps_of(e), out.quiet);
  const auto measured = lab::measurement::make(std::move(e), progress);
  const auto run = [&] {
    measured->run();
    progress.clear();
  };
  return run_and_deliver(run, [&] { deliver(measured->plan(), measured->result(), out); });
}

}  // namespace kilter::cli
