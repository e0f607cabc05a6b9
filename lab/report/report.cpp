#include "report/report.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "kilter/error.hpp"
#include "report/assets.hpp"
#include "report/pack.hpp"

namespace kilter::report {
namespace {

/// JSON that may stand in a script element: nothing in it can end the element or start a comment of
/// the parser.
std::string inert_json(const nlohmann::json& document) {
  const std::string plain = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(plain.size() + plain.size() / 16);
  for (const char c : plain) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

/// Replaces each `{{name}}` of the template once, from left to right, so that inserted text is
/// never searched.
std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string out;
  while (true) {
    const auto open = page.find("{{");
    if (open == page.npos) break;
    const auto close = page.find("}}", open);
    const auto name = page.substr(open + 2, close - open - 2);
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == name; });
    if (part == parts.end())
      throw usage_error("report: the template names '" + std::string(name) +
                        "', which nothing fills");
    out += page.substr(0, open);
    out += part->second;
    page.remove_prefix(close + 2);
  }
  return out += page;
}

std::string known_schemas() {
  std::string list;
  for (const std::string& name : schemas()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

void require_known_schema(const nlohmann::json& document) {
  const auto schema = document.is_object() ? document.find("schema") : document.end();
  if (schema == document.end() || !schema->is_string())
    throw input_error("report: the document has no \"schema\"; known: " + known_schemas());
  const auto& name = schema->get_ref<const std::string&>();
  if (std::find(schemas().begin(), schemas().end(), name) == schemas().end())
    throw input_error("report: schema '" + name + "' is unknown; known: " + known_schemas());
}

}  // namespace

const std::vector<std::string>& schemas() {
  static const std::vector<std::string> known{"kilter.compare/2", "kilter.reproduce/1",
                                              "kilter.matrix/1",

                                              "kilter.run/1"};
  return known;
}

std::string html(const nlohmann::json& document) {
  require_known_schema(document);
  const std::string data = inert_json(packed(document));
  return fill(assets::html, {{"css", assets::css},
                             {"chart_library", assets::chart_library},
                             {"data", data},
                             {"base_script", assets::base_script},
                             {"chart_script", assets::chart_script},
                             {"results_script", assets::results_script},
                             {"detail_script", assets::detail_script},
                             {"timeline_script", assets::timeline_script},
                             {"verdict_script", assets::verdict_script},
                             {"figure_script", assets::figure_script},
                             {"figure_kinds_script", assets::figure_kinds_script},
                             {"figure_starts_script", assets::figure_starts_script},
                             {"regions_script", assets::regions_script},
                             {"main_script", assets::main_script}});
}

void write_report(const nlohmann::json& document, std::ostream& out) { out << html(document); }

}  // namespace kilter::report
