// The stamp of a plugin: what it must not overlook. A library that was built for another layout
// would read one member for another in silence.

#include <gtest/gtest.h>

#include <set>

#include "kilter/policy_plugin.hpp"

namespace kilter::detail {
namespace {

struct first {
  bool a = false, b = false;
  std::uint32_t c = 0;
  double d = 0.0;
};
struct swapped {
  bool b = false, a = false;
  std::uint32_t c = 0;
  double d = 0.0;
};
struct widened {
  bool a = false, b = false;
  std::uint64_t c = 0;
  double d = 0.0;
};
struct whole {
  bool a = false, b = false;
  std::int32_t c = 0;
  double d = 0.0;
};
struct grown {
  bool a = false, b = false;
  std::uint32_t c = 0;
  double d = 0.0;
  double e = 0.0;
};

template <class T>
std::uint64_t sum_of() {
  stamp s;
  sum_up(s, &T::a, &T::b, &T::c, &T::d);
  return s.sum();
}

TEST(stamp, differs_for_each_other_layout) {
  const std::set<std::uint64_t> all{sum_of<first>(), sum_of<swapped>(), sum_of<widened>(),
                                    sum_of<whole>(), sum_of<grown>()};
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(sum_of<first>(), sum_of<first>());
}

struct asks {
  virtual ~asks() = default;
  virtual void one(int) const {}
  virtual int two(double) const { return 0; }
};
struct asks_more {  // at the end: every slot that there was stays
  virtual ~asks_more() = default;
  virtual void one(int) const {}
  virtual int two(double) const { return 0; }
  virtual void three() const {}
};
struct asks_before {
  virtual ~asks_before() = default;
  virtual void zero() const {}
  virtual void one(int) const {}
  virtual int two(double) const { return 0; }
};
struct asks_with_another_argument {
  virtual ~asks_with_another_argument() = default;
  virtual void one(long) const {}
  virtual int two(double) const { return 0; }
};
struct asks_for_another_answer {
  virtual ~asks_for_another_answer() = default;
  virtual void one(int) const {}
  virtual double two(double) const { return 0; }
};

template <class T>
std::uint64_t interface_of() {
  stamp s;
  s.slots<T>();
  s.function(&T::one);
  s.function(&T::two);
  return s.sum();
}

TEST(stamp, differs_for_each_other_set_of_virtual_functions) {
  const std::set<std::uint64_t> all{
      interface_of<asks>(), interface_of<asks_more>(), interface_of<asks_before>(),
      interface_of<asks_with_another_argument>(), interface_of<asks_for_another_answer>()};
  EXPECT_EQ(all.size(), 5u);
}

TEST(stamp, says_the_version_of_the_contract) {
  EXPECT_EQ(policy_abi() >> 48, 3u);
  EXPECT_EQ(policy_abi(), policy_abi());
}

}  // namespace
}  // namespace kilter::detail
