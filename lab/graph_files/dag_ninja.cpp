#include "graph_files/dag_ninja.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/dot_words.hpp"
#include "graph_files/named_attributes.hpp"

namespace kilter::dags {

namespace {

constexpr std::string_view rule_that_runs_nothing = "phony";

class ninja_reader {
 public:
  explicit ninja_reader(const source_text& source)
      : source_(source), words_(source), made_(source) {}

  dag read(const build_log* log) {
    made_.graph().name = source_.name();
    for (int i = 0; i < 2; ++i) (void)words_.take();  // digraph ninja
    words_.expect("{");
    while (!words_.take_if("}")) read_statement();
    if (words_.next().what != dot_word::kind::end)
      words_.unexpected("the end of the file (one graph a file)");
    tell_commands_from_files();
    define_tasks();
    join();
    take_times(log);
    return made_.finish();
  }

 private:
  struct node {
    /// a path or a rule; empty: a file that nothing uses, of which Ninja tells no path
    std::string label;
    std::size_t at = 0;  ///< of the label
    bool is_command = false;
  };
  /// One command with one file that it uses and one that it makes, if it has a rule; else an edge
  /// between a file and a command.
  struct arrow {
    std::uint32_t from = 0, to = 0;
    std::string rule;
    std::size_t at = 0;
  };
  struct command {
    std::string rule;
    std::size_t at = 0;
    std::vector<std::uint32_t> uses{}, makes{};  ///< nodes
    std::uint32_t task = 0;
  };
  struct said {
    std::string label, shape;
  };

  void read_statement() {
    const dot_word first = words_.take_id("a node or '}'");
    if (words_.take_if("=")) return static_cast<void>(words_.take_id("a value"));
    if (first.is_keyword("node") || first.is_keyword("edge"))
      return static_cast<void>(read_attributes());
    const std::uint32_t from = node_named(first);
    if (words_.take_if("->")) {
      const std::uint32_t to = node_named(words_.take_id("a node"));
      arrows_.push_back({from, to, std::string(trimmed(read_attributes().label)), first.at});
      return;
    }
    said own = read_attributes();
    if (own.label.empty())
      source_.fail_at(first.at, "a node without a label; Ninja writes the file or the rule");
    nodes_[from] = {std::move(own.label), first.at, own.shape == "ellipse"};
  }

  said read_attributes() {
    said all;
    while (words_.take_if("["))
      while (!words_.take_if("]")) {
        const std::string key = words_.take_id("an attribute or ']'").text;
        words_.expect("=");
        std::string value = words_.take_id("a value").text;
        if (key == "label") all.label = std::move(value);
        if (key == "shape") all.shape = std::move(value);
        (void)words_.take_if(",");
      }
    return all;
  }

  std::uint32_t node_named(const dot_word& id) {
    const auto [at, is_new] =
        node_of_.try_emplace(id.text, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.emplace_back();
    return at->second;
  }

  void tell_commands_from_files() {
    std::vector<std::uint32_t> command_of(nodes_.size());
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!nodes_[n].is_command) continue;
      command_of[n] = static_cast<std::uint32_t>(commands_.size());
      commands_.push_back({.rule = nodes_[n].label, .at = nodes_[n].at});
    }
    for (arrow& a : arrows_) {
      const bool from_command = nodes_[a.from].is_command, to_command = nodes_[a.to].is_command;
      if (!from_command && !to_command && !a.rule.empty())
        commands_.push_back(
            {.rule = std::move(a.rule), .at = a.at, .uses = {a.from}, .makes = {a.to}});
      else if (from_command && !to_command)
        commands_[command_of[a.from]].makes.push_back(a.to);
      else if (to_command && !from_command)
        commands_[command_of[a.to]].uses.push_back(a.from);
      else
        source_.fail_at(a.at,
                        "an edge of Ninja joins a file and a command, or two files under a rule");
    }
  }

  void define_tasks() {
    maker_of_.resize(nodes_.size());
    for (std::uint32_t c = 0; c < commands_.size(); ++c) {
      command& one = commands_[c];
      const auto named = std::ranges::find_if(
          one.makes, [&](std::uint32_t file) { return !nodes_[file].label.empty(); });
      if (named == one.makes.end())
        source_.fail_at(
            one.at, "a command of rule '" + shown(one.rule) + "' makes no file that has a label");
      one.task = made_.define(nodes_[*named].label, one.at);
      made_.task(one.task).type =
          made_.type(std::string_view(one.rule).substr(0, one.rule.find("__")));
      for (const std::uint32_t file : one.makes) {
        if (maker_of_[file])
          source_.fail_at(one.at,
                          "a second command that makes '" + shown(nodes_[file].label) + "'");
        maker_of_[file] = one.task;
      }
    }
  }

  void join() {
    for (const command& c : commands_)
      for (const std::uint32_t file : c.uses)
        if (maker_of_[file]) made_.edge(*maker_of_[file], c.task, 0.0, 0.0, c.at);
  }

  void take_times(const build_log* log) {
    std::uint64_t known = 0, unknown = 0;
    for (const command& c : commands_) {
      if (c.rule == rule_that_runs_nothing) continue;
      const std::optional<double> seconds =
          log ? log->seconds_of(made_.task(c.task).id) : std::nullopt;
      made_.task(c.task).seconds = seconds.value_or(assumed_seconds);
      ++(seconds ? known : unknown);
    }
    auto& notes = made_.graph().notes;
    if (known > 0)
      notes.push_back("times of " + std::to_string(known) + " tasks are from " +
                      printable(log->file()));
    note_assumed_times(made_.graph(), unknown, known == 0,
                       log ? " in " + printable(log->file()) : std::string());
    if (!made_.graph().without_times) return;
    notes.push_back(
        "the times of a build are in its .ninja_log; name it: GRAPH:times=build/.ninja_log");
  }

  source_text source_;
  dot_words words_;
  dag_builder made_;
  std::vector<node> nodes_;
  std::unordered_map<std::string, std::uint32_t> node_of_;
  std::vector<arrow> arrows_;
  std::vector<command> commands_;
  std::vector<std::optional<std::uint32_t>> maker_of_;  ///< the task that makes it, by node
};

}  // namespace

bool is_ninja_graph(const source_text& source) {
  static constexpr std::string_view begin = "digraph ninja {";
  // a person's graph may have that name too
  return source.text.starts_with(begin) &&
         trimmed(source.text.substr(begin.size())).starts_with("rankdir=");
}

dag read_ninja(const source_text& source, const build_log* log) {
  return ninja_reader(source).read(log);
}

}  // namespace kilter::dags
