#include "apps/programs/openblas.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <string>
#include <thread>

#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

// bytes, of OpenBLAS 0.3.21 on x86-64; elsewhere it takes less
constexpr std::size_t for_each_caller = std::size_t{128} << 20, of_its_own = std::size_t{64} << 20;

void check_room(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw input_error("OpenBLAS, which multiplies the matrices, finds no room: it takes another " +
                      std::to_string(bytes >> 20) +
                      " MiB of addresses; raise the limit (ulimit -v) or use fewer threads");
  ::munmap(at, bytes);
}

/// It is looked for as programs that are linked with it do, and last where it was when Kilter was
/// built.
void* opened() {
  for (const char* const name : {"libopenblas.so.0", KILTER_OPENBLAS_OF_BUILD})
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  throw input_error(std::string("OpenBLAS, which multiplies the matrices, cannot be loaded "
                                "(Debian: libopenblas0-openmp): ") +
                    ::dlerror());
}

template <class Function>
Function found(void* library, const char* name) {
  const auto at = reinterpret_cast<Function>(::dlsym(library, name));
  if (!at)
    throw input_error(std::string("the libopenblas.so.0 that is installed has no '") + name +
                      "'; install OpenBLAS 0.3.10 or later");
  return at;
}

openblas load() {
  check_room(of_its_own + std::thread::hardware_concurrency() * for_each_caller);
  void* const library = opened();
  if (found<decltype(&openblas_get_parallel)>(library, "openblas_get_parallel")() ==
      OPENBLAS_SEQUENTIAL)  // its callers would share one buffer
    throw input_error(
        "this OpenBLAS is built for one thread and several call it here; install the one for "
        "OpenMP (libopenblas0-openmp) or for POSIX threads");
  return {.sgemm = found<decltype(&cblas_sgemm)>(library, "cblas_sgemm"),
          .sgemv = found<decltype(&cblas_sgemv)>(library, "cblas_sgemv"),
          .set_num_threads =
              found<decltype(&openblas_set_num_threads)>(library, "openblas_set_num_threads")};
}

}  // namespace

void check_room_for_openblas(std::uint32_t callers) {
  if (const std::uint32_t at_load = std::thread::hardware_concurrency(); callers > at_load)
    check_room((callers - at_load) * for_each_caller);
}

const openblas& loaded_openblas() {
  static const openblas it = load();
  return it;
}

}  // namespace kilter::apps
