#include "regions/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "kilter/error.hpp"

namespace kilter::regions {

namespace {

using json = nlohmann::ordered_json;

region_account read_region(const json& j) {
  std::vector<wait_account> waited;
  for (const json& w : j.at("waited"))
    waited.push_back(
        {w.at("cpu").is_number_unsigned() ? static_cast<int>(whole_number(w.at("cpu"))) : -1,
         w.at("seconds").get<double>()});
  return {.module = j.at("module").get<std::string>(),
          .offset = whole_number(j.at("offset")),
          .calls = whole_number(j.at("calls")),
          .on_pool = whole_number(j.at("on_pool")),
          .members = static_cast<std::uint32_t>(whole_number(j.at("members"))),
          .threads = static_cast<std::uint32_t>(whole_number(j.at("threads"))),
          .seconds = j.at("seconds").get<double>(),
          .left_for = j.at("left_for").get<std::string>(),
          .library = j.at("library").get<std::string>(),
          .waited = std::move(waited),
          .source = {}};
}

blas_account read_blas(const json& process) {
  if (!process.contains("openblas")) return {};
  const json& j = process.at("openblas");
  const auto small = [&](const char* name) {
    return static_cast<std::uint32_t>(whole_number(j.at(name)));
  };
  return {.libraries = small("libraries"),
          .threads = small("threads"),
          .fewest = small("fewest"),
          .changes = whole_number(j.at("changes"))};
}

std::string blas_line(const process_account& p) {
  const blas_account& b = p.blas;
  if (b.changes == 0)
    return fmt::format("process {}: OpenBLAS kept its number of threads, {}", p.pid, b.threads);
  return fmt::format(
      "process {}: the number of OpenBLAS's threads was changed {} times, {} to {}, as others, or "
      "the program's OpenMP threads, used CPUs and left them",
      p.pid, b.changes, b.fewest, b.threads);
}

/// By its place in the sources, where that is known, else in its module.
std::string name_of(const region_account& r, const std::string& program) {
  if (!r.source.empty()) return r.source.substr(r.source.rfind('/') + 1);
  const std::string& path = r.module.empty() ? program : r.module;
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), r.offset);
}

std::string done_with(const region_account& r) {
  if (!r.left_for.empty() && r.on_pool == 0) return "left to " + r.library + ": " + r.left_for;
  if (!r.left_for.empty())
    return fmt::format("on threads of Kilter {} times, then left to {}: {}", r.on_pool, r.library,
                       r.left_for);
  if (r.on_pool == 0)
    return r.calls <= 2 ? "seen too seldom"
                        : "left to " + r.library + ": one member, or more than CPUs";
  return "on threads of Kilter";
}

/// Which part of its threads' time these seconds are.
double part_of(const region_account& r, double seconds) {
  const double all_s = r.seconds * r.threads;
  return all_s > 0.0 ? std::min(1.0, seconds / all_s) : 0.0;
}
double part_waited(const region_account& r) {
  double waited_s = 0.0;
  for (const wait_account& w : r.waited) waited_s += w.seconds;
  return part_of(r, waited_s);
}

/// How much of it was waiting, and for which CPUs; empty if it is not worth a word.
std::string waits_of(const region_account& r) {
  constexpr double worth_a_word = 0.01;
  if (!(part_waited(r) >= worth_a_word)) return {};
  std::vector<wait_account> by_time = r.waited;
  std::ranges::stable_sort(by_time, std::ranges::greater{}, &wait_account::seconds);
  std::string text = fmt::format("; waited {:.0f} % of the time", 100.0 * part_waited(r));
  const char* before = ": for ";
  for (const wait_account& w : by_time) {
    const double part = part_of(r, w.seconds);
    if (part < worth_a_word) break;
    text += before + (w.cpu < 0 ? std::string("other CPUs") : fmt::format("CPU {}", w.cpu)) +
            fmt::format(" {:.0f}", 100.0 * part);
    before = ", ";
  }
  return text;
}

