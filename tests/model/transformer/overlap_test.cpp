// Steps on several GPUs: what transfers cost beside launches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/transformer/step.hpp"
#include "model/types/problem.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/model/transformer/llama.hpp"
#include "tests/model/transformer/step_parts.hpp"

namespace roofcast::transformer {
namespace {

using testing::part_s;

Architecture small() {
  return testing::llama_like(4, 2048, 8192, 32000);
}

const Gpu& h100() {
  return testing::gpu_named("h100-sxm5");
}

KernelForecasts& forecasts() {
  static KernelForecasts all(h100());
  return all;
}

Step step_of(const Task& task) {
  return predict_step(small(), task, forecasts());
}

double launches_s(const Step& step) {
  double sum_s = 0;
  for (const StepOperation& one : step.operations) {
    if (!one.use.transfer) sum_s += one.alone_s;
  }
  return sum_s;
}

double parts_s(const Step& step) {
  double sum_s = 0;
  for (const StepPart& part : step.parts) sum_s += part.expected_s;
  return sum_s;
}

/// Tasks of every kind that one machine of 8 has.
std::vector<Task> tasks() {
  std::vector<Task> all;
  for (const Framework framework : {Framework::eager, Framework::compiled, Framework::ideal}) {
    for (const std::int64_t batch : {1, 8}) {
      for (const std::array<std::int64_t, 3>& gpus :
           std::initializer_list<std::array<std::int64_t, 3>>{
               {1, 1, 8}, {1, 8, 1}, {1, 2, 4}, {2, 1, 4}, {4, 2, 1}, {8, 1, 1}}) {
        for (const Checkpointing checkpointing : {Checkpointing::none, Checkpointing::full}) {
          Task task;
          task.batch = batch;
          task.seq = 512;
          task.framework = framework;
          task.tp = gpus[0];
          task.dp = gpus[1];
          task.fsdp = gpus[2];
          task.checkpointing = checkpointing;
          task.grad_accum = batch == 1 ? 3 : 1;
          all.push_back(task);
        }
      }
    }
  }
  return all;
}

TEST(Overlap, AStepLiesBetweenTheLongerOfLaunchesAndTransfersAndBoth) {
  for (const Task& task : tasks()) {
    const Step step = step_of(task);
    const StepTransfers& sent = step.transfers;
    const double launches = launches_s(step);
    EXPECT_GE(step.expected_s, std::max(launches, sent.alone_s) * (1 - 1e-9));
    EXPECT_LE(step.expected_s, (launches + sent.alone_s) * (1 + 1e-9));
    EXPECT_NEAR(step.expected_s, launches + sent.slowed_s + sent.exposed_s, 1e-9 * step.expected_s);
    EXPECT_NEAR(step.expected_s, parts_s(step), 1e-9 * step.expected_s);
    EXPECT_GT(sent.alone_s, 0);
    EXPECT_NEAR(sent.hidden_s + sent.exposed_s, std::max(sent.alone_s, sent.exposed_s),
                1e-9 * sent.alone_s);
    EXPECT_LE(step.low_s, step.expected_s);
    EXPECT_GE(step.high_s, step.expected_s);
  }
}

// The copies share a batch: each computes less, and sends its gradients beside the launches.
TEST(Overlap, MoreCopiesNeverSlowTheLaunches) {
  double before_s = 0;
  for (const std::int64_t dp : {8, 4, 2, 1}) {
    Task task;
    task.dp = dp;
    task.batch = 16 / dp;
    const double now_s = launches_s(step_of(task));
    EXPECT_GT(now_s, before_s) << dp;
    before_s = now_s;
  }
}

// Transfers in turn overlap no launch: tensor-parallel sums are exposed whole.
TEST(Overlap, SumsInTurnAreExposed) {
  Task task;
  task.tp = 8;
  const Step step = step_of(task);
  EXPECT_EQ(step.transfers.hidden_s, 0);
  EXPECT_EQ(step.transfers.slowed_s, 0);
  EXPECT_NEAR(step.transfers.exposed_s, step.transfers.alone_s, 1e-12);
}

// A large batch hides transfers that a small one exposes, and they slow its launches meanwhile.
TEST(Overlap, LaunchesHideWhatTheyOutlast) {
  Task task;
  task.framework = Framework::ideal;
  task.dp = 8;
  task.batch = 16;
  const Step large = step_of(task);
  EXPECT_GT(large.transfers.hidden_s, 0.5 * large.transfers.alone_s);
  EXPECT_GT(large.transfers.slowed_s, 0);
  task.batch = 1;
  task.seq = 16;
  const Step few = step_of(task);
  EXPECT_LT(few.transfers.hidden_s / few.transfers.alone_s,
            large.transfers.hidden_s / large.transfers.alone_s);
}

TEST(Overlap, GatheringLateIsNeverFaster) {
  Task task;
  task.framework = Framework::ideal;
  task.fsdp = 8;
  task.batch = 2;
  const double ahead_s = step_of(task).expected_s;
  task.prefetch = Prefetch::post;
  EXPECT_GT(step_of(task).expected_s, ahead_s);
}

// Gradients of passes that accumulate are summed among copies once.
TEST(Overlap, CopiesSumOnceAStep) {
  Task task;
  task.dp = 4;
  const double once_s = step_of(task).transfers.alone_s;
  task.grad_accum = 5;
  EXPECT_NEAR(step_of(task).transfers.alone_s, once_s, 1e-12);
}

TEST(Overlap, ASlowerLinkIsNeverFaster) {
  Gpu pcie = h100();
  pcie.link_bytes_per_s = 128e9;  // PCIe 5.0 × 16, both directions
  for (const std::int64_t tp : {2, 4, 8}) {
    for (const Phase phase : {Phase::train, Phase::prefill, Phase::decode}) {
      Task task;
      task.phase = phase;
      task.context = phase == Phase::decode ? 1024 : 0;
      task.batch = 4;
      task.tp = tp;
      // A step that the host bounds takes as long with either link, up to rounding.
      EXPECT_LE(predict_step(small(), task, h100()).expected_s,
                predict_step(small(), task, pcie).expected_s * (1 + 1e-12));
    }
  }
}

// Events in turn add up to the step with the waits between them; those beside lie inside it.
TEST(Overlap, TheTimelineHasTheStep) {
  for (const Task& task : tasks()) {
    if (task.grad_accum > 1) continue;
    const Step step = step_of(task);
    double end_s = 0, turn_s = 0, before_s = 0;
    int beside = 0;
    for (const TimelineEvent& event : timeline(step, task)) {
      end_s = std::max(end_s, event.start_s + event.duration_s);
      beside += event.beside ? 1 : 0;
      EXPECT_TRUE(event.transfer || !event.beside);
      if (event.beside) continue;
      EXPECT_GE(event.start_s, before_s - 1e-12);
      before_s = event.start_s + event.duration_s;
      turn_s += event.duration_s;
    }
    EXPECT_NEAR(end_s, step.expected_s, 1e-9 * end_s);
    EXPECT_LE(turn_s, end_s * (1 + 1e-9));
    EXPECT_EQ(beside > 0, task.dp * task.fsdp > 1);
  }
}

// 1F1B: the last stage, with the head, sets the pace. Its bubble is a pass of all other stages: three
// quarters of the layers, and the embedding. Transfers between stages are exposed.
TEST(Overlap, TheLongestStageIdlesForAPassOfTheOthers) {
  Task task;
  task.grad_accum = 8;
  const Step one = step_of(task);
  task.pp = 4;
  const Step step = step_of(task);
  const auto section_s = [](const Step& of, Section section) {
    double sum_s = 0;
    for (const StepOperation& operation : of.operations) {
      if (operation.section == section) sum_s += operation.expected_s;
    }
    return sum_s;
  };
  const double layers_s = section_s(one, Section::layer), begin_s = section_s(one, Section::begin),
               end_s = section_s(one, Section::end);
  ASSERT_GT(end_s, begin_s);
  ASSERT_GT(begin_s, 0);
  EXPECT_EQ(section_s(step, Section::begin), 0);
  EXPECT_NEAR(section_s(step, Section::end), end_s, 1e-9 * end_s);
  EXPECT_NEAR(section_s(step, Section::layer), layers_s / 4, 1e-9 * layers_s);
  const double bubble_s = (3.0 / 4 * layers_s + begin_s) / 8;
  EXPECT_NEAR(part_s(step, "pipeline bubble"), bubble_s, 1e-9 * bubble_s);
  EXPECT_THAT(step.notes, ::testing::Contains(::testing::HasSubstr("last stage")));
  EXPECT_LE(step.limit_s, layers_s / 4 + end_s);
  EXPECT_LT(step.limit_s, 0.3 * one.limit_s);
  // An end of the model is not divided.
  EXPECT_GT(part_s(step, "optimizer"), part_s(one, "optimizer") / 4);
  const double between_s = part_s(step, "between stages");
  EXPECT_NEAR(step.transfers.exposed_s, between_s, 1e-12);
  EXPECT_NEAR(step.expected_s, parts_s(step), 1e-9 * step.expected_s);
}

}  // namespace
}  // namespace roofcast::transformer
