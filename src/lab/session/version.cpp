#include "lab/session/version.hpp"

namespace kilter::lab {

std::string version_text() { return KILTER_VERSION; }

}  // namespace kilter::lab
