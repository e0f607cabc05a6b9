#include "runtime/saved_table.hpp"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file_text.hpp"
#include "base/json_text.hpp"
#include "base/replace_file.hpp"
#include "kilter/error.hpp"

namespace kilter::model {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view schema = "kilter.table/1";
constexpr std::size_t most_mib = 256;
// what fits a float, and sums of many too
constexpr double least_seconds = 1e-30, most_seconds = 1e12;

json to_json(place p) { return json::array({p.leader, p.width}); }

/// One member of the file; what is wrong with it is said with where it stands.
class field {
 public:
  field(const json& value, std::string where) : value_(value), where_(std::move(where)) {}

  [[nodiscard]] field at(const char* key) const {
    if (!value_.is_object() || !value_.contains(key))
      throw input_error(where_ + " has no '" + key + "'");
    return {value_[key], where_ + "." + key};
  }
  [[nodiscard]] field at(std::size_t i) const {
    return {value_[i], where_ + "[" + std::to_string(i) + "]"};
  }
  [[nodiscard]] std::size_t size() const {
    if (!value_.is_array()) throw input_error(where_ + " is not a list");
    return value_.size();
  }
  [[nodiscard]] bool null() const { return value_.is_null(); }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) throw input_error(where_ + " is not a text");
    return value_.get<std::string>();
  }
  [[nodiscard]] bool flag() const {
    if (!value_.is_boolean()) throw input_error(where_ + " is neither true nor false");
    return value_.get<bool>();
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t most) const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() > most)
      throw input_error(where_ + " is " + shown(value_) + "; it must be a whole number from 0 to " +
                        std::to_string(most));
    return value_.get<std::uint64_t>();
  }
  /// A time; 0 only where nothing may be known.
  [[nodiscard]] double seconds(bool may_be_zero = false) const {
    const double s = value_.is_number() ? value_.get<double>() : -1.0;
    if (!((s >= least_seconds && s <= most_seconds) || (s == 0.0 && may_be_zero)))
      throw input_error(where_ + " is " + shown(value_) +
                        "; it must be seconds above 0, from 1e-30 to 1e12");
    return s;
  }
  [[nodiscard]] place where() const {
    if (size() != 2)
      throw input_error(where_ + " is " + shown(value_) + "; a place is [leader, width]");
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    return {static_cast<core_id>(at(std::size_t{0}).count(most)),
            static_cast<std::uint32_t>(at(std::size_t{1}).count(most))};
  }

 private:
  const json& value_;
  std::string where_;
};

saved_cell cell_of(const field& f, bool robust) {
  saved_cell c{.where = f.at("place").where(),
               .samples = f.at("samples").count(std::numeric_limits<std::uint64_t>::max()),
               .seconds = f.at("seconds").seconds()};
  if (c.samples == 0) throw input_error("a cell has no samples; such cells are left out of a file");
  if (!robust) return c;
  c.reference_s = f.at("reference").seconds(true);
  c.settled = f.at("settled").flag();
  c.given = f.at("given").flag();
  const field recent = f.at("recent");
  if (recent.size() > 16)
    throw input_error("a cell has " + std::to_string(recent.size()) +
                      " recent samples; 16 are kept");
  for (std::size_t i = 0; i < recent.size(); ++i)
    c.recent.push_back(static_cast<float>(recent.at(i).seconds()));
  return c;
}

saved_table table_of(const json& text, const machine& m) {
  const field file(text, "the file");
  if (!text.is_object() || !text.contains("schema") || text["schema"] != schema)
    throw input_error("not a table that Kilter saved (its \"schema\" must be \"" +
                      std::string(schema) + "\")");
  if (const std::string there = file.at("machine").text(), here = fingerprint(m); there != here)
    throw input_error("learned on " + one_line(there) + "; this machine has " + here);
  saved_table t;
  const std::string mode = file.at("mode").text();
  if (mode != "robust" && mode != "paper")
    throw input_error("its mode is '" + one_line(mode) + "'; it must be robust or paper");
  t.robust = mode == "robust";
  const field rows = file.at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const field r = rows.at(i);
    saved_row row{.type = r.at("type").text(),
                  .size_class = static_cast<std::uint32_t>(
                      r.at("size_class").count(std::numeric_limits<std::uint32_t>::max()))};
    if (const field in_use = r.at("in_use"); !in_use.null()) row.in_use = in_use.where();
    const field cells = r.at("cells");
    for (std::size_t k = 0; k < cells.size(); ++k)
      row.cells.push_back(cell_of(cells.at(k), t.robust));
    t.rows.push_back(std::move(row));
  }
  return t;
}

}  // namespace

std::string fingerprint(const machine& m) {
  std::string text;
  for (const cluster& c : m.clusters()) {
    text += (text.empty() ? "" : ", ") + std::to_string(c.size) + " x " + m.kinds()[c.kind].name +
            " (widths";
    for (const std::uint32_t w : c.widths) text += " " + std::to_string(w);
    text += ")";
  }
  return text;
}

void write_table(const std::string& path, const saved_table& t, const machine& m) {
  json rows = json::array();
  for (const saved_row& r : t.rows) {
    json cells = json::array();
    for (const saved_cell& c : r.cells) {
      json cell = {{"place", to_json(c.where)}, {"samples", c.samples}, {"seconds", c.seconds}};
      if (t.robust)
        cell.update({{"reference", c.reference_s},
                     {"settled", c.settled},
                     {"given", c.given},
                     {"recent", c.recent}});
      cells.push_back(std::move(cell));
    }
    rows.push_back({{"type", r.type},
                    {"size_class", r.size_class},
                    {"in_use", r.in_use ? to_json(*r.in_use) : json(nullptr)},
                    {"cells", std::move(cells)}});
  }
  const json all = {{"schema", schema},
                    {"machine", fingerprint(m)},
                    {"mode", t.robust ? "robust" : "paper"},
                    {"rows", std::move(rows)}};
  if (const std::string why = kilter::detail::replace_file(
          path, all.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
      !why.empty())
    throw input_error("table '" + path + "': cannot be written: " + why);
}

saved_table read_table(const std::string& path, const machine& m) {
  const std::string text = file_text(path, "table", most_mib);
  try {
    return table_of(parse_json(text), m);
  } catch (const input_error& e) {
    throw input_error("table '" + path + "': " + e.what());
  }
}

}  // namespace kilter::model
