// The observer without counters: what it makes of the kernel's records, and of a kernel that
// refuses. A fake kernel writes the records, since not every machine may sample.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "actors.hpp"
#include "balance/os/software_observer.hpp"

namespace kilter::balance::os::testing {

namespace {

constexpr std::size_t page = 4096;

/// A ring as the kernel maps and fills it.
class fake_ring {
 public:
  explicit fake_ring(std::size_t bytes)
      : memory_(page + bytes), control_(*reinterpret_cast<perf_event_mmap_page*>(memory_.data())) {
    control_.data_offset = page;
    control_.data_size = bytes;
  }
  [[nodiscard]] std::span<std::byte> mapped() { return memory_; }
  [[nodiscard]] bool is(std::span<std::byte> other) const { return other.data() == memory_.data(); }

  /// False, and nothing is written, if there is no room, as in the kernel.
  bool write(std::uint32_t type, std::uint16_t misc, std::span<const std::uint64_t> body) {
    const perf_event_header h{type, misc, static_cast<std::uint16_t>(sizeof h + body.size_bytes())};
    if (control_.data_head + h.size - control_.data_tail > control_.data_size) return false;
    put(&h, sizeof h);
    put(body.data(), body.size_bytes());
    return true;
  }
  /// A sample whose `ax` says where the thread goes (see `goes_to_ax`).
  bool sample(std::uint64_t ax, std::uint64_t abi = PERF_SAMPLE_REGS_ABI_64) {
    std::vector<std::uint64_t> body(1 + sampled_register_count);
    body[0] = abi;
    body[1] = ax;
    if (abi == PERF_SAMPLE_REGS_ABI_NONE) body.resize(1);
    return write(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body);
  }
  void samples(int n, std::uint64_t from, std::uint64_t step) {
    for (int i = 0; i < n; ++i) ASSERT_TRUE(sample(from + static_cast<std::uint64_t>(i) * step));
  }
  void lost(std::uint64_t n) { write(PERF_RECORD_LOST, 0, std::vector<std::uint64_t>{7, n}); }
  void name_changed(bool by_exec) {
    write(PERF_RECORD_COMM, by_exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
          std::vector<std::uint64_t>{0x100000001, 0x6e});
  }
  void no_record() {
    const std::uint64_t zeros[2] = {};
    put(zeros, sizeof zeros);
  }

 private:
  void put(const void* from, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      memory_[page + (control_.data_head + i) % control_.data_size] =
          static_cast<const std::byte*>(from)[i];
    control_.data_head += n;
  }
  std::vector<std::byte> memory_;
  perf_event_mmap_page& control_;
};

struct sampling_kernel {
  std::map<pid_t, std::uint64_t> period_ns;
  std::map<pid_t, int> open_errors, map_errors;  ///< errno by thread; 0 is who asks
  int read_error = 0;
  std::set<int> open_fds;
  std::map<int, pid_t> fd_of;
  std::map<pid_t, std::unique_ptr<fake_ring>> rings;  ///< mapped now, or last
  std::set<const std::byte*> mapped;
  int next_fd = 100, opened = 0, reads = 0;
};

class sampling_kernel_calls final : public sampling_calls {
 public:
  explicit sampling_kernel_calls(sampling_kernel& k) : k_(k) {}
  [[nodiscard]] int open(const perf_event_attr& a, pid_t tid) override {
    EXPECT_TRUE(a.exclude_kernel) << "ordinary users may not sample the kernel";
    if (const auto at = k_.open_errors.find(tid); at != k_.open_errors.end()) return -at->second;
    ++k_.opened;
    k_.period_ns[tid] = a.sample_period;
    k_.fd_of[k_.next_fd] = tid;
    return *k_.open_fds.insert(k_.next_fd++).first;
  }
  [[nodiscard]] std::span<std::byte> map(int fd, std::size_t bytes, int& error) override {
    const pid_t tid = k_.fd_of[fd];
    if (const auto at = k_.map_errors.find(tid); at != k_.map_errors.end())
      return error = at->second, std::span<std::byte>();
    k_.rings[tid] = std::make_unique<fake_ring>(bytes);
    k_.mapped.insert(k_.rings[tid]->mapped().data());
    return k_.rings[tid]->mapped();
  }
  void unmap(std::span<std::byte> m) noexcept override {
    EXPECT_EQ(k_.mapped.erase(m.data()), 1U) << "unmapped twice";
  }
  void close(int fd) noexcept override { k_.open_fds.erase(fd); }
  [[nodiscard]] int read_memory(pid_t, std::uint64_t, std::span<std::byte> into) override {
    ++k_.reads;
    return k_.read_error != 0 ? -k_.read_error : static_cast<int>(into.size());
  }

