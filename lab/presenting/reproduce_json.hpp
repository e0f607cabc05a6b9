#pragma once
// Verdicts as a document, schema "kilter.reproduce/1", and the proof that they follow from the
// numbers beside them.

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "claims/experiment_file.hpp"
#include "claims/flips.hpp"
#include "claims/verdict.hpp"

namespace kilter::lab {

/// {"schema", "claims": [...]}; nothing that depends on host or time but what was measured
/// natively. Numbers are written so that they read back exactly. The claim's own `published`,
/// `obtained`, `low`, `high`, `band` are those of its first value. Without a value, `published` and
/// `band` are null and the others those of the case that is nearest to failing (or fails worst).
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const claim_result>);

/// {"schema": "kilter.flips/1", "claims": [{"id", "published", "coded", "tried", "flips":
/// [{"reading", "verdict"}]}]}
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const claim_flips>);

/// Native evidence that was measured before: `document` is of `kilter lab reproduce --native
/// --json`. A claim gets it that has none, if its native cases and their scenarios are still those
/// that were measured; their verdict is made anew. All that is read is `schema`, and `id` and
/// `native` of the claims. input_error if it is no such document.
void add_recorded(std::vector<claim_result>&, const std::vector<experiment_file>&,
                  const nlohmann::ordered_json& document);

/// The same of the evidence beside the experiment files, if there is any.
void add_recorded(std::vector<claim_result>&, const std::vector<experiment_file>&);

/// Something that does not follow from the numbers of the document.
struct disagreement {
  /// claim; "verdict", "cases[3].holds", ...; what stands there and what follows
  std::string id, where, said, derived;
};

/// Derives `holds` of every case, `inside` of every value and every verdict anew from the numbers
/// in the document alone, and checks margins and bands against the rules. Empty if all agree.
/// Throws input_error if it is no such document.
[[nodiscard]] std::vector<disagreement> recompute(const nlohmann::ordered_json& verdicts);

}  // namespace kilter::lab
