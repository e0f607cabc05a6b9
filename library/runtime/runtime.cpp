#include "kilter/runtime.hpp"

#include "runtime/engine.hpp"
#include "runtime/saved_table.hpp"

namespace kilter {

runtime::runtime(runtime_options o) : runtime(std::move(o), detail::attachments{}) {}
runtime::runtime(runtime_options o, const detail::attachments& a)
    : engine_(detail::engine::make(std::move(o), a)) {}
runtime::~runtime() {
  if (engine_->can_be_stopped()) return;
  // The workers would go on in what is freed, or are not there to be joined. The process is about
  // to end: exit() in a body, or a fork's child.
  if (!engine_->forked()) engine_->runs.cancel_all();
  (void)engine_.release();
}

execution runtime::submit(graph& g, core_id as_worker) { return submit(g, {}, as_worker); }

execution runtime::submit(graph& g, const sync::stop_token& stop, core_id as_worker) {
  return execution(engine_->submit(g, stop, as_worker));
}

execution_stats runtime::run(graph& g, core_id as_worker) { return run(g, {}, as_worker); }

execution_stats runtime::run(graph& g, const sync::stop_token& stop, core_id as_worker) {
  execution e = submit(g, stop, as_worker);
  e.wait();
  return e.stats();
}

void runtime::stop() { engine_->stop(); }
void runtime::start() { engine_->start(); }
bool runtime::running() const noexcept { return engine_->running(); }
const machine& runtime::machine() const noexcept { return *engine_->settings.machine; }
const policy& runtime::policy() const noexcept {
  return engine_->settings.options.custom ? *engine_->settings.options.custom
                                          : *engine_->settings.policy;
}
std::uint32_t runtime::workers() const noexcept { return engine_->settings.machine->core_count(); }

std::vector<runtime::learned> runtime::table() const {
  std::vector<learned> out;
  for (const auto& c : engine_->tables.snapshot()) {
    if (c.samples == 0) continue;
    out.push_back({engine_->tables.row_name(c.row), engine_->tables.row_size_class(c.row),
                   engine_->settings.machine->at(c.where), c.seconds, c.intrinsic_s, c.samples});
  }
  return out;
}

std::vector<double> runtime::slowdowns() const {
  std::vector<double> out;
  for (core_id c = 0; c < workers(); ++c) out.push_back(engine_->tables.slowdown(c));
  return out;
}

double runtime::probing_s() const { return engine_->tables.probing_s(); }

void runtime::forget() {
  engine_->runs.refuse_while_any("forgetting what was learned");
  engine_->tables.clear();
}

void runtime::preset(std::string_view type, std::uint32_t size_class, place where, double seconds) {
  const auto p = machine().find(where);
  if (!p)
    throw usage_error("(" + std::to_string(where.leader) + "," + std::to_string(where.width) +
                      ") is not a place of this machine");
  if (!(seconds > 0))
    throw usage_error("a preset time is in seconds and positive, got " + std::to_string(seconds));
  engine_->tables.preset(engine_->tables.row(type, size_class), *p, seconds);
}

void runtime::save_table(const std::string& path) const {
  engine_->runs.refuse_while_any("saving what was learned");
  model::write_table(path, engine_->tables.save(), machine());
}

void runtime::load_table(const std::string& path) {
  engine_->runs.refuse_while_any("loading a table");
  const model::saved_table saved = model::read_table(path, machine());
  try {
    engine_->tables.restore(saved);
  } catch (const input_error& e) {
    throw input_error("table '" + path + "': " + e.what());
  }
}

std::vector<const tape*> runtime::tapes() const { return engine_->tapes(); }

}  // namespace kilter
