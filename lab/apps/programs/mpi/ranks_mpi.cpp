// Ranks by Open MPI (Debian 12: 4.1).

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

#include "apps/programs/mpi/library.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

namespace {

/// More doubles than one message of MPI 3 can hold are told in several.
constexpr std::size_t longest_message = 1u << 30;

class mpi_ranks final : public ranks {
 public:
  mpi_ranks() {
    int level = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
      throw input_error("MPI does not start");
    if (level < MPI_THREAD_SERIALIZED)
      throw input_error(
          "this MPI takes calls of one thread only; Open MPI from 4.0 takes those of several");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~mpi_ranks() override {
    // it would write into borders of an exchange that did not end, which are gone
    if (!stopped_) MPI_Finalize();
  }

  [[nodiscard]] std::uint32_t rank() const noexcept override {
    return static_cast<std::uint32_t>(rank_);
  }
  [[nodiscard]] std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(size_);
  }

  std::vector<std::string> each(const std::string& mine) override {
    const auto count = static_cast<std::size_t>(size_);
    std::vector<int> lengths(count), places(count);
    const int length = static_cast<int>(mine.size());
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::string all(static_cast<std::size_t>(places.back() + lengths.back()), '\0');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(),
                   MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < count; ++r)
      texts.push_back(
          all.substr(static_cast<std::size_t>(places[r]), static_cast<std::size_t>(lengths[r])));
    return texts;
  }

  std::vector<std::vector<double>> to_first(std::span<const double> mine) override {
    if (rank_ != 0) {
      const std::uint64_t length = mine.size();
      MPI_Send(&length, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
      for (std::size_t at = 0; at < mine.size(); at += longest_message)
        MPI_Send(mine.data() + at, count_from(at, mine.size()), MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      return {};
    }
    std::vector<std::vector<double>> all{{mine.begin(), mine.end()}};
    for (int r = 1; r < size_; ++r) {
      std::uint64_t length = 0;
      MPI_Recv(&length, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      std::vector<double>& values = all.emplace_back(length);
      for (std::size_t at = 0; at < values.size(); at += longest_message)
        MPI_Recv(values.data() + at, count_from(at, values.size()), MPI_DOUBLE, r, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return all;
  }

  bool exchange(std::span<const border> borders, const std::function<bool()>& stopped) override {
    requests_.clear();
    for (const border& b : borders) {
      const int other = static_cast<int>(b.with), length = static_cast<int>(b.in.size());
      MPI_Irecv(b.in.data(), length, MPI_DOUBLE, other, 1, MPI_COMM_WORLD,
                &requests_.emplace_back());
      MPI_Isend(b.out.data(), length, MPI_DOUBLE, other, 1, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    // Where ranks share a core, whoever waits must give it away, or the one that he waits for
    // cannot run.
    for (std::uint32_t tries = 0;; ++tries) {
      int done = 0;
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (done) return false;
      if (tries < 100) continue;
      if ((stopped_ = stopped())) return true;
      if (tries < 200)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void end_all(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

 private:
  static int count_from(std::size_t at, std::size_t size) {
    return static_cast<int>(std::min(longest_message, size - at));
  }

  int rank_ = 0, size_ = 1;
  bool stopped_ = false;
  std::vector<MPI_Request> requests_;
};

}  // namespace

}  // namespace kilter::apps

extern "C" kilter::apps::ranks* kilter_join_ranks() { return new kilter::apps::mpi_ranks; }
