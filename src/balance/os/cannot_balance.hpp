#pragma once
// The system refuses something that watching needs. No reason for a program not to run.

#include <string>

#include "kilter/error.hpp"

namespace kilter::balance::os {

class cannot_balance : public input_error {
 public:
  using input_error::input_error;
};

/// Why no process could be made for `whom`, and which limit that is.
[[nodiscard]] std::string no_process_for(const std::string& whom, int error);

}  // namespace kilter::balance::os
