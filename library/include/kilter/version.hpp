#pragma once
// Which Kilter this is. A program asks while it is compiled:
//
//   #if KILTER_VERSION < 200
//   #error "needs Kilter 0.2"
//   #endif

#define KILTER_VERSION_MAJOR 0
#define KILTER_VERSION_MINOR 1
#define KILTER_VERSION_PATCH 0
/// 10000 * major + 100 * minor + patch; each of the latter two is below 100.
#define KILTER_VERSION \
  (KILTER_VERSION_MAJOR * 10000 + KILTER_VERSION_MINOR * 100 + KILTER_VERSION_PATCH)

namespace kilter {

/// All public C++ names are in here, after the major version, and programs leave it out. So what
/// was compiled for one major version does not link with another.
inline namespace v0 {}
}  // namespace kilter