 private:
  sampling_kernel& k_;
};

/// All code goes to where `ax` points.
class goes_to_ax final : public operand_decoder {
 public:
  [[nodiscard]] operand_form next(std::uint64_t ip, const code_source& code) const override {
    std::byte b[1];
    if (code(ip, b) == 0) return {.goes = operand_form::unresolved};
    return {.goes = operand_form::somewhere, .base = sampled_register::ax};
  }
};

std::unique_ptr<software_observer> observer_on(sampling_kernel& k) {
  return std::make_unique<software_observer>(std::make_unique<sampling_kernel_calls>(k),
                                             std::make_unique<goes_to_ax>());
}

thread_class told(software_observer& o, const watched_thread& t, double ran_s = 0.1) {
  thread_sample s;
  s.ran_s = ran_s;
  o.fill(t, s);
  EXPECT_FALSE(s.misses) << "it sees no rates";
  return s.told;
}

TEST(sampling, tells_who_goes_to_new_pages_from_who_comes_back) {
  sampling_kernel k;
  const auto o = observer_on(k);
  EXPECT_FALSE(o->sees_rates());
  const watched_thread t = self();
  o->add(t);
  EXPECT_EQ(told(*o, t), thread_class::unknown) << "nothing was seen yet";
  // it is another one after the event was opened anew
  const auto ring = [&]() -> fake_ring& { return *k.rings[t.tid]; };
  ring().samples(8, 0x10000, page);
  EXPECT_EQ(told(*o, t), thread_class::unknown) << "too few to tell";
  ring().samples(40, 0x100000, page);
  EXPECT_EQ(told(*o, t), thread_class::memory);
  for (int quantum = 0; quantum < 8; ++quantum) {
    ring().samples(40, 0x10000, 8);
    o->collect();
  }
  EXPECT_EQ(told(*o, t), thread_class::compute) << "another phase of the program";
  EXPECT_EQ(told(*o, t, 0.0), thread_class::compute) << "a thread that waits is what it was";
  EXPECT_TRUE(o->remarks().empty());
}

TEST(sampling, reads_records_that_run_over_the_end_of_the_ring) {
  fake_ring ring(2 * page);
  std::uint64_t next = 0, seen = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 37; ++i) ASSERT_TRUE(ring.sample(next++));
    ring_contents taken;
    drain(ring.mapped(), taken);
    for (const register_values& r : taken.samples)
      ASSERT_EQ(value_of(r, sampled_register::ax), seen++);
  }
  EXPECT_EQ(seen, next);
}

TEST(sampling, a_full_ring_is_emptied_and_what_was_lost_counted) {
  fake_ring ring(2 * page);
  while (ring.sample(1)) {
  }
  ring_contents taken;
  drain(ring.mapped(), taken);
  EXPECT_EQ(taken.samples.size(), 2 * page / 152);
  ring.lost(9);
  ring.sample(2);
  taken.clear();
  drain(ring.mapped(), taken);
  EXPECT_EQ(taken.lost, 9U);
  EXPECT_EQ(taken.samples.size(), 1U)
      << "the record of what was lost is taken for a sample, or hides the next one";
}

TEST(sampling, a_ring_that_makes_no_sense_is_left_and_works_again) {
  fake_ring ring(2 * page);
  ring.sample(1);
  ring.no_record();
  ring_contents taken;
  drain(ring.mapped(), taken);
  EXPECT_EQ(taken.samples.size(), 1U);
  ring.sample(2);
  drain(ring.mapped(), taken);
  EXPECT_EQ(taken.samples.size(), 2U);
}

