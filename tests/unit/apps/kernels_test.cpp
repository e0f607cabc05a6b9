// The kernels against plain references, cut and ordered in every way that a runtime may choose.

#include "apps/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>

#include "base/random.hpp"
#include "unit/support.hpp"

namespace kilter::apps {
namespace {

// A few slots: the default pool of 256 MiB would make the tests slow.
kernel_options small(std::uint32_t sweeps = 1, std::uint32_t concurrency = 4) {
  return {sweeps, concurrency, 1};
}

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  random_stream stream(seed);
  std::vector<float> result(count);
  for (float& x : result) x = static_cast<float>(2 * stream.uniform() - 1);
  return result;
}

// Members take parts from one counter, as a runtime's chunk source hands them out.
void run_with_members(kernel_instance& kernel, std::uint64_t task, std::uint32_t width,
                      std::uint32_t members) {
  const std::uint32_t parts = kernel.parts(width);
  std::atomic<std::uint32_t> next{0};
  const auto member = [&] {
    for (std::uint32_t part; (part = next.fetch_add(1)) < parts;)
      kernel.run_part(task, part, parts);
  };
  std::vector<std::thread> others;
  for (std::uint32_t i = 1; i < members; ++i) others.emplace_back(member);
  member();
  for (std::thread& t : others) t.join();
}

TEST(matmul_rows, equals_the_plain_product_for_sizes_that_fill_no_register) {
  for (const std::size_t n : {1u, 3u, 4u, 7u, 8u, 13u, 32u, 64u, 67u}) {
    const auto a = numbers(n * n, 1), bt = numbers(n * n, 2);
    std::vector<float> c(n * n, 99.0f);
    matmul_rows(a.data(), bt.data(), c.data(), n, 0, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double expected = 0;
        for (std::size_t k = 0; k < n; ++k)
          expected += double{a[i * n + k]} * double{bt[j * n + k]};
        ASSERT_NEAR(c[i * n + j], expected, 1e-4) << "n " << n << " row " << i << " column " << j;
      }
  }
}

TEST(row_kernels, write_only_the_rows_they_were_given) {
  constexpr std::size_t n = 16;
  const auto in = numbers(n * n, 3);
  for (int kernel = 0; kernel < 3; ++kernel) {
    std::vector<float> out(n * n, 99.0f);
    if (kernel == 0) matmul_rows(in.data(), in.data(), out.data(), n, 5, 9);
    if (kernel == 1) copy_rows(in.data(), out.data(), n, 5, 9);
    if (kernel == 2) stencil_rows(in.data(), out.data(), n, 5, 9);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const bool inside = i >= 5 && i < 9 && (kernel != 2 || (j > 0 && j + 1 < n));
        ASSERT_EQ(out[i * n + j] != 99.0f, inside)
            << "kernel " << kernel << " row " << i << " column " << j;
      }
  }
}

TEST(stencil_rows, moves_a_peak_to_its_four_neighbours) {
  std::vector<float> in(25, 0.0f), out(25, 0.0f);
  in[12] = 1.0f;
  stencil_rows(in.data(), out.data(), 5, 1, 4);
  EXPECT_FLOAT_EQ(out[12], 1.0f - 4 * 0.001f);
  for (const int i : {7, 11, 13, 17}) EXPECT_FLOAT_EQ(out[static_cast<std::size_t>(i)], 0.001f);
  for (const int i : {6, 8, 16, 18}) EXPECT_EQ(out[static_cast<std::size_t>(i)], 0.0f);
}

TEST(quicksort, sorts_what_makes_pivots_bad) {
  random_stream stream(7);
  for (const std::size_t n : {0u, 1u, 2u, 3u, 24u, 25u, 26u, 100u, 5000u}) {
    std::vector<std::vector<std::uint32_t>> inputs(6, std::vector<std::uint32_t>(n));
    for (std::size_t i = 0; i < n; ++i) {
      inputs[0][i] = static_cast<std::uint32_t>(stream.next());
      inputs[1][i] = static_cast<std::uint32_t>(i);
      inputs[2][i] = static_cast<std::uint32_t>(n - i);
      inputs[3][i] = 5;
      inputs[4][i] = stream.below(3);
      inputs[5][i] = static_cast<std::uint32_t>(i < n / 2 ? i : n - i);
    }
    for (auto& keys : inputs) {
      auto expected = keys;
      std::sort(expected.begin(), expected.end());
      quicksort(keys);
      ASSERT_EQ(keys, expected) << n << " keys";
    }
  }
}

