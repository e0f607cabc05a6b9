#pragma once
// Ranks that are threads of one process, for tests of what ranks do together.

#include <barrier>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "apps/programs/ranks.hpp"

namespace kilter::testing {

/// Where they meet, and where what is on its way lies.
struct rank_room {
  explicit rank_room(std::uint32_t count) : texts(count), values(count), meeting(count) {}
  std::vector<std::string> texts;
  std::vector<std::vector<double>> values;
  std::barrier<> meeting;
  std::mutex mutex;
  std::condition_variable came;
  // from, to
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::vector<double>>> on_the_way;
};

class thread_rank final : public apps::ranks {
 public:
  thread_rank(rank_room& room, std::uint32_t rank) : room_(room), rank_(rank) {}
  std::uint32_t rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(room_.texts.size());
  }

  std::vector<std::string> each(const std::string& mine) override {
    room_.texts[rank_] = mine;
    room_.meeting.arrive_and_wait();
    const std::vector<std::string> all = room_.texts;
    room_.meeting.arrive_and_wait();
    return all;
  }
  std::vector<std::vector<double>> to_first(std::span<const double> mine) override {
    room_.values[rank_].assign(mine.begin(), mine.end());
    room_.meeting.arrive_and_wait();
    const auto all = rank_ == 0 ? room_.values : std::vector<std::vector<double>>{};
    room_.meeting.arrive_and_wait();
    return all;
  }
  bool exchange(std::span<const apps::border> borders, const std::function<bool()>&) override {
    std::unique_lock lock(room_.mutex);
    for (const apps::border& b : borders)
      room_.on_the_way[{rank_, b.with}].emplace_back(b.out.begin(), b.out.end());
    room_.came.notify_all();
    for (const apps::border& b : borders) {
      auto& mail = room_.on_the_way[{b.with, rank_}];
      room_.came.wait(lock, [&] { return !mail.empty(); });
      std::copy(mail.front().begin(), mail.front().end(), b.in.begin());
      mail.pop_front();
    }
    return false;
  }

 private:
  rank_room& room_;
  std::uint32_t rank_;
};

/// Calls `f` as each of so many ranks at the same time.
template <class F>
void in_ranks(std::uint32_t count, F&& f) {
  rank_room room(count);
  std::vector<std::jthread> all;
  for (std::uint32_t r = 0; r < count; ++r)
    all.emplace_back([&room, &f, r] { f(std::make_shared<thread_rank>(room, r)); });
}

}  // namespace kilter::testing
