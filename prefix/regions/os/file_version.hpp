#pragma once

#include "regions/region_history.hpp"

namespace kilter::regions::os {

[[nodiscard]] std::optional<file_version> version_of_file(const std::string& path);

}  // namespace kilter::regions::os
