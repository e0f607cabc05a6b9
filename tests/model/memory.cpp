// Relacy replaces operator new and delete by inline functions. The standard library's own calls,
// that of a sized delete among them, find these only if they are somewhere.

#include <new>

#include "base/sync.hpp"

namespace kilter::model {

[[gnu::used]] void* (*const relacy_new[])(std::size_t) = {&::operator new, &::operator new[] };
[[gnu::used]] void (*const relacy_delete[])(void*) noexcept = {&::operator delete,
                                                               &::operator delete[] };

}  // namespace kilter::model
