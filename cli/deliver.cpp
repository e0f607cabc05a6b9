#include "cli/deliver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "kilter/error.hpp"
#include "measuring/compare.hpp"
#include "presenting/compare_json.hpp"
#include "presenting/compare_text.hpp"
#include "presenting/result_trace.hpp"
#include "report/report.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

namespace {

constexpr int done = 0;

bool stdout_taken(const outputs& out) {
  return out.how.json_path == "-" || out.how.html_path == "-" || out.how.trace_path == "-";
}

/// One file of the results, and a line that says where it is.
void write_result(const outputs& out, const char* what, const std::string& path,
                  const std::string& content) {
  lab::write_output(path, content);
  if (out.quiet || path == "-") return;
  const std::string line = fmt::format("{}: {}\n", what, printable(lab::absolute_path(path)));
  stdout_taken(out) ? lab::tell(line) : lab::write_output("-", line);
}

void write_table(const outputs& out, const text_maker& text) {
  const auto made_for = [&](int descriptor) {
    return text(lab::colour_wanted(descriptor), lab::columns_of(descriptor));
  };
  if (!stdout_taken(out))
    lab::show(made_for(STDOUT_FILENO));
  else if (!out.quiet)
    lab::show_aside(made_for(STDERR_FILENO));
}

/// Does all of them: that one output is lost must not cost the others. Throws the first failure,
/// and tells of the others.
void do_all(const std::vector<std::function<void()>>& writers) {
  std::exception_ptr first;
  for (const auto& write : writers) try {
      write();
    } catch (const lab::reader_gone&) {
      if (!first) first = std::current_exception();
    } catch (const std::exception& failure) {
      if (first)
        lab::tell(fmt::format("kilter: {}\n", printable(failure.what())));
      else
        first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

void write_document(const outputs& out, const lab::document& d) {
  if (!out.how.json_path.empty())
    write_result(out, "json", out.how.json_path, lab::document_text(d));
}

void write_report(const outputs& out, const lab::document& d) {
  if (!out.how.html_path.empty())
    write_result(out, "report", out.how.html_path, report::html(nlohmann::json(d)));
}

void deliver(const lab::comparison::outcome& o, const outputs& out) {
  const auto write_trace = [&] {
    if (out.how.trace_path.empty() || !o.experiments.front().plan) return;
    std::ostringstream trace;
    lab::write_trace(trace, *o.experiments.front().plan->machine,
                     o.experiments.front().result.details);
    write_result(out, "trace", out.how.trace_path, trace.str());
  };
  deliver(out,
          [&](bool colour, std::size_t columns) { return lab::compare_text(o, colour, columns); },
          lab::to_document(o, out.how), {write_trace});
}

}  // namespace

void add_yes(CLI::App& command, bool& yes) {
  command.add_flag("--yes", yes,
                   fmt::format("Run it although it takes longer than {}",
                               lab::duration_text(lab::longest_unasked_s)));
}

bool announce(const std::function<lab::duration()>& estimate, bool yes, const outputs& out) {
  // a large kernel may take a while to be tried
  const lab::interrupt_guard guard([] { ::_exit(stopped); });
  const std::string line = lab::announcement(estimate(), yes);
  if (lab::interrupted()) return false;
  if (!line.empty() && !out.quiet) lab::tell(fmt::format("kilter: {}\n", line));
  return true;
}

void add_results(CLI::App& command, outputs& out) {
  command
      .add_option("--json", out.how.json_path,
                  "Write everything as JSON to this file; -: to standard output")
      ->type_name("FILE");
  command.add_option("--html", out.how.html_path, "Write a self-contained report to this file")
      ->type_name("FILE");
  command.add_flag("--quiet", out.quiet,
                   "No progress line and no paths; with --json - nothing but JSON");
}

void add_outputs(CLI::App& command, outputs& out) {
  add_results(command, out);
  command
      .add_option("--trace", out.how.trace_path, "Write events for ui.perfetto.dev to this file")
      ->type_name("FILE");
}

void deliver(const outputs& out, const text_maker& text, const lab::document& d,
             const std::vector<std::function<void()>>& others) {
  std::vector<std::function<void()>> all{[&] { write_table(out, text); },
                                         [&] { write_document(out, d); },
                                         [&] { write_report(out, d); }};
  all.insert(all.end(), others.begin(), others.end());
  do_all(all);
}

void check_outputs(const outputs& out) {
  const std::pair<const char*, const std::string*> all[] = {{"--json", &out.how.json_path},
                                                            {"--html", &out.how.html_path},
                                                            {"--trace", &out.how.trace_path}};
  for (std::size_t i = 0; i < std::size(all); ++i)
    for (std::size_t j = i + 1; j < std::size(all); ++j)
      if (!all[i].second->empty() && *all[i].second == *all[j].second)
        throw input_error(fmt::format("{} '{}': {} writes there already; name another file",
                                      all[j].first, *all[j].second, all[i].first));
  lab::check_output("--json", out.how.json_path);
  lab::check_output("--trace", out.how.trace_path);
  lab::check_report_output("--html", out.how.html_path);
}

int run_and_deliver(const std::function<void()>& run, const std::function<void()>& deliver) {
  {
    const lab::interrupt_guard guard([&] {
      try {
        deliver();
      } catch (const lab::reader_gone&) {
      } catch (const std::exception& failure) {
        lab::tell(fmt::format("kilter: {}\n", printable(failure.what())));
      }
      ::_exit(stopped);
    });
    run();
  }
  deliver();
  return lab::interrupted() ? stopped : done;
}

int compare_and_deliver(std::vector<lab::experiment> all, bool yes, const outputs& out) {
  check_outputs(out);
  const auto estimate = [&] {
    lab::duration expected;
    for (const lab::experiment& e : all) expected += lab::expected_duration(e);
    return expected;
  };
  if (!announce(estimate, yes, out)) return stopped;
  const std::uint64_t steps = all.size() == 1 ? lab::steps_of(all.front()) : all.size();
  std::vector<lab::comparison::planned> planned;
  for (lab::experiment& e : all) planned.emplace_back([e = std::move(e)] { return e; });
  lab::progress progress(steps, out.quiet);
  lab::comparison work(std::move(planned), 1, lab::comparison::keeping::runs, progress);
  const auto run = [&] {
    work.run();
    progress.clear();
  };
  return run_and_deliver(run, [&] {
    const lab::comparison::outcome known = work.result();
    deliver(known, out);
    if (!known.table_lost.empty()) throw std::runtime_error(known.table_lost);
  });
}

}  // namespace kilter::cli
