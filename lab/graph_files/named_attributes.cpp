#include "graph_files/named_attributes.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "graph/dag_limits.hpp"

namespace kilter::dags {

namespace {

/// SimGrid's files tell flops and leave the speed to the platform; this is its usual one.
constexpr double flops_a_second = 1e9;
/// More kinds of labels than that are names of tasks.
constexpr std::size_t most_labels = 1000;

std::string counted(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// "gemm" of "gemm(1,2)", "gemm 12" and "gemm_1_2"; nothing of a number, a record or a text with
/// marks.
std::string_view without_number(std::string_view label) {
  label = label.substr(0, label.find_first_of("\\\n([{<|"));
  const std::size_t last = label.find_last_not_of("0123456789 \t_-.,:;#");
  return last == label.npos ? std::string_view{} : label.substr(0, last + 1);
}

std::string_view as_it_is(std::string_view label) {
  return label.find_first_of("\\\n{<|") == label.npos && !number_in(label) ? label
                                                                           : std::string_view{};
}

}  // namespace

bool means_something(std::string_view name) {
  static constexpr std::string_view known[] = {"seconds", "runtime", "weight", "cost",  "size",
                                               "bytes",   "type",    "class",  "label", "priority"};
  return std::ranges::find(known, name) != std::end(known);
}

std::string attribute_named(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return means_something(lower) ? lower : std::string{};
}

void note_assumed_times(dag& g, std::uint64_t tasks, bool no_task_has, const std::string& where) {
  g.assumed_times = tasks;
  g.without_times = no_task_has && tasks > 0;
  if (g.without_times)
    g.notes.push_back("no times in the file: 1 ms each");
  else if (tasks > 0)
    g.notes.push_back(std::to_string(tasks) + " of " + std::to_string(g.tasks.size()) +
                      " tasks have no time" + where + "; each is taken to last 1 ms");
}

bool named_attributes::number_at(const attributes& from, std::string_view name,
                                 std::string_view what, double& value) const {
  const auto found = from.find(name);
  if (found == from.end()) return false;
  const attribute& a = found->second;
  const std::optional<double> number = number_in(a.value);
  if (!number)
    made_.source().fail_at(
        a.at, std::string(what) + " must be a number of at least 0, got '" + shown(a.value) + "'");
  value = *number;
  return true;
}

named_attributes::amount named_attributes::seconds_of(const attributes& from,
                                                      std::string_view what) const {
  static constexpr std::pair<std::string_view, source> names[] = {{"seconds", source::seconds},
                                                                  {"runtime", source::seconds},
                                                                  {"weight", source::weight},
                                                                  {"cost", source::weight}};
  for (const auto& [name, means] : names)
    if (double value = 0.0; number_at(from, name, what, value))
      return {made_.amount(value, what, from.find(name)->second.at), means};
  return {};
}

void named_attributes::describe(std::uint32_t task, const attributes& own) {
  if (known_.size() <= task) known_.resize(task + 1);
  what_is_known& known = known_[task];
  amount time = seconds_of(own, "the seconds of a task");
  if (double flops = 0.0;
      time.from == source::none && number_at(own, "size", "the size of a task in flops", flops))
    time = {made_.amount(flops, "the size of a task in flops", own.find("size")->second.at) /
                flops_a_second,
            source::size};
  if (time.from != source::none) {
    made_.task(task).seconds = time.value;
    known.time = time.from;
  }
  for (const char* name : {"type", "class"})
    if (const auto type = own.find(name); type != own.end()) {
      made_.task(task).type = made_.type(type->second.value);
      known.typed = true;
      break;
    }
  if (const auto p = own.find("priority"); p != own.end())
    made_.task(task).priority = p->second.value == "high" ? priority::high : priority::low;
  if (const auto label = own.find("label"); label != own.end()) {
    const auto [at, is_new] =
        label_of_.try_emplace(label->second.value, static_cast<std::uint32_t>(labels_.size()));
    if (is_new) labels_.push_back(label->second.value);
    known.label = at->second;
  }
}

void named_attributes::runs_nothing(std::uint32_t task, std::string_view type) {
  if (known_.size() <= task) known_.resize(task + 1);
  if (known_[task].time == source::none) known_[task].time = source::nothing_to_run;
  made_.task(task).type = made_.type(type);
  known_[task].typed = true;
}

void named_attributes::join(const std::vector<std::uint32_t>& from,
                            const std::vector<std::uint32_t>& to, const attributes& own,
                            std::size_t at) {
  const amount cost = seconds_of(own, "the seconds of an edge");
  double bytes = 0.0;
  bool sized = false;
  if (number_at(own, "bytes", "the bytes of an edge", bytes)) {
    bytes = made_.amount(bytes, "the bytes of an edge", own.find("bytes")->second.at);
  } else if (number_at(own, "size", "the size of an edge in bytes", bytes)) {
    sized = bytes > 0.0;  // SimGrid writes -1 where nothing is handed over
    bytes = bytes < 0.0
                ? 0.0
                : made_.amount(bytes, "the size of an edge in bytes", own.find("size")->second.at);
  }
  const auto label = own.find("label");
  const bool numbered =
      cost.from == source::none && label != own.end() && number_in(label->second.value);
  for (const std::uint32_t f : from)
    for (const std::uint32_t t : to) {
      made_.edge(f, t, cost.value, bytes, at);
      weighed_edges_ += cost.from == source::weight;
      sized_edges_ += sized;
      numbered_edges_ += numbered;
    }
}

void named_attributes::finish() {
  known_.resize(made_.graph().tasks.size());
  std::uint64_t timeless = 0, nothing_to_run = 0, weighed = 0, sized = 0;
  for (std::uint32_t t = 0; t < known_.size(); ++t) {
    if (known_[t].time == source::none) made_.task(t).seconds = assumed_seconds;
    timeless += known_[t].time == source::none;
    nothing_to_run += known_[t].time == source::nothing_to_run;
    weighed += known_[t].time == source::weight;
    sized += known_[t].time == source::size;
  }
  auto& notes = made_.graph().notes;
  note_assumed_times(made_.graph(), timeless, timeless + nothing_to_run == known_.size(),
                     " (seconds=)");
  if (weighed > 0)
    notes.push_back("weight or cost of " + counted(weighed, "task") + " is taken for seconds");
  if (sized > 0)
    notes.push_back("size of " + counted(sized, "task") +
                    " is taken for flops, as in SimGrid's files, and 1e9 of them for a second");
  if (weighed_edges_ > 0)
    notes.push_back("weight or cost of " + counted(weighed_edges_, "edge") +
                    " is taken for seconds, paid if its tasks run on different cores");
  if (sized_edges_ > 0)
    notes.push_back("size of " + counted(sized_edges_, "edge") +
                    " is taken for bytes, as in SimGrid's files");
  if (numbered_edges_ > 0)
    notes.push_back("a label is a name: the numbers that label " +
                    counted(numbered_edges_, "edge") + " mean nothing; write seconds= or bytes=");
  types_from_labels();
}

void named_attributes::types_from_labels() {
  if (type_of_label_)
    label_types(type_of_label_);
  else if (!guess_types(as_it_is))
    (void)guess_types(without_number);
  for (std::uint32_t t = 0; t < known_.size(); ++t)
    if (!known_[t].typed) made_.task(t).type = made_.type("task");
}

void named_attributes::label_types(
    const std::function<std::string_view(std::string_view)>& type_of) {
  for (std::uint32_t t = 0; t < known_.size(); ++t) {
    if (known_[t].typed || known_[t].label == no_label) continue;
    const std::string_view type = type_of(labels_[known_[t].label]);
    if (type.empty()) continue;
    made_.task(t).type = made_.type(type);
    known_[t].typed = true;
  }
}

/// Labels are types if each stands on two tasks or more in the mean; else they are names of tasks.
bool named_attributes::guess_types(
    const std::function<std::string_view(std::string_view)>& type_of) {
  std::unordered_set<std::string_view> types;
  std::uint64_t labelled = 0;
  for (const what_is_known& known : known_) {
    const std::string_view type =
        known.typed || known.label == no_label ? std::string_view{} : type_of(labels_[known.label]);
    if (type.empty()) continue;
    ++labelled;
    types.insert(type);
  }
  if (labelled == 0 || types.size() * 2 > labelled || types.size() > most_labels) return false;
  label_types(type_of);
  made_.graph().notes.push_back("labels of " + counted(labelled, "task") + " are taken for types");
  return true;
}

}  // namespace kilter::dags
