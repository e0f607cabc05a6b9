// Policies from outside: they are checked, and nobody else; the stamp of a plugin, and what it
// must not overlook. A library that was built for another layout would read one member for another
// in silence.

#include <gtest/gtest.h>

#include <set>

#include "kilter/policy_plugin.hpp"
#include "policy/ask.hpp"
#include "policy/checked.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

// ---- who is checked -----------------------------------------------------------------------------

class from_outside final : public policy {
 public:
  std::string_view name() const noexcept override { return "rws"; }  // a name proves nothing
  discipline queues(const machine&) const override { return {}; }
};

TEST(checked, built_in_policies_are_taken_as_they_are) {
  const machine m = machine::uniform(4);
  for (const policy_info& p : policy_catalogue()) {
    const auto built_in = make_policy(p.name, m);
    EXPECT_EQ(checked(built_in, m), built_in)
        << p.name << " would pay for checks that it does not need";
  }
}

TEST(checked, a_policy_from_outside_is_wrapped_once) {
  const machine m = machine::uniform(4);
  const auto outside = std::make_shared<const from_outside>();
  const auto wrapped = checked(outside, m);
  EXPECT_NE(wrapped, outside);
  EXPECT_EQ(wrapped->name(), "rws");
  EXPECT_EQ(checked(wrapped, m), wrapped);
}

TEST(checked, a_policy_of_another_machine_is_refused) {
  const machine four = machine::uniform(4), two = machine::uniform(2);
  const auto outside = std::make_shared<const from_outside>();
  for (const auto& made : {make_policy("auto", four), checked(outside, four)})
    test::expect_names(test::refusal<usage_error>([&] { (void)checked(made, two); }),
                       {"another machine than this one of 2 cores"});
  EXPECT_NO_THROW((void)checked(outside, two));
}

// The look at the answer must not be on the tape, or the policy itself would not replay what was
// recorded of it.
TEST(checked, nothing_of_the_checks_is_on_the_tape) {
  test::world plain(machine::uniform(4)), looked_at(machine::uniform(4));
  const auto outside = std::make_shared<const from_outside>();
  tape bare, taped;
  for (test::world* w : {&plain, &looked_at}) {
    const std::shared_ptr<const policy> asked = w == &plain ? outside : checked(outside, w->m);
    const task t = w->add();
    detail::asked_view v(w->m, &w->source, 1, w == &plain ? &bare : &taped);
    (void)ask::ready(*asked, test::world::ref(t), {}, 1, v);
    (void)ask::next(*asked, 1, 0, v);
    (void)ask::take(*asked, test::world::ref(t), 1, false, v);
  }
  EXPECT_TRUE(bare.entries() == taped.entries());
}

}  // namespace
}  // namespace kilter

namespace kilter::inline v0::detail {
namespace {

// ---- the stamp of a plugin ----------------------------------------------------------------------

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
}  // namespace kilter::inline v0::detail