TEST(sampling, another_program_in_the_same_thread_begins_anew) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread t = self();
  o->add(t);
  // it is another one after the event was opened anew
  const auto ring = [&]() -> fake_ring& { return *k.rings[t.tid]; };
  ring().samples(40, 0x100000, page);
  ring().name_changed(false);
  EXPECT_EQ(told(*o, t), thread_class::memory) << "a thread that takes a name is the same";
  ring().samples(5, 0x100000, page);
  ring().name_changed(true);
  EXPECT_EQ(told(*o, t), thread_class::unknown) << "the class is that of the program before";
  ring().samples(20, 0x10000, 8);
  EXPECT_EQ(told(*o, t), thread_class::compute);
}

TEST(sampling, code_is_decoded_once_until_it_may_have_changed) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread t = self();
  o->add(t);
  // it is another one after the event was opened anew
  const auto ring = [&]() -> fake_ring& { return *k.rings[t.tid]; };
  const auto decoded_again = [&] {
    const int before = k.reads;
    ring().samples(10, 0x10000, 8);
    o->collect();
    return k.reads - before;
  };
  EXPECT_EQ(decoded_again(), 1);
  EXPECT_EQ(decoded_again(), 0) << "a loop is decoded for every sample";
  ring().name_changed(true);
  EXPECT_EQ(decoded_again(), 1) << "another program has other code";
  int sum = 0;
  for (int i = 0; i < 200; ++i) sum += decoded_again();
  EXPECT_GT(sum, 0) << "code that a program makes anew at the same place is never seen";
  EXPECT_LT(sum, 10);
}

TEST(sampling, a_thread_that_is_known_costs_less) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread known = self(0);
  o->add(known);
  const std::uint64_t at_first_ns = k.period_ns[known.tid];
  k.rings[known.tid]->samples(40, 0x100000, page);
  EXPECT_EQ(told(*o, known), thread_class::memory);
  EXPECT_GE(k.period_ns[known.tid], 2 * at_first_ns);
  EXPECT_EQ(k.mapped.size(), 1U) << "it is sampled twice";
  k.rings[known.tid]->samples(40, 0x10000, 8);
  EXPECT_EQ(told(*o, known), thread_class::unknown);
  EXPECT_EQ(k.period_ns[known.tid], at_first_ns) << "it is not known any more";
  k.rings[known.tid]->name_changed(true);
  k.rings[known.tid]->samples(40, 0x10000, 8);
  EXPECT_EQ(told(*o, known), thread_class::compute);
  k.rings[known.tid]->name_changed(true);
  EXPECT_EQ(told(*o, known), thread_class::unknown);
  EXPECT_EQ(k.period_ns[known.tid], at_first_ns) << "another program";
}

TEST(sampling, without_permission_sees_times_only_and_says_why) {
  sampling_kernel k;
  k.open_errors[0] = EACCES;
  const auto o = observer_on(k);
  EXPECT_NE(o->limits().find("CAP_PERFMON"), std::string::npos) << o->limits();
  const watched_thread t = self();
  o->add(t);
  EXPECT_EQ(told(*o, t), thread_class::unknown);
  EXPECT_EQ(k.opened, 0) << "asks again for every thread";
  EXPECT_TRUE(o->remarks().empty()) << "it has been said at the begin";
}

TEST(sampling, without_a_decoder_sees_times_only_and_says_why) {
  sampling_kernel k;
  software_observer o(std::make_unique<sampling_kernel_calls>(k), nullptr);
  EXPECT_NE(o.limits().find("nothing is predicted"), std::string::npos) << o.limits();
  const watched_thread t = self();
  o.add(t);
  EXPECT_EQ(told(o, t), thread_class::unknown);
  EXPECT_EQ(k.opened, 0);
}

TEST(sampling, threads_that_are_refused_are_counted_and_the_others_seen) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread first = self(0), second = self(1), third = self(2);
  k.map_errors[first.tid] = EPERM;
  o->add(first);
  o->add(second);
  k.map_errors.clear();
  o->add(third);
  k.rings[third.tid]->samples(20, 0x100000, page);
  EXPECT_EQ(told(*o, third), thread_class::memory);
  EXPECT_EQ(told(*o, first), thread_class::unknown);
  EXPECT_TRUE(k.open_fds.empty()) << "hundreds of threads would use up the descriptors";
  ASSERT_EQ(o->remarks().size(), 1U);
  EXPECT_NE(o->remarks()[0].find("2 threads have no class"), std::string::npos) << o->remarks()[0];
  EXPECT_NE(o->remarks()[0].find("perf_event_mlock_kb"), std::string::npos) << o->remarks()[0];
}

