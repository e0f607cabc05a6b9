#pragma once
// OpenBLAS, loaded by the first program that multiplies matrices. It takes 128 MiB of addresses for
// each CPU when it is loaded, and where there are none
// (`ulimit -v`) asks for them for ever: no other command may depend on that.

#include <cblas.h>

#include <cstdint>

namespace kilter::apps {

struct openblas {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_sgemv) sgemv;
  decltype(&openblas_set_num_threads) set_num_threads;
};

/// Throws input_error with one line if there is none, it finds no room, or it cannot be called by
/// several threads.
[[nodiscard]] const openblas& loaded_openblas();

/// Throws input_error if so many threads that call it at once would find no room. It has been
/// loaded.
void check_room_for_openblas(std::uint32_t callers);

}  // namespace kilter::apps
