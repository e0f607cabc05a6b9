// Who is checked: a policy from outside, and nobody else.

#include "policy/checked.hpp"

#include "policy/ask.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

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
  for (const auto& made : {make_policy("auto", four), checked(outside, four)}) {
    try {
      (void)checked(made, two);
      FAIL() << made->name();
    } catch (const usage_error& e) {
      EXPECT_NE(std::string(e.what()).find("another machine than this one of 2 cores"),
                std::string::npos)
          << e.what();
    }
  }
  EXPECT_NO_THROW((void)checked(outside, two));
}

// The look at the answer must not be on the tape, or the policy itself would not replay what was
// recorded of it.
TEST(checked, nothing_of_the_checks_is_on_the_tape) {
  testing::world plain(machine::uniform(4)), looked_at(machine::uniform(4));
  const auto outside = std::make_shared<const from_outside>();
  tape bare, taped;
  for (testing::world* w : {&plain, &looked_at}) {
    const std::shared_ptr<const policy> asked = w == &plain ? outside : checked(outside, w->m);
    const task t = w->add();
    detail::asked_view v(w->m, &w->source, 1, w == &plain ? &bare : &taped);
    (void)ask::ready(*asked, testing::world::ref(t), {}, 1, v);
    (void)ask::next(*asked, 1, 0, v);
    (void)ask::take(*asked, testing::world::ref(t), 1, false, v);
  }
  EXPECT_TRUE(bare.entries() == taped.entries());
}

}  // namespace
}  // namespace kilter