TEST(sampling, a_thread_that_ends_leaves_nothing_behind) {
  sampling_kernel k;
  {
    const auto o = observer_on(k);
    EXPECT_TRUE(k.mapped.empty()) << "the trial at the begin";
    watched_thread gone = self();
    k.open_errors[gone.tid] = ESRCH;
    o->add(gone);
    EXPECT_EQ(told(*o, gone), thread_class::unknown);
    o->remove(gone);
    EXPECT_TRUE(o->remarks().empty()) << "nobody refused anything";

    k.open_errors.clear();
    gone.start -= 1;  // the number belongs to another thread by now
    o->add(gone);
    EXPECT_TRUE(k.mapped.empty()) << "it samples a stranger";

    const watched_thread other = self(1), last = self(2);
    o->add(other);
    EXPECT_EQ(k.mapped.size(), 1U);
    o->remove(other);
    EXPECT_TRUE(k.mapped.empty());
    o->add(last);
  }
  EXPECT_TRUE(k.mapped.empty());
  EXPECT_TRUE(k.open_fds.empty());
}

TEST(sampling, code_that_may_not_be_read_ends_the_sampling_of_that_thread) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread t = self();
  o->add(t);
  k.rings[t.tid]->samples(20, 0x100000, page);
  k.read_error = EPERM;
  EXPECT_EQ(told(*o, t), thread_class::unknown);
  EXPECT_TRUE(k.mapped.empty()) << "it is interrupted for nothing";
  EXPECT_EQ(told(*o, t, 5.0), thread_class::unknown);
  ASSERT_EQ(o->remarks().size(), 1U) << "and only once";
  EXPECT_NE(o->remarks()[0].find("ptrace_scope"), std::string::npos) << o->remarks()[0];
}

TEST(sampling, an_event_that_fell_silent_is_opened_anew) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread t = self();
  o->add(t);
  k.rings[t.tid]->samples(20, 0x100000, page);
  EXPECT_EQ(told(*o, t, 0.5), thread_class::memory);
  const int before = k.opened;
  EXPECT_EQ(told(*o, t, 0.6), thread_class::memory);
  EXPECT_EQ(k.opened, before);
  EXPECT_EQ(told(*o, t, 0.6), thread_class::unknown)
      << "it ran for a second and was not seen, as after an exec by another thread";
  EXPECT_EQ(k.opened, before + 1);
  k.rings[t.tid]->samples(20, 0x10000, 8);
  EXPECT_EQ(told(*o, t), thread_class::compute);
  EXPECT_EQ(k.mapped.size(), 1U);
}

TEST(sampling, code_of_32_bits_has_no_class_and_that_is_said) {
  sampling_kernel k;
  const auto o = observer_on(k);
  const watched_thread t = self();
  o->add(t);
  for (int i = 0; i < 300; ++i) {
    k.rings[t.tid]->sample(0x1000,
                           i % 2 == 0 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_NONE);
    o->collect();
  }
  EXPECT_EQ(told(*o, t), thread_class::unknown);
  ASSERT_EQ(o->remarks().size(), 1U);
  EXPECT_NE(o->remarks()[0].find("told no class"), std::string::npos) << o->remarks()[0];
}

TEST(sampling, of_this_machine_tells_a_thread_that_copies_memory_from_one_that_computes) {
  software_observer o(std::make_unique<linux_sampling_calls>(), make_operand_decoder());
  if (o.limits().starts_with("sees when")) GTEST_SKIP() << o.limits();
  const actor computes("spin 1 120"), copies("stream 1 120");
  std::vector<watched_thread> both(2);
  for (thread_id i = 0; i < 2; ++i) {
    watched_thread& t = both[i];
    t.id = i;
    t.pid = t.tid = i == 0 ? computes.pid() : copies.pid();
    t.stat = host::proc_file(host::stat_path(t.pid, t.tid));
    t.start = host::stat_of(t.stat)->start;
    o.add(t);
  }
  EXPECT_TRUE(eventually(
      [&] {
        o.collect();
        return told(o, both[0], 0.0) == thread_class::compute &&
               told(o, both[1], 0.0) == thread_class::memory;
      },
      30));
}

}  // namespace

}  // namespace kilter::balance::os::testing
