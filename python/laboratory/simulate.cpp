#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "graph_files/dag_source.hpp"
#include "laboratory/parts.hpp"
#include "laboratory/policy.hpp"
#include "measuring/compare.hpp"
#include "measuring/presets.hpp"
#include "presenting/compare_json.hpp"
#include "sim/platform_file.hpp"

namespace kilter::python {

namespace {

using nlohmann::json;

lab::engine_choice engine_of(const json& on) {
  if (on.is_string()) return lab::read_engine("on", on.get<std::string>());
  const std::string name = on.at("name");
  lab::engine_choice e;
  e.written = "sim:" + name;
  e.platform = name;
  e.given = std::make_shared<const sim::platform>(
      sim::parse_platform(name, on.at("toml").get<std::string>()));
  return e;
}

/// Each is a name, or the number of one of `own`.
void read_policies(lab::specification& s, const json& asked, PyObject* own,
                   const std::shared_ptr<failure>& failed) {
  s.policy_lists.clear();
  for (const json& one : asked) {
    if (one.is_string()) {
      s.policy_lists.push_back(lab::read_policies({one.get<std::string>()}).front());
      continue;
    }
    const std::string name = one.at("name");
    const object answers = object::borrowed(PyTuple_GetItem(own, one.at("own").get<Py_ssize_t>()));
    s.policy_lists.push_back({.written = name, .names = {name}});
    s.own_policies[name] = [answers, failed](const machine& m, const policy_options& o) {
      return policy_in_python(answers, failed, m, o);
    };
  }
}

lab::compare_specification specification_of(const json& asked, PyObject* own,
                                            const std::shared_ptr<failure>& failed) {
  lab::compare_specification s;
  s.like = asked.at("like");
  s.scale = asked.at("scale");
  s.widths = asked.at("widths");
  for (const json& g : asked.at("graphs")) {
    if (g.contains("text"))
      s.given.push_back(lab::make_given(
          dags::read_dag(g.at("name"), g.at("text").get<std::string>()), g.at("name"),
          {{"like", s.like}, {"scale", s.scale}, {"widths", s.widths}}));
    else if (g.contains("parameters"))
      s.workload = g.at("name"), s.parameters = g.at("parameters");
    else
      s.graphs.push_back(g.at("name"));
  }
  for (const json& on : asked.at("on")) s.on.push_back(engine_of(on));
  s.common.repeats = 3;
  read_policies(s.common, asked.at("policies"), own, failed);
  s.common = lab::read_settings(std::move(s.common), asked.at("settings"),
                                asked.at("as").get<std::string>());
  for (const json& text : asked.at("disturb"))
    s.common.disturb.push_back(lab::read_disturbances(text.get<std::string>()));
  s.common.details = asked.at("details");
  return s;
}

}  // namespace

PyObject* simulate(PyObject*, PyObject* given) {
  const auto failed = std::make_shared<failure>();
  PyObject *text = nullptr, *own = nullptr;
  int interruptible = 0;
  if (!PyArg_ParseTuple(given, "UO!p", &text, &PyTuple_Type, &own, &interruptible)) return nullptr;
  return guarded([&]() -> object {
    try {
      const json asked = json::parse(text_of(text));
      std::string document;
      // Where policies are Python's, giving the lock away and taking it back for each question
      // would wait for whoever took it meanwhile.
      long_work(interruptible != 0, PyTuple_Size(own) == 0, [&] {
        std::vector<lab::experiment> all = lab::plan(specification_of(asked, own, failed));
        const std::uint64_t steps = all.size() == 1 ? lab::steps_of(all.front()) : all.size();
        std::vector<lab::comparison::planned> planned;
        for (lab::experiment& e : all) planned.emplace_back([e = std::move(e)] { return e; });
        lab::progress progress(steps, asked.at("quiet"));
        lab::comparison work(std::move(planned), 1, lab::comparison::keeping::runs, progress);
        work.run();
        progress.clear();
        const lab::comparison::outcome known = work.result();
        if (!known.table_lost.empty()) throw std::runtime_error(known.table_lost);
        document = lab::document_text(lab::to_document(known, {.command_line = asked.at("command"),
                                                               .json_path = {},
                                                               .html_path = {},
                                                               .trace_path = {}}));
      });
      return text_object(document);
    } catch (...) {
      if (failed->restore()) throw python_error{};
      throw;
    }
  });
}

}  // namespace kilter::python
