#include "graph_files/build_log.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/dag_limits.hpp"

namespace kilter::dags {

namespace {

constexpr double seconds_of_millisecond = 1e-3;
constexpr std::string_view signature = "# ninja log v";

/// Start, end, time of the file, output and hash, with tabs between them; nothing if they are not
/// five.
std::optional<std::array<std::string_view, 5>> fields_of(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t tab = line.find('\t');
    if ((tab == line.npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = line.substr(0, tab);
    line.remove_prefix(std::min(tab, line.size() - 1) + 1);
  }
  return fields;
}

double milliseconds_at(const source_text& source, std::string_view text, std::size_t at) {
  const std::optional<double> value = number_in(text);
  const std::string problem =
      value ? amount_problem(*value) : "must be a number, got '" + shown(text) + "'";
  if (!problem.empty()) source.fail_at(at, "a time in milliseconds " + problem);
  return *value;
}

}  // namespace

bool is_build_log(std::string_view text) { return text.starts_with(signature); }

build_log::build_log(const source_text& source) : file_(source.file) {
  const std::string_view text = source.text;
  std::size_t at = std::min(text.find('\n'), text.size());
  const std::string_view first = trimmed(text.substr(0, at));
  if (!is_build_log(first))
    source.fail_at(0, "a log of Ninja begins with '" + std::string(signature) + "5', got '" +
                          shown(first) + "'");
  if (const std::string_view version = first.substr(signature.size());
      version != "5" && version != "6" && version != "7")
    source.fail_at(0,
                   "version " + shown(version) + " of Ninja's log; versions 5, 6 and 7 are read");
  for (++at; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    if (!line.empty() && !line.starts_with('#')) {
      const auto fields = fields_of(line);
      if (!fields)
        source.fail_at(at,
                       "a line of Ninja's log is start, end, mtime, output and hash, with tabs "
                       "between them, got '" +
                           shown(line) + "'");
      const double start_ms = milliseconds_at(source, (*fields)[0], at),
                   end_ms = milliseconds_at(source, (*fields)[1], at);
      if (end_ms < start_ms)
        source.fail_at(
            at, "the end " + shown((*fields)[1]) + " is before the start " + shown((*fields)[0]));
      seconds_[std::string((*fields)[3])] = (end_ms - start_ms) * seconds_of_millisecond;
    }
    at = end + 1;
  }
}

std::optional<double> build_log::seconds_of(std::string_view output) const {
  const auto at = seconds_.find(std::string(output));
  return at == seconds_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace kilter::dags
