#pragma once
// Watching without counters: a thread is interrupted after so much of its own CPU time (the
// kernel's software event cpu-clock), and where it goes in memory next follows from its code and
// its registers. Threads that wait for memory go to new pages all the time. This tells a class and
// never a rate: how often a thread misses cannot be seen so.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "balance/os/code_cache.hpp"
#include "balance/os/observer.hpp"
#include "balance/os/operand_decoder.hpp"
#include "balance/os/page_window.hpp"
#include "balance/os/sample_ring.hpp"
#include "balance/os/sampling_calls.hpp"

namespace kilter::balance::os {

class software_observer final : public observer {
 public:
  /// Without a decoder, or if this thread cannot be sampled, it sees times only, and `limits` says
  /// why.
  software_observer(std::unique_ptr<sampling_calls>, std::unique_ptr<operand_decoder>);
  ~software_observer() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "software"; }
  [[nodiscard]] bool sees_rates() const noexcept override { return false; }
  [[nodiscard]] std::string limits() const override;
  void add(const watched_thread&) override;
  void remove(const watched_thread&) override;
  void collect() override;
  void fill(const watched_thread&, thread_sample&) override;
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  struct sampled_thread {
    pid_t pid = 0;
    std::span<std::byte> ring;  ///< empty: no longer sampled
    page_window window;
    thread_class told = thread_class::unknown;
    bool seldom = false;        ///< its class was told, or cannot be: it is sampled less often
    double unseen_s = 0.0;      ///< ran since its last sample
    std::uint64_t samples = 0;  ///< resolved or not, of the program that it is
  };
  /// The ring of a thread (0: this one); empty if there is none, and then why, except if the thread
  /// has gone.
  [[nodiscard]] std::span<std::byte> open(pid_t tid, bool seldom, std::string& why);
  void start(sampled_thread&, const watched_thread&);
  void stop(sampled_thread&) noexcept;
  void take(sampled_thread&);
  [[nodiscard]] static bool is_undecided(const sampled_thread&);

  std::unique_ptr<sampling_calls> calls_;
  std::unique_ptr<operand_decoder> decoder_;
  std::optional<code_cache> code_;
  bool works_ = false;
  std::string why_not_;
  std::unordered_map<thread_id, sampled_thread> threads_;
  ring_contents taken_;                           ///< its memory is used again
  std::map<std::string, std::uint64_t> refused_;  ///< threads, by reason
  std::uint64_t undecided_ = 0;
};

}  // namespace kilter::balance::os
