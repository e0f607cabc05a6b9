#pragma once
// Observations as text, one JSON object a line, so that what was seen on one machine can be played
// back on another. The first line is a header:
//
//   {"schema":"kilter.observations/1","machine":"...","cores":2,"observer":"pmu"}
//   {"now_s":0.5,"length_s":0.5,"rates":true,"threads":[{"thread":0,"program":0,"core":1,"ran_s":0.5,"misses":1200,"miss_ratio":0.3},
//   ...]}
//
// Of a thread only what differs from the defaults of `thread_sample` is written; "class" is
// "compute" or "memory". A file that ends in the middle of a line, as after a crash, is bad input.

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

#include "balance/contract.hpp"

namespace kilter::balance {

struct recording_header {
  std::string machine;      ///< name of the machine that was watched
  std::uint32_t cores = 1;  ///< 1 .. 65536; every observed core is below
  std::string observer;     ///< what saw it: "pmu", "resctrl", "software", "sim"
};

/// Both end with a newline.
[[nodiscard]] std::string recording_line(const recording_header&);
[[nodiscard]] std::string recording_line(const observation&);

/// Reads as it goes: one observation is held at a time. Limits: a line of 16 MiB, 65536 threads in
/// an observation, amounts of 1e18, and those of base/json_text.hpp.
class recording_reader {
 public:
  /// Reads the header; input_error names `source`, the line and what is wrong. The stream must
  /// outlive the reader.
  recording_reader(std::istream&, std::string source);

  [[nodiscard]] const recording_header& header() const noexcept { return header_; }
  /// The next observation, none at the end. input_error as above, also if time does not advance or
  /// threads are not in ascending order.
  [[nodiscard]] std::optional<observation> next();

 private:
  [[nodiscard]] bool read_line();

  std::istream& in_;
  std::string source_, line_;
  std::size_t number_ = 0;
  recording_header header_;
  std::optional<double> last_s_;
};

}  // namespace kilter::balance
