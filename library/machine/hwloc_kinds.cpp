#include "machine/hwloc_kinds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include "machine/alike.hpp"
#include "machine/layout.hpp"

namespace kilter::inline v0::detail {

namespace {

struct source_kind {
  int efficiency = -1;
  std::string core_type;
  std::string part;
  double capacity = 0, max_mhz = 0, base_mhz = 0;
  std::vector<int> members;
  bool listed = true;  ///< by hwloc
};

double positive_number(const char* text) {
  const std::string_view s = text;
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc{} && value > 0 ? value : 0;
}

std::vector<source_kind> read_kinds(hwloc_topology_t topology, std::vector<int> unclaimed) {
  std::vector<source_kind> kinds;
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  const int count = hwloc_cpukinds_get_nr(topology, 0);
  for (int i = 0; i < count; ++i) {
    source_kind kind;
    unsigned infos = 0;
    hwloc_info_s* info = nullptr;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), set, &kind.efficiency, &infos,
                                &info, 0) != 0)
      continue;
    for (unsigned n = 0; n < infos; ++n) {
      const std::string_view name = info[n].name;
      if (name == "CoreType") kind.core_type = info[n].value;
      if (name == "CPUPart") kind.part = info[n].value;
      if (name == "LinuxCapacity") kind.capacity = positive_number(info[n].value);
      if (name == "FrequencyMaxMHz") kind.max_mhz = positive_number(info[n].value);
      if (name == "FrequencyBaseMHz") kind.base_mhz = positive_number(info[n].value);
    }
    const auto claimed = std::stable_partition(
        unclaimed.begin(), unclaimed.end(),
        [&](int os_index) { return !hwloc_bitmap_isset(set, static_cast<unsigned>(os_index)); });
    kind.members.assign(claimed, unclaimed.end());
    unclaimed.erase(claimed, unclaimed.end());
    if (!kind.members.empty()) kinds.push_back(std::move(kind));
  }
  hwloc_bitmap_free(set);
  if (!unclaimed.empty()) {
    source_kind rest;
    rest.members = std::move(unclaimed);
    rest.listed = false;
    kinds.push_back(std::move(rest));
  }
  return kinds;
}

double core_type_rank(const source_kind& k) {
  if (k.core_type == "IntelCore") return 3;
  if (k.core_type == "IntelAtom") return 2;
  if (k.core_type == "IntelLowPower") return 1;
  return 0;
}

using attribute = double (*)(const source_kind&);
constexpr attribute capacity = [](const source_kind& k) { return k.capacity; };
constexpr attribute max_mhz = [](const source_kind& k) { return k.max_mhz; };
constexpr attribute base_mhz = [](const source_kind& k) { return k.base_mhz; };

bool stated_by_all(const std::vector<source_kind>& kinds, attribute a) {
  return std::all_of(kinds.begin(), kinds.end(), [a](const source_kind& k) { return a(k) > 0; });
}

void sort_fastest_first(std::vector<source_kind>& kinds) {
  const bool ranked =
      std::none_of(kinds.begin(), kinds.end(), [](auto& k) { return k.efficiency < 0; });
  std::vector<attribute> fallbacks;
  for (const attribute a : {capacity, attribute{core_type_rank}, max_mhz, base_mhz})
    if (stated_by_all(kinds, a)) fallbacks.push_back(a);

  std::sort(kinds.begin(), kinds.end(), [&](const source_kind& a, const source_kind& b) {
    if (!ranked)
      for (const attribute value : fallbacks)
        if (value(a) != value(b)) return value(a) > value(b);
    // Not ranked here means that some CPUs are of no kind: efficiency -1 puts them last.
    if (a.efficiency != b.efficiency) return a.efficiency > b.efficiency;
    return a.members.front() < b.members.front();
  });
}

/// What a source tells apart need not be of two kinds: it lists a CPU by itself for a clock that is
/// a little higher. A name or a number that both state decides; where they state nothing in common,
/// that hwloc ranks them.
bool of_one_kind(const source_kind& a, const source_kind& b) {
  const auto stated = [](const std::string& x, const std::string& y) {
    return !x.empty() && !y.empty();
  };
  if (stated(a.core_type, b.core_type) && a.core_type != b.core_type) return false;
  if (stated(a.part, b.part) && a.part != b.part) return false;
  for (const attribute value : {capacity, max_mhz, base_mhz})
    if (value(a) > 0 && value(b) > 0) return alike(value(a), value(b));
  return a.efficiency < 0 || b.efficiency < 0;
}

/// `to` takes in the CPUs of `from`; its numbers become their mean.
void add(source_kind& to, const source_kind& from) {
  const auto own = static_cast<double>(to.members.size()),
             more = static_cast<double>(from.members.size());
  for (double source_kind::*const value :
       {&source_kind::capacity, &source_kind::max_mhz, &source_kind::base_mhz})
    to.*value = to.*value > 0 && from.*value > 0
                    ? (to.*value * own + from.*value * more) / (own + more)
                    : std::max(to.*value, from.*value);
  if (to.core_type.empty()) to.core_type = from.core_type;
  if (to.part.empty()) to.part = from.part;
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  std::sort(to.members.begin(), to.members.end());
}

