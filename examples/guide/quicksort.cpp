// Sorts by tasks that add tasks.
#include <kilter/runtime.hpp>

#include <algorithm>
#include <random>
#include <vector>

void quicksort(kilter::task_context& here, int* first, int* last) {
  if (last - first < 2000) {  // some 50 us of work: smaller tasks cost more than they bring
    std::sort(first, last);
    return;
  }
  const int pivot = first[(last - first) / 2];
  int* const low = std::partition(first, last, [=](int x) { return x < pivot; });
  int* const high = std::partition(low, last, [=](int x) { return x == pivot; });
  kilter::batch halves(here);
  halves.add([=](kilter::task_context& inner) { quicksort(inner, first, low); });
  halves.add([=](kilter::task_context& inner) { quicksort(inner, high, last); });
}  // halves ends here: it starts both tasks and waits for them

int main() {
  std::vector<int> values(1'000'000);
  std::mt19937 random(7);
  for (int& v : values) v = static_cast<int>(random() % 100'000);

  kilter::runtime rt;
  rt.run([&](kilter::task_context& here) {
    quicksort(here, values.data(), values.data() + values.size());
  });
  return std::is_sorted(values.begin(), values.end()) ? 0 : 1;
}
