#pragma once
// One self-contained HTML page from the JSON that a command wrote: no network, no second file.

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace kilter::report {

/// The page as UTF-8 text. `document["schema"]` chooses the sections; what a document lacks is said
/// in its section. Text of the document is data to the page, never markup. Throws input_error if
/// the schema is missing or unknown.
[[nodiscard]] std::string html(const nlohmann::json& document);

/// The same into a stream. Throws input_error as above before anything is written.
void write_report(const nlohmann::json& document, std::ostream& out);

/// Schemas that have sections; of "kilter.reproduce/1" also its "figures", if there are any.
[[nodiscard]] const std::vector<std::string>& schemas();

}  // namespace kilter::report