/// Kinds stand fastest first; each is compared with the fastest of those that it may join, so that
/// many small steps do not add up to one kind.
std::vector<source_kind> joined(const std::vector<source_kind>& sorted) {
  std::vector<source_kind> first, kinds, unlisted;
  for (const source_kind& k : sorted) {
    if (!k.listed) {
      unlisted.push_back(k);
      continue;
    }
    std::size_t at = 0;
    while (at < kinds.size() && !of_one_kind(first[at], k)) ++at;
    if (at == kinds.size()) {
      first.push_back(k);
      kinds.push_back(k);
    } else {
      add(kinds[at], k);
    }
  }
  for (const source_kind& rest : unlisted) {
    // one kind alone says of nobody that he differs
    if (kinds.size() == 1)
      add(kinds.front(), rest);
    else
      kinds.push_back(rest);
  }
  return kinds;
}

/// Part numbers of the Arm cores that share a chip with cores of another kind (Arm's technical
/// reference manuals, main identification register).
std::string_view arm_part(std::string_view part) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> parts{{
      {"0xc07", "cortex-a7"},   {"0xc0f", "cortex-a15"},    {"0xd03", "cortex-a53"},
      {"0xd05", "cortex-a55"},  {"0xd07", "cortex-a57"},    {"0xd08", "cortex-a72"},
      {"0xd09", "cortex-a73"},  {"0xd0a", "cortex-a75"},    {"0xd0b", "cortex-a76"},
      {"0xd0d", "cortex-a77"},  {"0xd41", "cortex-a78"},    {"0xd44", "cortex-x1"},
      {"0xd46", "cortex-a510"}, {"0xd47", "cortex-a710"},   {"0xd48", "cortex-x2"},
      {"0xd4d", "cortex-a715"}, {"0xd4e", "cortex-x3"},     {"0xd80", "cortex-a520"},
      {"0xd81", "cortex-a720"}, {"0xd82", "cortex-x4"},     {"0xd85", "cortex-x925"},
      {"0xd87", "cortex-a725"}, {"0xd8a", "cortex-a520ae"}, {"0xd04", "cortex-a35"},
  }};
  for (const auto& [number, name] : parts)
    if (number == part) return name;
  return {};
}

bool designed_by_arm(hwloc_topology_t topology) {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* implementer =
      package ? hwloc_obj_get_info_by_name(package, "CPUImplementer") : nullptr;
  return implementer && std::string_view(implementer) == "0x41";
}

std::string name_of(const source_kind& kind, std::size_t rank, std::size_t kinds, bool arm) {
  if (kind.core_type == "IntelCore") return "P-core";
  if (kind.core_type == "IntelAtom") return "E-core";
  if (kind.core_type == "IntelLowPower") return "LP-core";
  if (!kind.core_type.empty()) return kind.core_type;
  if (arm && !arm_part(kind.part).empty()) return std::string(arm_part(kind.part));
  if (kinds == 1) return "core";
  if (kinds == 2) return rank == 0 ? "big" : "little";
  return "kind-" + std::to_string(rank);
}

double nominal_speed(const std::vector<source_kind>& kinds, const source_kind& kind) {
  for (const attribute a : {capacity, max_mhz, base_mhz})
    if (stated_by_all(kinds, a)) return a(kind);
  return 0;
}

}  // namespace

kind_table::kind_table(hwloc_topology_t topology, const std::vector<int>& cpus) {
  std::vector<int> sorted = cpus;
  std::sort(sorted.begin(), sorted.end());
  std::vector<source_kind> kinds = read_kinds(topology, std::move(sorted));
  sort_fastest_first(kinds);
  kinds = joined(kinds);
  const bool arm = designed_by_arm(topology);
  std::map<std::string, int> uses;
  for (std::size_t rank = 0; rank < kinds.size(); ++rank) {
    const source_kind& kind = kinds[rank];
    std::string name = name_of(kind, rank, kinds.size(), arm);
    if (const int use = ++uses[name]; use > 1) name += "-" + std::to_string(use);
    kinds_.push_back({static_cast<kind_id>(rank), std::move(name),
                      static_cast<std::uint32_t>(kind.members.size()), nominal_speed(kinds, kind)});
    members_.push_back(kind.members);
  }
  rescale_speeds(kinds_);
}

kind_id kind_table::of(int os_index) const {
  for (kind_id k = 0; k < members_.size(); ++k)
    if (std::binary_search(members_[k].begin(), members_[k].end(), os_index)) return k;
  return 0;
}

}  // namespace kilter::inline v0::detail
