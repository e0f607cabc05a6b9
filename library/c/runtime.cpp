// The first part of kilter/kilter.h: workers of Kilter's.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "c/last_error.hpp"
#include "kilter/kilter.h"
#include "kilter/parallel.hpp"
#include "runtime/engine.hpp"
#include "runtime/loop_shares.hpp"

struct kilter_runtime {
  kilter::runtime cpp;
  [[nodiscard]] kilter::detail::engine& engine() noexcept {
    return kilter::detail::runtime_access::of(cpp);
  }
};

namespace kilter::c {

namespace {

constexpr std::size_t most_workers = 1024;

runtime_options checked(const kilter_runtime_options* given) {
  runtime_options o;
  o.shares_cores = true;  // also where a number of workers is given
  if (!given) return o;
  if (given->size != sizeof *given)
    throw usage_error("options.size is " + std::to_string(given->size) + ", and " +
                      std::to_string(sizeof *given) +
                      " in this version of Kilter; begin with KILTER_RUNTIME_OPTIONS_INIT");
  if (given->workers > most_workers)
    throw input_error("options.workers is " + std::to_string(given->workers) + "; at most " +
                      std::to_string(most_workers) + " are supported, 0 is one for each core");
  if (given->policy) o.policy = given->policy;
  o.pinned = given->unpinned == 0;
  if (given->workers == 0) return o;
  const auto workers = static_cast<std::uint32_t>(given->workers);
  auto here = machine::local();
  o.machine = std::make_shared<const machine>(
      workers <= here.core_count() ? std::move(here) : machine::uniform(workers));
  o.max_workers = workers;
  return o;
}

kilter_runtime& checked(kilter_runtime* runtime) {
  need(runtime, "runtime is NULL; give what kilter_runtime_create made");
  return *runtime;
}

std::string loop_named(const char* name) { return detail::loop_name({.type = name}, {}); }

struct body_of_c {
  std::size_t begin;
  kilter_body body;
  void* data;
};

void run_piece(void* of, std::uint64_t from, std::uint64_t to) {
  const auto& call = *static_cast<const body_of_c*>(of);
  try {
    call.body(call.begin + from, call.begin + to, call.data);
  } catch (const std::exception& e) {
    throw body_failed(std::string("the body threw: ") + e.what());
  } catch (...) {
    throw body_failed("the body threw something that is no std::exception");
  }
}

}  // namespace

}  // namespace kilter::c

namespace of_c = kilter::c;

extern "C" {

int kilter_runtime_create(const kilter_runtime_options* options, kilter_runtime** runtime) {
  return of_c::guarded(__func__, [&] {
    of_c::need(runtime, "runtime is NULL; give the address of a kilter_runtime*");
    *runtime = nullptr;
    *runtime = new kilter_runtime{kilter::runtime(of_c::checked(options))};
  });
}

int kilter_runtime_destroy(kilter_runtime* runtime) {
  if (!runtime) return KILTER_OK;
  return of_c::guarded(__func__, [&] {
    if (const auto& engine = runtime->engine(); !engine.can_be_stopped() && !engine.forked())
      throw kilter::usage_error(
          "a body cannot destroy the runtime that runs it; do it when kilter_parallel_for has "
          "returned");
    delete runtime;
  });
}

size_t kilter_runtime_workers(const kilter_runtime* runtime) {
  return runtime ? runtime->cpp.workers() : 0;
}

int kilter_runtime_cpu(const kilter_runtime* runtime, size_t worker) {
  if (worker >= kilter_runtime_workers(runtime) ||
      !const_cast<kilter_runtime*>(runtime)->engine().pinned())
    return -1;
  return runtime->cpp.machine().cores()[worker].os_index;
}

int kilter_parallel_for(kilter_runtime* runtime, const char* name, size_t begin, size_t end,
                        kilter_body body, void* data) {
  return of_c::guarded(__func__, [&] {
    kilter_runtime& rt = of_c::checked(runtime);
    of_c::need_name(name, "loop");
    if (!body)
      throw kilter::usage_error("body is NULL; give the function that does a piece of the loop");
    if (begin > end)
      throw kilter::usage_error("the loop begins at " + std::to_string(begin) + " and ends at " +
                                std::to_string(end) + "; begin must not be above end");
    if (begin == end) return;
    of_c::body_of_c call{begin, body, data};
    kilter::detail::run_loop(
        rt.cpp, {end - begin, kilter::detail::for_block(end - begin, 0), of_c::run_piece, &call},
        of_c::loop_named(name));
  });
}

int kilter_runtime_worth(kilter_runtime* runtime, const char* name, double worth[], size_t length) {
  return of_c::guarded(__func__, [&] {
    auto& engine = of_c::checked(runtime).engine();
    const auto cores = engine.settings.machine->core_count();
    of_c::need_array(worth, "worth", length, cores);
    if (name) of_c::need_name(name, "loop");
    std::vector<double> rates(cores);
    if (name)
      rates = kilter::detail::loop_weights(engine.tables, *engine.settings.machine,
                                           engine.tables.row(of_c::loop_named(name), 0));
    else
      std::ranges::generate(rates, [&, c = kilter::core_id{0}]() mutable {
        return 1.0 / engine.tables.slowdown(c++);
      });
    double best = 0.0;
    for (kilter::core_id c = 0; c < cores; ++c)
      best = std::max(best, rates[c] * engine.tables.slowdown(c));
    for (kilter::core_id c = 0; c < cores; ++c) worth[c] = std::min(1.0, rates[c] / best);
  });
}

int kilter_runtime_shares(kilter_runtime* runtime, const char* name, size_t items, size_t begins[],
                          size_t length) {
  return of_c::guarded(__func__, [&] {
    auto& engine = of_c::checked(runtime).engine();
    of_c::need_array(begins, "begins", length, engine.settings.machine->core_count() + 1);
    of_c::need_name(name, "loop");
    std::ranges::copy(kilter::detail::begins_of_shares(engine.tables, *engine.settings.machine,
                                                       engine.tables.row(of_c::loop_named(name), 0),
                                                       items, kilter::no_core),
                      begins);
  });
}
}
