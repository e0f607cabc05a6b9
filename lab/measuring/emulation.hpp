#pragma once
// Measures an experiment with the real runtime on a machine that is a platform file: as many
// workers as it has cores, whose bodies sleep.

#include "measuring/emulated_machine.hpp"
#include "measuring/modelled.hpp"

namespace kilter::lab {

class emulation final : public modelled, private body_runner {
 public:
  emulation(experiment, progress&);

 private:
  void run_one(const scenario&, const std::string& policy, std::uint32_t repeat,
               bool traced) override;
  void run_body(team_member& c) override { machine_->work(c); }

  emulated_machine* machine_ = nullptr;  // of the run that is on
};

/// Seconds of the shortest task of the graph on whatever place suits it best, undisturbed; 0 if
/// none does anything.
[[nodiscard]] double shortest_task_s(graph&, const task_graph&, const sim::platform&);

/// Seconds here for one second of the platform: the smallest power of two with which a task of that
/// length is long against a timer's error.
[[nodiscard]] double emulation_scale(double shortest_task_s) noexcept;

/// How it was emulated and what that cost, in a sentence.
[[nodiscard]] std::string emulation_note(const emulation_report&);

}  // namespace kilter::lab
