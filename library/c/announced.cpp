// The second part of kilter/kilter.h: threads of the caller's own.

#include <algorithm>

#include "c/last_error.hpp"
#include "c/pool.hpp"
#include "kilter/kilter.h"

struct kilter_pool : kilter::c::pool {
  using pool::pool;
};

namespace kilter::c {

namespace {

// A region is handed out as it is; C knows only its address.
kilter_region* to_c(region& r) noexcept { return reinterpret_cast<kilter_region*>(&r); }
region& from_c(kilter_region* r) {
  need(r, "region is NULL; give what kilter_pool_region found");
  return *reinterpret_cast<region*>(r);
}

}  // namespace

}  // namespace kilter::c

namespace of_c = kilter::c;

extern "C" {

int kilter_pool_create(size_t threads, kilter_pool** pool) {
  return of_c::guarded(__func__, [&] {
    of_c::need(pool, "pool is NULL; give the address of a kilter_pool*");
    *pool = nullptr;
    *pool = new kilter_pool(threads);
  });
}

int kilter_pool_destroy(kilter_pool* pool) {
  if (!pool) return KILTER_OK;
  return of_c::guarded(__func__, [&] {
    pool->refuse_while_busy();
    delete pool;
  });
}

int kilter_pool_region(kilter_pool* pool, const char* name, kilter_region** region) {
  return of_c::guarded(__func__, [&] {
    of_c::need(region, "region is NULL; give the address of a kilter_region*");
    *region = nullptr;
    of_c::need(pool, "pool is NULL; give what kilter_pool_create made");
    of_c::need_name(name, "region");
    *region = of_c::to_c(pool->named(name));
  });
}

int kilter_region_shares(kilter_region* region, size_t items, size_t begins[], size_t length) {
  return of_c::guarded(__func__, [&] {
    const of_c::region& r = of_c::from_c(region);
    of_c::need_array(begins, "begins", length, r.threads() + std::size_t{1});
    std::ranges::copy(r.shares(items), begins);
  });
}

int kilter_region_begin(kilter_region* region, size_t thread) {
  return of_c::guarded(__func__, [&] { of_c::from_c(region).begin(thread); });
}

int kilter_region_end(kilter_region* region, size_t thread, size_t items) {
  return of_c::guarded(__func__, [&] { of_c::from_c(region).end(thread, items); });
}
}
