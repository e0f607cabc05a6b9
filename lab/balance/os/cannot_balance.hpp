#pragma once
// The system refuses something that watching needs. No reason for a program not to run.

#include "kilter/error.hpp"

namespace kilter::balance::os {

class cannot_balance : public input_error {
 public:
  using input_error::input_error;
};

}  // namespace kilter::balance::os
