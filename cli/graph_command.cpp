#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "draw/draw.hpp"
#include "graph/dag_limits.hpp"
#include "graph/generator.hpp"
#include "graph_files/dag_formats.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_source.hpp"
#include "kilter/error.hpp"
#include "presenting/graph_info.hpp"
#include "session/outputs.hpp"
#include "session/progress.hpp"
#include "session/terminal.hpp"
#include "words/numbers.hpp"

namespace kilter::cli {

namespace {

struct graph_options {
  std::string source, out = "-", json, format;
  bool quiet = false;
};

/// What is done after a graph was read or made, and what takes long on the way.
void work_on(const graph_options& o, const std::string& then,
             const std::function<void(const dag&)>& work) {
  lab::progress progress(2, o.quiet);
  progress.step(fmt::format("reading {}", dags::shown(o.source)));
  const dag g = load_dag(o.source);
  progress.step(then);
  work(g);
}

std::string generator_list() {
  std::string out =
      "Generators, with what they take and its defaults (all: seconds=1e-3 of a task, cost=0 of an "
      "edge, in seconds):\n";
  for (const dags::generator& g : dags::generators())
    out += fmt::format("  {:<11} {}\n  {:<11} {}\n", g.name, g.summary, "", g.parameters);
  return out;
}

void add_out(CLI::App& command, graph_options& o) {
  command
      .add_option("-o,--out", o.out,
                  "Where it goes; -: to standard output. A file that exists is replaced")
      ->type_name("FILE");
  command.add_flag("--quiet", o.quiet, "No progress line and no notes");
}

/// For commands whose output has no place for them.
void print_notes(const graph_options& o, const dag& g) {
  if (o.quiet) return;
  const std::string from = o.source == "-" ? "standard input" : dags::shown(o.source);
  for (const std::string& note : g.notes)
    lab::tell(fmt::format("kilter: {}: {}\n", from, printable(note)));
}

action add_make(CLI::App& graph) {
  auto o = std::make_shared<graph_options>();
  CLI::App* make =
      graph.add_subcommand("make", "Make a graph with a generator and write it as kilter.graph/1");
  takes(make->add_option("GENERATOR", o->source, "NAME or NAME:KEY=VALUE,...")
            ->required()
            ->type_name(""),
        {.words = generator_names});
  add_out(*make, *o);
  make->footer(generator_list() +
               "Examples:\n"
               "  kilter graph make cholesky:n=20 -o cholesky.json\n"
               "  kilter graph make layered:tasks=1000000,p=8 -o 'my graphs/large.json'\n"
               "  kilter graph make topcuoglu:tasks=60,ccr=5,processors=4,seed=7");
  return [o] {
    lab::check_output("--out", o->out);
    lab::write_output(o->out, dags::graph_json(dags::generate(o->source)));
    return 0;
  };
}

void add_source(CLI::App& command, graph_options& o) {
  takes(command
            .add_option(
                "GRAPH", o.source,
                fmt::format("A file, - for standard input, or a generator's call; formats: {}. "
                            "BUILD.dot:times=LOG takes the times of a build from Ninja's log",
                            dags::readable_formats()))
            ->required()
            ->type_name(""),
        {.words = generator_names, .files = true});
}

action add_info(CLI::App& graph) {
  auto o = std::make_shared<graph_options>();
  CLI::App* info = graph.add_subcommand(
      "info", "Tasks, edges, types, parallelism, longest path and widths of a graph");
  add_source(*info, *o);
  info->add_option("--json", o->json,
                   "Write JSON to this file; -: to standard output, instead of the text")
      ->type_name("FILE");
  info->add_flag("--quiet", o->quiet, "No progress line");
  info->footer(
      "Examples:\n"
      "  kilter graph info workflow.json\n"
      "  kilter graph info lu:tasks=5000 --json -");
  return [o] {
    lab::check_output("--json", o->json);
    work_on(*o, "measuring", [&](const dag& g) {
      if (o->json != "-") lab::show(lab::graph_info_text(g));
      if (!o->json.empty()) lab::write_output(o->json, lab::graph_info_json(g));
    });
    return 0;
  };
}

std::string written_formats() {
  std::string all;
  for (const dags::dag_format& f : dags::dag_formats())
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", f.name, f.title);
  return all;
}

action add_convert(CLI::App& graph) {
  auto o = std::make_shared<graph_options>();
  CLI::App* convert = graph.add_subcommand("convert", "Write a graph in another format");
  add_source(*convert, *o);
  takes(convert->add_option("--to", o->format, written_formats())->required()->type_name("FORMAT"),
        {.words = [] {
          std::vector<std::string> names;
          for (const dags::dag_format& f : dags::dag_formats()) names.emplace_back(f.name);
          return names;
        }});
  add_out(*convert, *o);
  convert->footer(
      "What a format has no place for is named on standard error.\n"
      "Examples:\n"
      "  kilter graph convert workflow.json --to dot -o workflow.dot\n"
      "  kilter graph convert rand0000.stg --to json");
  return [o] {
    const dags::dag_format& format = dags::dag_format_named(o->format);
    lab::check_output("--out", o->out);
    work_on(*o, "writing", [&](const dag& g) {
      lab::write_output(o->out, format.write(g));
      print_notes(*o, g);
      if (const std::string lost = dags::lost_in(format, g); !lost.empty() && !o->quiet)
        lab::tell(fmt::format("kilter: {} has no place for {}\n", format.title, lost));
    });
    return 0;
  };
}

/// What --to says, else what --out ends with; SVG where neither says anything.
picture_format format_of_picture(const graph_options& o) {
  const auto named = [](std::string_view name) {
    const auto at = std::ranges::find(picture_format_names, name);
    return at == picture_format_names.end()
               ? std::optional<picture_format>()
               : static_cast<picture_format>(at - picture_format_names.begin());
  };
  std::string ending = std::filesystem::path(o.out).extension().string();
  ending.erase(0, 1);
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::optional<picture_format> by_name = named(ending);
  if (!o.format.empty()) {
    const auto asked =
        static_cast<picture_format>(lab::parse_choice("--to", o.format, picture_format_names));
    if (by_name && by_name != asked)
      throw input_error(
          fmt::format("--out '{}' ends with another format than --to '{}'; leave one of them out",
                      o.out, o.format));
    return asked;
  }
  if (ending.empty()) return picture_format::svg;
  if (!by_name) {
    const bool dot = ending == "dot" || ending == "gv";
    throw input_error(fmt::format(
        "--out '{}': pictures are svg, png or pdf; name it so, or say which with --to{}", o.out,
        dot ? " (kilter graph convert writes dot)" : ""));
  }
  return *by_name;
}

action add_draw(CLI::App& graph) {
  auto o = std::make_shared<graph_options>();
  CLI::App* draw_command = graph.add_subcommand("draw", "Draw a graph as SVG, PNG or PDF");
  add_source(*draw_command, *o);
  takes(draw_command
            ->add_option("--to", o->format,
                         "svg, png or pdf (default: what --out ends with, else svg)")
            ->type_name("FORMAT"),
        one_of(picture_format_names));
  add_out(*draw_command, *o);
  draw_command->footer(
      fmt::format("More than {} tasks, {} edges or {} tasks on one level are drawn in groups; the "
                  "picture says so.\n"
                  "Examples:\n"
                  "  kilter graph draw workflow.json -o workflow.svg\n"
                  "  kilter graph draw qr:n=4 -o qr.png\n"
                  "  kilter graph draw cholesky:tasks=100000 -o cholesky.pdf",
                  most_drawn_tasks, most_drawn_edges, most_drawn_width));
  return [o] {
    const picture_format format = format_of_picture(*o);
    lab::check_output("--out", o->out);
    work_on(*o, "drawing", [&](const dag& g) {
      lab::write_output(o->out, draw(g, format));
      print_notes(*o, g);
    });
    return 0;
  };
}

}  // namespace

action add_graph(CLI::App& app) {
  CLI::App* graph = app.add_subcommand("graph", "Make, measure, convert and draw graphs of tasks");
  graph->require_subcommand(1);
  graph->footer("Reads " + dags::readable_formats() +
                "; the content tells which it is.\n"
                "Writes " +
                written_formats() +
                ".\n"
                "The times of a build are in Ninja's log: FILE:times=LOG, else the .ninja_log in "
                "the folder of FILE's name (build of build.dot) or beside FILE.\n"
                "Examples:\n"
                "  kilter graph make cholesky:n=20 -o cholesky.json\n"
                "  kilter graph info cholesky.json\n"
                "  kilter graph convert cholesky.json --to dot -o cholesky.dot\n"
                "  kilter graph draw cholesky.json -o cholesky.png\n"
                "  starpu_fxt_tool ... && kilter graph info tasks.rec\n"
                "  ninja -C build -t graph >build.dot && kilter graph info build.dot\n"
                "  curl -s https://example.org/montage.dax.gz | kilter graph info -");
  const std::map<std::string, action> actions{{"make", add_make(*graph)},
                                              {"info", add_info(*graph)},
                                              {"convert", add_convert(*graph)},
                                              {"draw", add_draw(*graph)}};
  return [graph, actions] { return actions.at(graph->get_subcommands().front()->get_name())(); };
}

}  // namespace kilter::cli
