// One fuzz target a reader of files that are no graphs: KILTER_FUZZ_READ is what takes the bytes.
// Whatever they are, the answer is what was read or an input_error of one line; what a reader's own
// writer makes of it is read back as it was.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "apps/programs/blackscholes.hpp"
#include "apps/programs/dedup_archive.hpp"
#include "apps/programs/netlist.hpp"
#include "apps/programs/picture.hpp"
#include "apps/programs/plate.hpp"
#include "apps/programs/points.hpp"
#include "apps/programs/weights.hpp"
#include "balance/preload/history.hpp"
#include "balance/recording.hpp"
#include "claims/experiment_file.hpp"
#include "demand.hpp"
#include "kilter/error.hpp"
#include "kilter/machine.hpp"
#include "model/tables.hpp"
#include "presenting/explain.hpp"
#include "regions/region_history.hpp"
#include "runtime/saved_table.hpp"
#include "sim/platform.hpp"

namespace {

using namespace kilter;

/// A file of these bytes that lives in memory.
const std::string& file_of(const std::string& bytes) {
  static const int fd = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  demand(fd >= 0 && ftruncate(fd, 0) == 0 &&
             pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
         "the file is written");
  return path;
}

void check(const machine& m) {
  demand(m.core_count() > 0 && !m.places().empty(), "a machine has cores and places");
  for (const core& c : m.cores())
    demand(m.clusters()[c.cluster].kind == c.kind, "a cluster is of one kind");
  for (const core_kind& k : m.kinds())
    demand(k.cores > 0 && std::isfinite(k.relative_speed), "a kind has cores");
}

[[maybe_unused]] void read_platform(const std::string& bytes) {
  const sim::platform p = sim::platform::load(file_of(bytes));
  check(*p.cores);
  const core_id first[] = {0};
  check(*p.restricted_to(first).cores);
  for (const sim::kernel_cost& k : p.kernels)
    for (std::size_t w = 0; w < k.seconds.size(); ++w)
      demand(std::isfinite(k.seconds_at(1e6, w)) && std::isfinite(k.bytes_factor(1e6)),
             "costs are finite");
}

[[maybe_unused]] void read_points(const std::string& bytes) {
  apps::point_set p = apps::read_table(bytes, "f");
  demand(p.count > 0 && p.dimensions > 0 && p.values.size() == p.count * p.dimensions,
         "each row has its numbers");
  apps::make_sums_exact(p);
  for (const float v : p.values) demand(std::isfinite(v), "all of them are finite");
}

[[maybe_unused]] void read_options(const std::string& bytes) {
  const std::vector<apps::european_option> all = apps::read_options(bytes, "f");
  demand(!all.empty(), "a table has options");
  for (const apps::european_option& o : all)
    demand(apps::out_of_range(o).empty(), "an option can be priced");
}

[[maybe_unused]] void read_netlist(const std::string& bytes) {
  const apps::netlist n = apps::read_netlist(bytes, "f");
  demand(n.names.size() == n.elements() && n.columns * n.rows >= n.elements(),
         "each element has its name and a place");
  for (const std::uint32_t input : n.inputs.all)
    demand(input < n.elements(), "an input is an element");
  demand(apps::neighbours_of(n).first.size() == n.inputs.first.size(),
         "each element has its neighbours");
}

[[maybe_unused]] void read_archive(const std::string& bytes) {
  bool first = true;
  apps::restore(apps::memory_source(bytes), "f", [&](const apps::restored_piece& p) {
    demand(!p.bytes.empty() && p.bytes.size() <= apps::most_piece, "a piece has its bytes");
    demand(!p.repeat || !first, "what is repeated was there before");
    first = false;
  });
}

[[maybe_unused]] void read_plate(const std::string& bytes) {
  const apps::plate p = apps::read_plate(bytes, "f");
  demand(!p.values.empty() && p.values.size() == p.rows * p.columns, "each point has its value");
  if (p.values.size() > 100'000) return;
  demand(apps::read_plate(apps::plate_file(p), "f").values == p.values,
         "a plate comes back as it was written");
}

[[maybe_unused]] void read_picture(const std::string& bytes) {
  const apps::picture p = apps::read_picture(bytes, "f");
  demand(p.rgb.size() == p.width * p.height * 3 && !p.rgb.empty(), "each pixel has its colour");
  if (p.rgb.size() > 100'000) return;  // deflating takes a while
  const apps::picture back = apps::read_picture(apps::as_png(p), "f");
  demand(back.width == p.width && back.rgb == p.rgb, "a picture comes back as it was written");
}

// Of a network's first layers: all of them would be 300 KB.
[[maybe_unused]] void read_weights(const std::string& bytes) {
  apps::network n = apps::vgg16_network(32, 64);
  n.layers.erase(n.layers.begin() + 3, n.layers.end());
  std::istringstream in(bytes);
  apps::read_weights(in, bytes.size(), "f", n);
  for (const apps::layer& l : n.layers) {
    demand(!l.has_weights() ||
               (l.weights.size() == l.weight_count() && l.bias.size() == l.out.channels),
           "each layer has its weights");
    for (const float v : l.weights) demand(std::isfinite(v), "all of them are finite");
  }
}

[[maybe_unused]] void read_xml(const std::string& bytes) {
  check(machine::from_xml(file_of(bytes)));
  check(machine::from_xml(file_of(bytes), {.smt = true}));
}

// hwloc takes seconds for machines of ten thousands of cores.
[[maybe_unused]] void read_synthetic(const std::string& bytes) {
  double cores = 1.0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    if (const double factor = std::strtod(bytes.c_str() + at, nullptr);
        bytes[at] >= '1' && bytes[at] <= '9') {
      cores *= factor;
      while (at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9') ++at;
    }
  if (cores > 4096.0) throw input_error("too large for this");
  check(machine::from_synthetic(bytes));
}

[[maybe_unused]] void read_recording(const std::string& bytes) {
  std::istringstream in(bytes);
  balance::recording_reader reader(in, "f");
  const std::string header = balance::recording_line(reader.header());
  while (const auto o = reader.next()) {
    const std::string line = balance::recording_line(*o);
    std::istringstream again(header + line);
    balance::recording_reader second(again, "again");
    const auto back = second.next();
    demand(back && balance::recording_line(*back) == line,
           "an observation comes back as it was written");
  }
}

[[maybe_unused]] void read_table(const std::string& bytes) {
  static const machine m = machine::uniform(2);
  const model::saved_table saved = model::read_table(file_of(bytes), m);
  model::tables tables(m, saved.robust ? table_options::robust() : table_options::paper());
  tables.restore(saved);
}

[[maybe_unused]] void read_history(const std::string& bytes) {
  const auto known = balance::preload::parse_history(bytes);
  demand(known.left_out.find_first_of("\n\r") == std::string::npos,
         "what is left out is said in one line");
  const std::string text = balance::preload::history_text(known.lengths);
  const auto again = balance::preload::parse_history(text);
  demand(again.left_out.empty() && balance::preload::history_text(again.lengths) == text,
         "a history comes back as it was written");
}

[[maybe_unused]] void read_regions(const std::string& bytes) {
  demand(!regions::account_lines(regions::read_account(bytes), "p").empty(),
         "something is said of what was told");
  const auto known = regions::parse_region_history(bytes);
  const std::string text = regions::region_history_text(known);
  demand(regions::region_history_text(regions::parse_region_history(text)) == text,
         "a history comes back as it was written");
}

[[maybe_unused]] void read_result(const std::string& bytes) {
  const auto runs = lab::explain(lab::read_result(file_of(bytes)), {});
  demand(!lab::explain_text(runs).empty() && !lab::explain_document(runs).dump().empty(),
         "a run is explained");
}

[[maybe_unused]] void read_experiment(const std::string& bytes) {
  const lab::experiment_file f = lab::parse_experiment(bytes, "f");
  demand(!f.name.empty() && !f.claims.empty(), "an experiment has a name and claims");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    KILTER_FUZZ_READ(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const input_error& e) {
    const std::string message = e.what();
    demand(!message.empty() && message.size() < 6000 &&
               message.find_first_of("\n\r") == std::string::npos,
           "messages are one line");
  }
  return 0;
}
