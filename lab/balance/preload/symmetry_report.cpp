#include "balance/preload/symmetry_report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "balance/symmetry.hpp"

namespace kilter::balance::preload {

namespace {

bool symmetric(const symmetry_result& r) {
  return r.sym_inst < symmetric_below && r.sym_lock < symmetric_below;
}

}  // namespace

std::string symmetry_text(const counted_run& run) {
  if (!run.lost.empty())
    return "no counts: they are not whole (" + run.lost + "); is the disk full?\n";
  if (run.threads.empty())
    return "no counts: the program ended by a signal or without exit(), or it cannot be preloaded "
           "(static, or set-user-id)\n";
  unsigned long long locks = 0, barriers = 0, conditions = 0;
  for (const thread_counts& t : run.threads) {
    locks += t.locks;
    barriers += t.barriers;
    conditions += t.conditions;
  }
  const symmetry_result r = symmetry_of(run.threads);
  char text[600];
  std::snprintf(text, sizeof text,
                "threads %zu, thread-groups %u\n"
                "SymInst %.4f   CPU time stands in for instructions\n"
                "SymLock %.4f   locks %llu, barriers %llu, conditions %llu\n"
                "%s (S3: symmetric if both are below %.2f)\n",
                run.threads.size(), r.groups, r.sym_inst, r.sym_lock, locks, barriers, conditions,
                symmetric(r) ? "symmetric" : "not symmetric", symmetric_below);
  return text;
}

std::string symmetry_json(const counted_run& run) {
  nlohmann::ordered_json d = {{"schema", "kilter.sym/1"}, {"instructions", "CPU time"}};
  if (run.threads.empty()) {
    for (const char* key : {"groups", "sym_inst", "sym_lock", "symmetric", "threads"})
      d[key] = nullptr;
    return d.dump() + "\n";
  }
  const symmetry_result r = symmetry_of(run.threads);
  d["groups"] = r.groups;
  d["sym_inst"] = r.sym_inst;
  d["sym_lock"] = r.sym_lock;
  d["symmetric"] = symmetric(r);
  d["threads"] = nlohmann::ordered_json::array();
  for (const thread_counts& t : run.threads)
    d["threads"].push_back({{"index", t.index},
                            {"seconds", t.ended_s - t.began_s},
                            {"cpu_seconds", t.cpu_s},
                            {"locks", t.locks},
                            {"barriers", t.barriers},
                            {"conditions", t.conditions}});
  return d.dump() + "\n";
}

}  // namespace kilter::balance::preload