/// What its author could do.
std::string advice_for(const region_account& r) {
  constexpr double worth_it = 0.1;
  if (r.left_for.empty() || part_waited(r) < worth_it) return {};
  return "; schedule(dynamic) or schedule(guided) in its loops could shorten that";
}

json blas_json(const blas_account& b) {
  if (b.libraries == 0) return nullptr;
  return {{"libraries", b.libraries},
          {"threads", b.threads},
          {"fewest", b.fewest},
          {"changes", b.changes}};
}

}  // namespace

std::vector<process_account> read_account(std::string_view text) {
  std::vector<process_account> all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    try {
      const json j = parse_json(line);
      if (j.is_object() && j.contains("schema"))
        all.push_back({.pid = static_cast<int>(whole_number(j.at("pid"))),
                       .passed_on_for = j.at("passed_on_for").get<std::string>(),
                       .rescues = whole_number(j.at("rescues")),
                       .exchanges = whole_number(j.at("exchanges")),
                       .alone = whole_number(j.at("alone")),
                       .blas = read_blas(j),
                       .regions = {}});
      else if (j.is_object() && !all.empty())
        all.back().regions.push_back(read_region(j));
    } catch (const json::exception&) {  // whoever wrote it was killed, or the disk is full
    } catch (const input_error&) {
    }
  }
  return all;
}

std::vector<std::string> account_lines(const std::vector<process_account>& all,
                                       const std::string& program) {
  std::vector<std::string> lines;
  for (const process_account& p : all) {
    if (p.blas.threads > 0) lines.push_back(blas_line(p));
    if (!p.passed_on_for.empty()) {
      lines.push_back(fmt::format(
          "process {}: {} is {}, so all regions are left to the OpenMP library", p.pid,
          p.passed_on_for,
          std::isupper(static_cast<unsigned char>(p.passed_on_for.front())) ? "set" : "there"));
      continue;
    }
    if (p.regions.empty()) continue;
    lines.push_back(
        fmt::format("process {}: {} parallel region{}; {} times a member that was held up was "
                    "moved to a CPU that waited, {} times the program's own thread",
                    p.pid, p.regions.size(), p.regions.size() == 1 ? "" : "s", p.rescues,
                    p.exchanges) +
        (p.alone > 0 ? fmt::format("; {} times one thread was quicker for all members", p.alone)
                     : ""));
    std::vector<region_account> by_time = p.regions;
    std::ranges::stable_sort(by_time, std::ranges::greater{}, &region_account::seconds);
    for (const region_account& r : by_time)
      lines.push_back(fmt::format("  {:<28} {:>9} calls  {:>10.4g} s  {:>3} members  {}",
                                  name_of(r, program), r.calls, r.seconds, r.members,
                                  done_with(r) + waits_of(r) + advice_for(r)));
  }
  if (lines.empty())
    lines.emplace_back("no parallel region of OpenMP was seen, so nothing was done in it");
  return lines;
}

json account_json(const std::vector<process_account>& all) {
  json processes = json::array();
  for (const process_account& p : all) {
    json regions = json::array();
    for (const region_account& r : p.regions) {
      json waited = json::array();
      for (const wait_account& w : r.waited)
        waited.push_back(
            {{"cpu", w.cpu < 0 ? json(nullptr) : json(w.cpu)}, {"seconds", w.seconds}});
      regions.push_back({{"module", r.module},
                         {"offset", r.offset},
                         {"calls", r.calls},
                         {"on_pool", r.on_pool},
                         {"members", r.members},
                         {"threads", r.threads},
                         {"seconds", r.seconds},
                         {"waited", std::move(waited)},
                         {"left_for", r.left_for},
                         {"library", r.library},
                         {"source", r.source.empty() ? json(nullptr) : json(r.source)}});
    }
    processes.push_back({{"pid", p.pid},
                         {"passed_on_for", p.passed_on_for},
                         {"rescues", p.rescues},
                         {"exchanges", p.exchanges},
                         {"alone", p.alone},
                         {"openblas", blas_json(p.blas)},
                         {"regions", std::move(regions)}});
  }
  return processes;
}

}  // namespace kilter::regions
