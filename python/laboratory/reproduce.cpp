#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "claims/readings.hpp"
#include "claims/reproduction.hpp"
#include "laboratory/parts.hpp"
#include "presenting/figure_json.hpp"
#include "presenting/reproduce_json.hpp"

namespace kilter::python {

PyObject* reproduce(PyObject*, PyObject* given) {
  PyObject* text = nullptr;
  int interruptible = 0;
  if (!PyArg_ParseTuple(given, "Up", &text, &interruptible)) return nullptr;
  return guarded([&]() -> object {
    const nlohmann::json asked = nlohmann::json::parse(text_of(text));
    std::string verdicts, figures;
    long_work(interruptible != 0, true, [&] {
      auto files = lab::read_experiments(lab::experiments_directory());
      const std::vector<std::string> ids = lab::chosen_claims(files, asked.at("claims"));
      const std::string as = asked.at("as");
      lab::read_as(files, as, lab::read_readings(lab::experiments_directory()));
      lab::reproduction work(files, {.draws = asked.at("figures")});
      lab::progress progress(work.steps(ids), asked.at("quiet"));
      lab::reproduced results = work.run(ids, progress);
      progress.clear();
      lab::add_recorded(results.claims, files);
      nlohmann::ordered_json d = lab::to_json(std::span<const lab::claim_result>(results.claims));
      d["as"] = as;
      verdicts = d.dump(1) + "\n";
      figures = lab::report_document(results.claims, results.figures).at("figures").dump();
    });
    return checked(PyTuple_Pack(2, text_object(verdicts).get(), text_object(figures).get()));
  });
}

}  // namespace kilter::python