TEST(merge_range, parts_put_together_are_the_merge_wherever_it_is_cut) {
  random_stream stream(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> left(stream.below(20)), right(stream.below(20));
    for (auto* run : {&left, &right}) {
      for (auto& key : *run) key = stream.below(12);
      std::sort(run->begin(), run->end());
    }
    std::vector<std::uint32_t> expected;
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(expected));
    const std::size_t cut = stream.below(static_cast<std::uint32_t>(expected.size() + 1));
    std::vector<std::uint32_t> out(expected.size(), 77);
    merge_range(left, right, out.data(), cut, out.size());
    merge_range(left, right, out.data(), 0, cut);
    ASSERT_EQ(out, expected) << "cut at " << cut;
  }
}

struct kernel_case {
  const char* name;
  std::uint64_t tile;
  std::uint32_t sweeps;
};

class every_kernel : public testing::TestWithParam<kernel_case> {
 protected:
  std::unique_ptr<kernel_instance> make() {
    return make_kernel(GetParam().name, GetParam().tile, small(GetParam().sweeps));
  }
};

TEST_P(every_kernel, fails_its_check_before_it_ran) {
  const auto kernel = make();
  EXPECT_FALSE(kernel->check(0));
}

TEST_P(every_kernel, is_right_on_one_thread_at_every_width) {
  for (const std::uint32_t width : {1u, 2u, 3u, 4u, 8u}) {
    const auto kernel = make();
    run_with_members(*kernel, 0, width, 1);
    EXPECT_TRUE(kernel->check(0)) << "width " << width;
    EXPECT_FALSE(kernel->check(1)) << "task 0 wrote the buffers of task 1";
  }
}

TEST_P(every_kernel, is_right_with_members_that_share_the_parts) {
  for (const std::uint32_t width : {2u, 4u})
    for (const std::uint32_t members : {2u, 4u}) {
      const auto kernel = make();
      for (std::uint64_t task = 0; task < 12; ++task) {
        run_with_members(*kernel, task, width, members);
        ASSERT_TRUE(kernel->check(task))
            << "task " << task << " width " << width << " members " << members;
      }
    }
}

TEST_P(every_kernel, can_run_a_task_again_at_another_width) {
  const auto kernel = make();
  for (const std::uint32_t width : {4u, 1u, 2u, 1u}) {
    run_with_members(*kernel, 3, width, width);
    ASSERT_TRUE(kernel->check(3)) << "width " << width;
  }
}

// The parts of one phase may complete in any order; only phases are ordered.
TEST_P(every_kernel, gives_the_same_with_each_phase_backwards) {
  const auto kernel = make();
  const std::uint32_t parts = kernel->parts(4);
  for (std::uint32_t begin = 0; begin < parts;) {
    std::uint32_t end = begin;
    while (end < parts && kernel->phase_begin(end, parts) == begin) ++end;
    ASSERT_GT(end, begin);
    for (std::uint32_t part = end; part-- > begin;) kernel->run_part(0, part, parts);
    begin = end;
  }
  EXPECT_TRUE(kernel->check(0));
}

// Tasks on four threads whose indices fall on the same buffers all the time: a lost claim would
// corrupt outputs or hang.
TEST_P(every_kernel, tasks_that_share_buffers_take_turns) {
  const auto kernel = make();
  ASSERT_EQ(kernel->slots(), 4u);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t round = 0; round < 20; ++round) {
        const std::uint64_t task = 4 * (4 * round + t);
        const std::uint32_t parts = kernel->parts(t % 2 == 0 ? 1 : 2);
        for (std::uint32_t part = 0; part < parts; ++part) kernel->run_part(task, part, parts);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(kernel->check(0));
}

TEST_P(every_kernel, runs_on_after_a_cancelled_graph_left_a_task_half_done) {
  const auto kernel = make();
  const std::uint32_t parts = kernel->parts(2);
  ASSERT_GT(parts, 1u);
  kernel->run_part(0, 0, parts);
  kernel->reset();
  run_with_members(*kernel, kernel->slots(), 2, 2);  // another task on the same buffers
  EXPECT_TRUE(kernel->check(kernel->slots()));
}

