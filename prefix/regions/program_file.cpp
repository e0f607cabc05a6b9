#include "regions/program_file.hpp"

#include <algorithm>

#include "regions/openmp_calls.hpp"

namespace kilter::regions {

std::string openmp_of(const program_file& p) {
  const auto is_runtime = [](const std::string& library) {
    return library.starts_with("libgomp.so") || library.starts_with("libomp.so") ||
           library.starts_with("libiomp5.so");
  };
  const auto at = std::find_if(p.needed.begin(), p.needed.end(), is_runtime);
  return at == p.needed.end() ? "" : *at;
}

bool may_fold(const program_file& p) {
  return !openmp_of(p).empty() && !p.has_own_data &&
         std::all_of(p.taken.begin(), p.taken.end(),
                     [](const std::string& name) { return may_fold_with(name.c_str()); });
}

std::string why_not_loaded(const program_file& p) {
  const std::string& name = p.run_by.empty() ? p.path : p.run_by;
  for (const std::string& library : p.needed)
    for (const char* const sanitizer : {"libasan.so", "libtsan.so", "libhwasan.so"})
      if (library.starts_with(sanitizer))
        return name + " is linked with a sanitizer, " + library +
               ", which must be loaded before all others";
  switch (p.linked) {
    case program_file::linkage::dynamic:
      return p.privileged
                 ? name +
                       " runs with privileges of its own (setuid), so nothing can be loaded into it"
                 : "";
    case program_file::linkage::fixed:
      return name + " is linked statically, so nothing can be loaded into it";
    case program_file::linkage::foreign:
      return name +
             " is a program of another processor or word size, so nothing can be loaded into it";
    case program_file::linkage::unknown: break;
  }
  return name.empty() ? "the program was not found"
                      : name + " cannot be read as a program, so nothing is loaded into it";
}

}  // namespace kilter::regions
