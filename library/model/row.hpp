#pragma once
// One row of the trace table: everything learned about one (type, size class). Searches read
// `read_s` and nothing else of it.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/sync.hpp"
#include "model/elsewhere.hpp"
#include "model/shape.hpp"

namespace kilter::model {

/// What is behind one cell; touched by the worker that learns there.
struct alignas(sync::cache_line) cell_state {
  static constexpr std::uint32_t window = 16;

  std::array<sync::atomic<float>, window> recent{};  ///< the last samples, seconds
  sync::atomic<std::uint64_t> samples{0};            ///< all that were ever seen
  /// this place's own undisturbed time; 0: none yet. Stored when it changed by 1/64
  sync::atomic<double> own_s{0.0};
  sync::atomic<double> last_s{0.0};  ///< engine time of the last sample that was remembered
  /// engine time of the last probe sent here; negative: never
  sync::atomic<double> tried_s{-1.0};
  /// wall time of short samples since the last that was remembered
  sync::atomic<double> skipped_s{0.0};
  /// samples in the window since it was last restarted
  sync::atomic<std::uint32_t> remembered{0};
  /// `own_s` rests on enough samples to be held against others
  sync::atomic<bool> settled{false};
  sync::atomic<bool> given{false};  ///< `own_s` was preset and reads as it is
};

/// Peers' common undisturbed time. Written rarely.
struct group_state {
  sync::atomic<double> reference_s{0.0};  ///< 0: nothing known
  sync::atomic<double> checked_s{0.0};    ///< when it last was compared with what the places say
  sync::atomic<bool> settled{false};      ///< some place of the group is settled
};

/// Where critical tasks of this row go, and the one probe that may be under way (settle.cpp).
struct alignas(sync::cache_line) decision_state {
  sync::atomic<place_id> in_use{no_place};
  /// the place that is being tried; its next sample answers
  sync::atomic<place_id> probing{no_place};
  sync::atomic<double> lost_s{0.0};  ///< lost at `in_use` so far
  /// what the place promised that was left for the wide one in use; 0: that is not wide, or was the
  /// first
  sync::atomic<double> left_for_it_s{0.0};
  sync::atomic<double> wide_lost_s{0.0};   ///< lost there against that; gains are taken off
  sync::atomic<double> misled_s{0.0};      ///< lost at wide places that have been left again
  sync::atomic<double> next_check_s{0.0};  ///< when a probe is next considered
  sync::atomic<double> spent_s{0.0};       ///< probing seconds of this row
  sync::atomic<bool> sent{false};          ///< the probe has been sent and not been answered
  sync::atomic<std::uint32_t> left{0};     ///< probes still to be sent to `probing`
  // Guarded by `checking`.
  sync::atomic<bool> checking{false};
  double checked_s = -1.0, active_s = 0.0, tried_at_active_s = 0.0, sent_s = 0.0;
};

/// The papers' mode: what searches found in one cluster, so that a sample makes the next one look
/// at that cluster alone (papers.md D1).
struct alignas(sync::cache_line) cluster_state {
  sync::atomic<std::uint32_t> changes{0};  ///< of the cluster's cells
  /// by objective and widths: changes << 32 | place + 1
  std::array<sync::atomic<std::uint64_t>, 4> found{};
};

/// Seconds of a task at a group of peers, without slices that were lost there.
struct known_time {
  std::uint32_t group;
  double seconds;
};

struct table_row {
  table_row(const shape& s, std::string_view type_name, std::uint32_t work_class)
      : type(type_name),
        size_class(work_class),
        read_s(new (std::align_val_t{sync::cache_line}) sync::atomic<double>[s.cells]()),
        cells(std::make_unique<cell_state[]>(s.places())),
        groups(std::make_unique<group_state[]>(s.groups.size())),
        clusters(std::make_unique<cluster_state[]>(s.searched.size())),
        known_times(std::make_unique<known_time[]>(s.groups.size())) {}

  /// Cells of every cluster may have changed.
  void all_changed(const shape& s) noexcept {
    for (std::size_t c = 0; c < s.searched.size(); ++c)
      clusters[c].changes.fetch_add(1, sync::memory_order_release);
    changes.fetch_add(1, sync::memory_order_release);
  }

  struct aligned_delete {
    void operator()(sync::atomic<double>* p) const noexcept {
      ::operator delete[](p, std::align_val_t{sync::cache_line});
    }
  };

  const std::string type;
  const std::uint32_t size_class;
  /// by shape::cell_of, before slowdown; 0: unexplored
  const std::unique_ptr<sync::atomic<double>[], aligned_delete> read_s;
  const std::unique_ptr<cell_state[]> cells;    ///< by place
  const std::unique_ptr<group_state[]> groups;  ///< by shape::group_of
  const std::unique_ptr<cluster_state[]> clusters;
  sync::atomic<bool> sampled{false};  ///< at some place, or given
  /// unit_times::changes of the guesses in `read_s`, while nothing was sampled
  sync::atomic<std::uint32_t> guessed_from{0};
  sync::atomic<bool> publishing{false};
  /// guarded by `publishing`: what guesses are made from
  const std::unique_ptr<known_time[]> known_times;
  decision_state decision;
  elsewhere far;
  // Robust mode: the same for the whole machine, since a core's slowdown and a peer's sample reach
  // cells of other clusters.
  alignas(sync::cache_line) sync::atomic<std::uint32_t> changes{0};
  std::array<sync::atomic<std::uint64_t>, 4> found{};
};

}  // namespace kilter::model
