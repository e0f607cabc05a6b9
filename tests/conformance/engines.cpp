#include "conformance/engines.hpp"

namespace kilter::conformance {

const std::vector<engine>& engines() {
  static const std::vector<engine> all = {
      {"single_threaded", true, run_single_threaded},
  };
  return all;
}

}  // namespace kilter::conformance
