#include "kilter/machine.hpp"

#include <limits>
#include <set>

#include "kilter/error.hpp"
#include "machine/layout.hpp"

namespace kilter {

namespace {

[[noreturn]] void bad_parts(const std::string& name, const std::string& what) {
  throw input_error("machine '" + name + "': " + what);
}

std::vector<std::uint32_t> widths_of(std::uint32_t size, bool powers_of_two) {
  std::vector<std::uint32_t> widths;
  for (std::uint32_t w = 1; w <= size; ++w) {
    const bool power = (w & (w - 1)) == 0;
    if (size % w == 0 && (power || !powers_of_two)) widths.push_back(w);
  }
  return widths;
}

/// Row `c` of a table of places by core, stored flat: begin[c] .. begin[c + 1].
std::span<const place_id> row(const std::vector<place_id>& flat,
                              const std::vector<std::uint32_t>& begin, core_id c) {
  return std::span(flat).subspan(begin[c], begin[c + 1] - begin[c]);
}

}  // namespace

machine::machine(std::string name, std::vector<core_kind> kinds, std::vector<core> cores,
                 bool powers_of_two)
    : name_(std::move(name)), kinds_(std::move(kinds)), cores_(std::move(cores)) {
  if (cores_.empty()) bad_parts(name_, "no cores; at least one is needed");
  if (cores_.size() > detail::most_cores)
    bad_parts(name_, std::to_string(cores_.size()) + " cores; at most " +
                         std::to_string(detail::most_cores) + " are supported");
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    if (kinds_[k].id != k)
      bad_parts(name_, "kind " + std::to_string(k) + " has id " + std::to_string(kinds_[k].id));
    kinds_[k].cores = 0;
  }
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const core& c = cores_[i];
    const std::string which = "core " + std::to_string(i);
    if (c.id != i)
      bad_parts(name_,
                which + " has id " + std::to_string(c.id) + "; ids must be dense and in order");
    if (c.kind >= kinds_.size())
      bad_parts(name_, which + " is of kind " + std::to_string(c.kind) + ", which is not given");
    const bool next_cluster = i == 0 ? c.cluster == 0 : c.cluster == cores_[i - 1].cluster + 1;
    const bool same_cluster = i > 0 && c.cluster == cores_[i - 1].cluster;
    if (!next_cluster && !same_cluster)
      bad_parts(name_, which + " is in cluster " + std::to_string(c.cluster) +
                           "; clusters must be contiguous and dense from 0");
    if (same_cluster && c.kind != cores_[i - 1].kind)
      bad_parts(name_,
                "cluster " + std::to_string(c.cluster) + " mixes kinds; a cluster is of one kind");
    ++kinds_[c.kind].cores;
  }
  derive(powers_of_two);
}

void machine::derive(bool powers_of_two) {
  powers_of_two_ = powers_of_two;
  for (const core& c : cores_) {
    if (c.cluster == clusters_.size()) clusters_.push_back({c.cluster, c.kind, c.id, 0, {}});
    ++clusters_.back().size;
  }
  const auto count = core_count();
  std::vector<std::vector<place_id>> containing(count), led(count);
  for (cluster& cl : clusters_) {
    cl.widths = widths_of(cl.size, powers_of_two);
    for (const std::uint32_t width : cl.widths)
      for (core_id leader = cl.first; leader + width <= cl.first + cl.size; leader += width) {
        const auto id = static_cast<place_id>(places_.size());
        places_.push_back({leader, width});
        led[leader].push_back(id);
        for (core_id member = leader; member < leader + width; ++member)
          containing[member].push_back(id);
      }
  }
  const auto flatten = [count](const auto& rows, auto& flat, auto& begin) {
    begin.assign(1, 0);
    for (core_id c = 0; c < count; ++c) {
      flat.insert(flat.end(), rows[c].begin(), rows[c].end());
      begin.push_back(static_cast<std::uint32_t>(flat.size()));
    }
  };
  flatten(containing, containing_flat_, containing_begin_);
  flatten(led, led_flat_, led_begin_);
  scan_order_ = led_flat_;
  for (core_id c = 0; c < count; ++c) single_.push_back(led[c].front());
}

machine machine::uniform(std::uint32_t cores, std::uint32_t clusters) {
  if (cores == 0 || clusters == 0 || cores % clusters != 0)
    throw input_error("uniform machine of " + std::to_string(cores) + " cores in " +
                      std::to_string(clusters) +
                      " clusters: both must be at least 1 and the clusters must divide the cores");
  if (cores > detail::most_cores)
    throw input_error("uniform machine of " + std::to_string(cores) + " cores: at most " +
                      std::to_string(detail::most_cores) + " are supported");
  std::vector<core> all(cores);
  for (core_id c = 0; c < cores; ++c)
    all[c] = {c, static_cast<int>(c), c / (cores / clusters), 0, 0};
  return {"uniform-" + std::to_string(cores), {{0, "core", cores, 0.0}}, std::move(all)};
}

machine machine::restricted_to(std::span<const core_id> keep) const {
  std::set<core_id> kept;
  for (const core_id c : keep) {
    if (c >= core_count())
      throw input_error("core " + std::to_string(c) + " does not exist: " + name_ +
                        " has cores 0-" + std::to_string(core_count() - 1));
    if (!kept.insert(c).second)
      throw input_error("core " + std::to_string(c) + " is named twice; name each core once");
  }
  if (kept.empty()) throw input_error("no core of " + name_ + " is left; keep at least one");

  constexpr auto unseen = std::numeric_limits<kind_id>::max();
  std::vector<kind_id> new_kind(kinds_.size(), unseen);
  for (const core_id c : kept) new_kind[cores_[c].kind] = 0;
  std::vector<core_kind> kinds;
  for (const core_kind& k : kinds_) {
    if (new_kind[k.id] == unseen) continue;
    new_kind[k.id] = static_cast<kind_id>(kinds.size());
    kinds.push_back(k);
    kinds.back().id = new_kind[k.id];
  }
  detail::rescale_speeds(kinds);

  std::vector<core> cores;
  cluster_id next_cluster = 0, last = no_core;
  for (const core_id id : kept) {
    core c = cores_[id];
    if (last != no_core && c.cluster != last) ++next_cluster;
    last = c.cluster;
    c.id = static_cast<core_id>(cores.size());
    c.cluster = next_cluster;
    c.kind = new_kind[c.kind];
    cores.push_back(c);
  }
  return {name_, std::move(kinds), std::move(cores), powers_of_two_};
}

std::optional<place_id> machine::find(place p) const noexcept {
  if (p.leader >= core_count()) return std::nullopt;
  for (const place_id id : led_by(p.leader))
    if (places_[id].width == p.width) return id;
  return std::nullopt;
}

std::span<const place_id> machine::containing(core_id c) const noexcept {
  return row(containing_flat_, containing_begin_, c);
}

std::span<const place_id> machine::led_by(core_id c) const noexcept {
  return row(led_flat_, led_begin_, c);
}

std::vector<core_id> machine::fastest_cores() const {
  std::vector<core_id> fastest;
  for (const core& c : cores_)
    if (c.kind == 0) fastest.push_back(c.id);
  return fastest;
}

}  // namespace kilter
