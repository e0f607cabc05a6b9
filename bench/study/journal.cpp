#include "study/journal.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kilter/error.hpp"

namespace kilter::bench {

namespace {

using nlohmann::json;

constexpr const char* schema = "kilter.interference.runs/2";

std::string path_in(const std::string& directory) {
  return (std::filesystem::path(directory) / "runs.jsonl").string();
}

std::string key_of(const std::string& cell, const std::string& system, std::uint32_t repeat) {
  return cell + " " + system + " " + std::to_string(repeat);
}

json line_of(const run_record& r) {
  json j{{"what", "run"},      {"cell", r.cell},   {"system", r.system}, {"build", r.build},
         {"repeat", r.repeat}, {"graph", r.graph}, {"root", r.root},     {"seconds", r.seconds}};
  if (r.critical_on_core_0) j["critical_on_core_0"] = *r.critical_on_core_0;
  if (!r.lost_ms.empty()) j["lost_ms"] = r.lost_ms;
  return j;
}

run_record run_of(const json& j) {
  run_record r{j.at("cell"),  j.at("system"), j.at("build"),  j.at("repeat"),
               j.at("graph"), j.at("root"),   j.at("seconds")};
  if (j.contains("critical_on_core_0"))
    r.critical_on_core_0 = j["critical_on_core_0"].get<double>();
  if (j.contains("lost_ms")) r.lost_ms = j["lost_ms"].get<std::vector<double>>();
  return r;
}

}  // namespace

journal::journal(const std::string& directory, const std::string& machine_id)
    : path_(path_in(directory)) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  const bool fresh = !std::filesystem::exists(path_);
  if (!fresh) read(machine_id);
  file_ = std::fopen(path_.c_str(), "a");
  if (!file_)
    throw input_error("--out " + directory + ": cannot write " + path_ + " (" +
                      std::strerror(errno) + "); name a folder that can be written");
  // A line that was cut off when the program was killed must not swallow the next one.
  if (fresh)
    write(json{{"what", "study"}, {"schema", schema}, {"machine", machine_id}}.dump());
  else
    write("");
}

journal::journal(const std::string& directory) : path_(path_in(directory)) {
  if (!std::filesystem::exists(path_))
    throw input_error("--out " + directory + ": there is no " + path_ +
                      "; run the study first, or name its folder");
  read("");
}

journal::~journal() {
  if (file_) std::fclose(file_);
}

void journal::read(const std::string& machine_id) {
  std::ifstream in(path_);
  bool ours = false;
  for (std::string line; std::getline(in, line);) {
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object()) continue;
    const std::string what = j.value("what", "");
    if (what == "study") {
      ours = true;
      if (j.value("schema", "") != schema)
        throw input_error(path_ + " has the format " + j.value("schema", "?") +
                          ", this program writes " + schema + "; use another --out");
      if (!machine_id.empty() && j.at("machine") != machine_id)
        throw input_error(path_ + " was measured on another machine (" +
                          j.at("machine").get<std::string>() + ", this is " + machine_id +
                          "); use another --out");
    } else if (what == "product_64") {
      product_64_s_ = j.at("seconds").get<double>();
    } else if (what == "cell") {
      setups_[j.at("cell")] = {j.at("tile"), j.at("tasks")};
    } else if (what == "rates") {
      rates_.push_back({j.at("cell"),
                        j.at("set"),
                        j.at("repeat"),
                        {false, j.at("alone_per_s"), j.at("together_per_s")}});
    } else if (what == "run") {
      const run_record& r = runs_.emplace_back(run_of(j));
      done_.insert(key_of(r.cell, r.system, r.repeat));
    }
  }
  if (!ours) throw input_error(path_ + " is no study of ours; use another --out");
}

void journal::write(const std::string& line) {
  if (std::fputs((line + "\n").c_str(), file_) < 0 || std::fflush(file_) != 0)
    throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
}

void journal::add(const std::string& cell, const cell_setup& s) {
  write(json{{"what", "cell"}, {"cell", cell}, {"tile", s.tile}, {"tasks", s.tasks}}.dump());
  setups_[cell] = s;
}

void journal::add(const rates_record& r) {
  write(json{{"what", "rates"},
             {"cell", r.cell},
             {"set", r.set},
             {"repeat", r.repeat},
             {"alone_per_s", r.sample.alone_per_s},
             {"together_per_s", r.sample.together_per_s}}
            .dump());
  rates_.push_back(r);
}

void journal::add(const std::vector<run_record>& graphs) {
  std::string lines;
  for (const run_record& r : graphs) {
    lines += (lines.empty() ? "" : "\n") + line_of(r).dump();
    done_.insert(key_of(r.cell, r.system, r.repeat));
    runs_.push_back(r);
  }
  if (!lines.empty()) write(lines);
}

void journal::set_product_64(double seconds) {
  write(json{{"what", "product_64"}, {"seconds", seconds}}.dump());
  product_64_s_ = seconds;
}

bool journal::has(const std::string& cell, const std::string& system, std::uint32_t repeat) const {
  return done_.contains(key_of(cell, system, repeat));
}

std::optional<cell_setup> journal::setup(const std::string& cell) const {
  const auto found = setups_.find(cell);
  if (found == setups_.end()) return std::nullopt;
  return found->second;
}

}  // namespace kilter::bench
