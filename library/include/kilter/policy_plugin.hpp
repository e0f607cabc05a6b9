#pragma once
// For a policy in a shared library of its own: `kilter compare --policy ./libmine.so`. See
// docs/policies.md.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kilter/policy.hpp"

namespace kilter {
inline namespace v0 {

namespace detail {

/// Sums up what a library and its host must have in common: where members are, and which slots
/// virtual functions have.
class stamp {
 public:
  constexpr void add(std::uint64_t v) noexcept {
    sum_ = (sum_ ^ v) * 0x9e3779b97f4a7c15;
    sum_ ^= sum_ >> 29;
  }
  template <class T>
  constexpr void type() noexcept {
    add(sizeof(T));
    add(alignof(T));
    add(std::uint64_t{std::is_floating_point_v<T>} | std::uint64_t{std::is_unsigned_v<T>} << 1 |
        std::uint64_t{std::is_enum_v<T>} << 2);
  }
  template <class Class, class Member>
  void member(Member Class::*which) noexcept {
    type<Member>();
    word_by_word(which);
  }
  template <class Class, class Answer, class... Arguments>
  void function(Answer (Class::*which)(Arguments...) const) noexcept {
    if constexpr (!std::is_void_v<Answer>) type<Answer>();
    (type<std::remove_reference_t<Arguments>>(), ...);
    word_by_word(which);
  }
  /// How many virtual functions there are: the slot of one more.
  template <class Interface>
  void slots() noexcept {
    struct longer : Interface {
      virtual void one_more() const = 0;
    };
    function(&longer::one_more);
  }
  [[nodiscard]] constexpr std::uint64_t sum() const noexcept { return sum_; }

 private:
  // Of a data member its offset, of a virtual function its slot.
  template <class Pointer>
  void word_by_word(Pointer which) noexcept {
    std::ptrdiff_t words[sizeof(Pointer) / sizeof(std::ptrdiff_t)];
    std::memcpy(words, &which, sizeof words);
    for (const std::ptrdiff_t w : words) add(static_cast<std::uint64_t>(w));
  }
  std::uint64_t sum_ = 0;
};

/// What lies in the private parts that inline functions of the headers read.
struct layout {
  static void of_view(stamp& s) noexcept {
    s.type<view>();
    s.member(&view::machine_);
    s.member(&view::question_);
    s.member(&view::asker_);
  }
  static void of_machine(stamp& s) noexcept {
    s.type<machine>();
    s.member(&machine::name_);
    s.member(&machine::kinds_);
    s.member(&machine::cores_);
    s.member(&machine::clusters_);
    s.member(&machine::places_);
    s.member(&machine::scan_order_);
    s.member(&machine::single_);
  }
  static void of_policy(stamp& s) noexcept {
    s.type<policy>();
    s.member(&policy::cores_);
    s.member(&policy::places_);
    s.slots<policy>();
    s.function(&policy::name);
    s.function(&policy::queues);
    s.function(&policy::on_submit);
    s.function(&policy::on_ready);
    s.function(&policy::next);
    s.function(&policy::on_take);
    s.function(&policy::on_done);
    s.function(&policy::on_machine);
  }
};

template <class Class, class... Members>
void sum_up(stamp& s, Members Class::*... which) noexcept {
  s.type<Class>();
  (s.member(which), ...);
}

}  // namespace detail

/// The version of the contract (16 bits), and a sum over the layout of all that passes between a
/// policy and its engine; the command refuses a library that says another. A change that keeps the
/// layout and changes a meaning must raise the version.
[[nodiscard]] inline std::uint64_t policy_abi() noexcept {
  constexpr std::uint64_t version = 3;
  detail::stamp s;
  s.add(version);
  using d = discipline;
  detail::sum_up(s, &queue_spec::owner, &queue_spec::order, &queue_spec::takers);
  detail::sum_up(s, &d::queues, &d::deques_too, &d::steal_from, &d::forward_child, &d::asks_submit,
                 &d::asks_ready_low, &d::asks_ready_high, &d::asks_next, &d::asks_take_low,
                 &d::asks_take_high, &d::take_stays, &d::asks_done, &d::learns, &d::asks_machine,
                 &d::reads_predecessors, &d::reads_data, &d::cells, &d::type_cells);
  using r = ready_decision;
  detail::sum_up(s, &r::what, &r::stealable, &r::queue, &r::where, &r::key, &r::busy_s);
  using n = next_decision;
  detail::sum_up(s, &n::what, &n::queue, &n::skip, &n::task, &n::until_s);
  detail::sum_up(s, &take_decision::where, &take_decision::put_back, &take_decision::busy_s);
  detail::sum_up(s, &member_time::core, &member_time::seconds, &member_time::chunks);
  using m = measured;
  detail::sum_up(s, &m::sample_s, &m::leader_s, &m::span_s, &m::cpu_s, &m::tasks, &m::work,
                 &m::leader_first, &m::from_data, &m::members);
  detail::sum_up(s, &task_ref::handle);
  detail::sum_up(s, &task_state::a, &task_state::b);
  using t = table_options;
  detail::sum_up(s, &t::sample_weight, &t::explore_first, &t::refresh_every, &t::two_factors,
                 &t::neutral_prior, &t::lost_time, &t::idle_decay, &t::ageing, &t::by_work,
                 &t::window_s, &t::idle_decay_s, &t::move_after_s, &t::move_gain, &t::probe_budget,
                 &t::probe_after_s);
  using o = policy_options;
  detail::sum_up(s, &o::fast, &o::source, &o::local_search, &o::search_when_ready, &o::random_fast,
                 &o::place_noncritical, &o::minimise, &o::watts, &o::forward_child,
                 &o::direct_assembly, &o::steal_from, &o::cats_strict, &o::cats_bidirectional,
                 &o::cats_tries, &o::cats_update);
  detail::sum_up(s, &place::leader, &place::width);
  detail::sum_up(s, &core::id, &core::os_index, &core::cluster, &core::kind, &core::numa_node);
  detail::sum_up(s, &cluster::id, &cluster::kind, &cluster::first, &cluster::size,
                 &cluster::widths);
  s.type<core_kind>();
  detail::layout::of_machine(s);
  detail::layout::of_view(s);
  detail::layout::of_policy(s);
  // The last of each list: it moves when one comes before it.
  for (const auto last :
       {static_cast<int>(r::kind::bind), static_cast<int>(n::kind::hold_until),
        static_cast<int>(queue_order::by_key), static_cast<int>(victims::cluster_first),
        static_cast<int>(objective::edp), static_cast<int>(criticality::online),
        static_cast<int>(priority::high)})
    s.add(static_cast<std::uint64_t>(last));
  return version << 48 | s.sum() >> 16;
}

}  // namespace v0
}  // namespace kilter

/// Once in the library: how the command makes the policy. CLASS is made from (const machine&, const
/// policy_options&) if it can be, else without arguments.
#define KILTER_POLICY_PLUGIN(CLASS)                                                      \
  extern "C" std::uint64_t kilter_policy_abi() { return kilter::policy_abi(); }          \
  extern "C" kilter::policy* kilter_make_policy(const kilter::machine& m,                \
                                                const kilter::policy_options& o) {       \
    return [](const auto& where, const auto& settings) -> kilter::policy* {              \
      if constexpr (std::is_constructible_v<CLASS, decltype(where), decltype(settings)>) \
        return new CLASS(where, settings);                                               \
      else                                                                               \
        return new CLASS();                                                              \
    }(m, o);                                                                             \
  }
