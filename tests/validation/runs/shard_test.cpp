#include "validation/runs/shard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

TEST(Shard, EveryCaseFallsInExactlyOneShard) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 40);
    const auto position = *rc::gen::inRange<std::size_t>(0, 100'000);
    std::size_t holders = 0;
    for (std::size_t i = 0; i < count; ++i) holders += Shard{i, count}.holds(position) ? 1 : 0;
    RC_ASSERT(holders == 1U);
  }));
}

TEST(Shard, SizesDifferByOneAtMost) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 12);
    const auto cases = *rc::gen::inRange<std::size_t>(0, 500);
    std::map<std::size_t, std::size_t> sizes;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t size = 0;
      for (std::size_t c = 0; c < cases; ++c) size += Shard{i, count}.holds(c) ? 1 : 0;
      ++sizes[size];
    }
    RC_ASSERT(sizes.rbegin()->first - sizes.begin()->first <= 1U);
  }));
}

TEST(Shard, WithoutOneHoldsEverything) {
  EXPECT_TRUE(Shard{}.holds(0));
  EXPECT_TRUE(Shard{}.holds(7));
}

TEST(Shard, ReadsItsText) {
  EXPECT_EQ(parse_shard("0/4").index, 0U);
  EXPECT_EQ(parse_shard("3/4").index, 3U);
  EXPECT_EQ(parse_shard("3/4").count, 4U);
  for (const char* text :
       {"", "1", "4/4", "-1/4", "1/0", "0/0", "a/4", "1/4x", " 1/4", "1/", "/4"}) {
    EXPECT_THROW((void)parse_shard(text), InputError) << text;
  }
}

auto environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST(SlurmShard, CountsFromTheFirstTask) {
  EXPECT_FALSE(slurm_shard(environment({})).has_value());
  const auto shard = slurm_shard(environment({{"SLURM_ARRAY_TASK_ID", "3"},
                                              {"SLURM_ARRAY_TASK_COUNT", "8"},
                                              {"SLURM_ARRAY_TASK_MIN", "1"}}));
  EXPECT_EQ(shard->index, 2U);
  EXPECT_EQ(shard->count, 8U);
  EXPECT_EQ(
      slurm_shard(environment({{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "8"}}))
          ->index,
      3U);
}

TEST(SlurmShard, RefusesArraysWithGaps) {
  EXPECT_THROW((void)slurm_shard(
                   environment({{"SLURM_ARRAY_TASK_ID", "12"}, {"SLURM_ARRAY_TASK_COUNT", "4"}})),
               InputError);
  EXPECT_THROW((void)slurm_shard(
                   environment({{"SLURM_ARRAY_TASK_ID", "x"}, {"SLURM_ARRAY_TASK_COUNT", "4"}})),
               InputError);
}

}  // namespace
}  // namespace roofcast::validation