INSTANTIATE_TEST_SUITE_P(kernels, every_kernel,
                         testing::Values(kernel_case{"matmul", 64, 1}, kernel_case{"matmul", 19, 1},
                                         kernel_case{"copy", 33, 1}, kernel_case{"copy", 128, 1},
                                         kernel_case{"stencil", 5, 1},
                                         kernel_case{"stencil", 64, 1},
                                         kernel_case{"stencil", 65, 2},
                                         kernel_case{"stencil", 40, 5},
                                         kernel_case{"sort", 4096, 1}, kernel_case{"sort", 12, 1},
                                         kernel_case{"sort", 100, 1}),
                         [](const auto& chosen) {
                           return std::string(chosen.param.name) + "_" +
                                  std::to_string(chosen.param.tile) + "_" +
                                  std::to_string(chosen.param.sweeps);
                         });

TEST(parts, are_rows_in_chunks_of_an_eighth_of_a_members_share) {
  const auto kernel = make_kernel("matmul", 64, small());
  EXPECT_EQ(kernel->parts(1), 1u);
  EXPECT_EQ(kernel->parts(2), 16u);
  EXPECT_EQ(kernel->parts(4), 32u);
  EXPECT_EQ(kernel->parts(16), 64u) << "never less than a row";
}

TEST(parts, of_sort_allow_four_members_and_no_more) {
  const auto kernel = make_kernel("sort", 64, small());
  const std::uint32_t parts = kernel->parts(8);
  std::vector<std::uint32_t> in_phase(parts, 0);
  for (std::uint32_t part = 0; part < parts; ++part) ++in_phase[kernel->phase_begin(part, parts)];
  EXPECT_EQ(*std::max_element(in_phase.begin(), in_phase.end()), 4u);
  EXPECT_EQ(kernel->phase_begin(parts - 1, parts), 8u);
}

TEST(make_kernel, walks_through_the_pool_it_was_given) {
  const auto kernel = make_kernel("matmul", 64, {1, 16, std::size_t{8} << 20});
  EXPECT_EQ(kernel->bytes_per_task(), 3u * 64 * 64 * 4);
  EXPECT_EQ(kernel->slots(), (std::size_t{8} << 20) / kernel->bytes_per_task());
}

TEST(make_kernel, gives_every_concurrent_task_its_buffers_even_if_the_pool_must_grow) {
  EXPECT_EQ(make_kernel("copy", 256, {1, 40, 1})->slots(), 40u);
}

TEST(make_kernel, names_what_is_wrong) {
  const auto bad = [](std::string_view name, std::uint64_t tile, kernel_options options = small()) {
    return test::refusal([&] { (void)make_kernel(name, tile, options); });
  };
  const auto holds = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(holds, bad("matmull", 64), "'matmull'");
  EXPECT_PRED2(holds, bad("matmull", 64), "matmul, copy, stencil or sort");
  for (const char* name : {"matmul", "copy", "stencil", "sort"}) {
    EXPECT_PRED2(holds, bad(name, 0), "tile 0 of kernel " + std::string(name));
    EXPECT_PRED2(holds, bad(name, 4'000'000'000'000), "tile 4000000000000");
  }
  EXPECT_PRED2(holds, bad("stencil", 2), "3 to");
  EXPECT_PRED2(holds, bad("sort", 65537), "multiple of 4");
  EXPECT_PRED2(holds, bad("stencil", 8, small(0)), "sweeps 0");
  EXPECT_PRED2(holds, bad("matmul", 8, small(2)), "only stencil");
  EXPECT_PRED2(holds, bad("matmul", 8, small(1, 0)), "concurrency 0");
  EXPECT_EQ(bad("matmul", 0).find('\n'), std::string::npos);
}

TEST(default_tile, is_the_papers) {
  EXPECT_EQ(default_tile("matmul"), 64u);
  EXPECT_EQ(default_tile("copy"), 1024u);
  EXPECT_EQ(default_tile("stencil"), 1024u);
  EXPECT_EQ(default_tile("sort"), 65536u);
  EXPECT_THROW((void)default_tile("none"), input_error);
  for (const auto name : kernel_names()) EXPECT_NO_THROW((void)default_tile(name));
}

}  // namespace
}  // namespace kilter::apps
