#include "measuring/user_policy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "kilter/error.hpp"
#include "kilter/policy_plugin.hpp"
#include "policy/checked.hpp"

namespace kilter::lab {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw input_error("policy '" + path + "': " + why);
}

template <class Function>
Function* function_of(void* library, const std::string& path, const char* name) {
  void* found = dlsym(library, name);
  if (!found)
    refuse(path, std::string("the library has no function ") + name +
                     "; KILTER_POLICY_PLUGIN(your class) writes what is needed");
  return reinterpret_cast<Function*>(found);
}

}  // namespace

std::shared_ptr<const policy> load_policy(const std::string& path, const machine& m,
                                          const policy_options& o) {
  if (!std::filesystem::exists(path))
    refuse(
        path,
        "no such file; build the library first, or give a name that `kilter lab policies` lists");
  const std::shared_ptr<void> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* l) {
    if (l) dlclose(l);
  });
  if (!library) refuse(path, std::string("cannot be loaded: ") + dlerror());
  const std::uint64_t built_for =
      function_of<std::uint64_t()>(library.get(), path, "kilter_policy_abi")();
  if (built_for != policy_abi())
    refuse(path, fmt::format("built for another version of Kilter (its stamp is {:016x}, this "
                             "one's {:016x}); build it again with the headers of this one",
                             built_for, policy_abi()));
  auto* const make = function_of<policy*(const machine&, const policy_options&)>(
      library.get(), path, "kilter_make_policy");
  const policy* made = nullptr;
  std::string why;  // what the library throws must not outlive it
  try {
    made = make(m, o);
    if (!made) why = "kilter_make_policy gave no policy";
  } catch (const std::exception& e) {
    why = std::string("its policy could not be made: ") + e.what();
  } catch (...) {
    why =
        "its policy could not be made: kilter_make_policy threw something that is no "
        "std::exception";
  }
  if (!made) refuse(path, why);
  const std::shared_ptr<const policy> owned(made, [library](const policy* p) { delete p; });
  try {
    return checked(owned, m);
  } catch (const usage_error& e) {
    refuse(path, e.what());
  }
}

}  // namespace kilter::lab
