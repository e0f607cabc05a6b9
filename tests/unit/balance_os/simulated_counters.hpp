#pragma once
// Counters of a computer that is simulated, for threads that are real: what a thread counts follows
// from the core that the kernel has it on.

#include <sys/types.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "balance/os/perf_calls.hpp"
#include "sim/threads/thread_engine.hpp"

namespace kilter::balance::os::testing {

struct simulated_computer {
  sim::thread_machine machine;
  /// which CPU of this computer stands for each core of the machine
  std::vector<int> os_cpus;
  std::size_t threads = 0;  ///< it begins when so many are counted
};

/// Threads of an actor that plays "stream" want memory, all others compute. Virtual time is the
/// time since the beginning.
class simulated_counters final : public perf_calls, private sim::thread_watcher {
 public:
  explicit simulated_counters(simulated_computer);
  ~simulated_counters() override;

  [[nodiscard]] std::vector<cpu_pmu> pmus() const override { return {{"cpu", 4}}; }
  [[nodiscard]] int open(const perf_event_attr&, pid_t tid, int group) override;
  [[nodiscard]] bool read(int fd, std::span<std::uint64_t> into) override;
  void close(int fd) noexcept override { groups_.erase(fd); }

 private:
  struct stopped {};
  struct counted {
    double ran_s = 0.0, instructions = 0.0, references = 0.0, misses = 0.0;
  };

  void begin();
  /// Until it has come to the present, with each thread where it is now.
  void catch_up();
  [[nodiscard]] core_id core_of(pid_t tid) const;

  // Called by the simulator, in its thread.
  core_id place(const sim::thread_birth&, std::span<const std::uint32_t> taken) override;
  [[nodiscard]] double first_s() const override { return step_s; }
  double look(double now_s, double length_s, std::span<const sim::thread_counters>,
              std::vector<sim::thread_move>& moves) override;

  static constexpr double step_s = 0.001;

  simulated_computer computer_;
  std::map<int, pid_t> groups_;  // by the descriptor of the first event
  int next_fd_ = 1000;
  std::vector<pid_t> tids_;  // in the order in which they came
  double began_s_ = 0.0;

  std::mutex shared_;  // everything below
  std::condition_variable changed_;
  std::vector<core_id> where_;
  std::vector<counted> counted_;
  double wanted_s_ = 0.0, reached_s_ = 0.0;
  bool stop_ = false;
  std::thread simulation_;
};

}  // namespace kilter::balance::os::testing
