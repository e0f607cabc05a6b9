#pragma once
// One traced run, as the report shows it: what the table said over time, and what the cores did.

#include <iosfwd>

#include "measuring/results.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

/// Most task spans and table updates that a document keeps of one run. Spans are kept in whole
/// stretches of time (the start of the run and pieces spread over the rest, listed in
/// `span_windows`), since single spans with gaps would show idle cores that were not. Table updates
/// are thinned evenly for each place; the last one is kept.
inline constexpr std::size_t most_spans = 4'000, most_table_rows = 4'000;

/// Times in documents: below the clock's resolution digits are noise.
[[nodiscard]] double to_tenth_ns(double seconds);

/// `cores`: of the machine. `unrecorded` has the stretches of each core of which the document does
/// not say what the core did: those between the kept ones, and what the recorder had no room for.
[[nodiscard]] document detail_document(const detail&, std::uint32_t cores);

/// All traced runs as one file for ui.perfetto.dev and chrome://tracing, one after the other.
void write_trace(std::ostream&, const machine&, const std::vector<detail>&);

}  // namespace kilter::lab
