#include "model/transformer/collective.hpp"

#include <gtest/gtest.h>

#include "model/constants/steps.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

Gpu switched() {
  Gpu gpu;
  gpu.name = "switched";
  gpu.link_bytes_per_s = 800e9;
  gpu.collective_start_s = 5e-6;
  gpu.collective_step_s = 1e-6;
  gpu.collective_link_share = 0.5;
  return gpu;
}

constexpr double kStart_s = constants::kSimpleStart * 5e-6, kStep_s = constants::kSimpleStep * 1e-6;

// By hand: 1 GB on a ring of 4, 3/4 of it over 200 GB/s and a share of a quarter copied at that
// rate.
TEST(Collective, LargeOnesAreBytesOverTheLink) {
  const CollectiveTime time =
      collective_time({Collective::all_gather, 1e9, 4}, link_costs(switched()));
  EXPECT_NEAR(time.bytes_s, (0.75e9 + constants::kOwnByteShare * 0.25e9) / 200e9, 1e-12);
  EXPECT_NEAR(time.start_s, kStart_s + 3 * kStep_s, 1e-12);
}

// By hand: start and 7 steps, twice as many for an all_reduce, and one for an alltoall.
TEST(Collective, SmallOnesAreStartAndSteps) {
  const LinkCosts link = link_costs(switched());
  EXPECT_NEAR(collective_time({Collective::reduce_scatter, 1, 8}, link).total_s(), 12e-6, 1e-9);
  EXPECT_NEAR(collective_time({Collective::all_reduce, 1, 8}, link).total_s(), 19e-6, 1e-9);
  EXPECT_NEAR(collective_time({Collective::alltoall, 1, 8}, link).total_s(),
              constants::kAlltoallStart * 5e-6 + 1e-6, 1e-9);
}

// By hand: 1 GB to the next GPU over 200 GB/s, one step, however many take part; over a network
// what an adapter carries.
TEST(Collective, SendRecvGoesToTheNextOne) {
  const LinkCosts link = link_costs(switched());
  for (const double gpus : {2.0, 8.0}) {
    EXPECT_NEAR(collective_time({Collective::send_recv, 1e9, gpus}, link).total_s(),
                5e-3 + kStart_s + kStep_s, 1e-12);
  }
  EXPECT_NEAR(predict_collective({Collective::send_recv, 1e9, 16}, switched(), 50e9).expected_s,
              1e9 / 50e9 + kStart_s + kStep_s + 10e-6, 1e-9);
  EXPECT_NEAR(predict_collective({Collective::send_recv, 1e9, 2}, switched()).limit_s, 2.5e-3,
              1e-9);
}

// By hand: of 4 GPUs that lie 8 apart each is on a machine of its own, and its adapter carries 3/4
// of 1 GB twice; 2 apart they are on one machine, and 16 of them on four, each with four adapters.
TEST(Collective, GpusThatLieApartMeetOverTheNetwork) {
  const auto time = [&](double gpus, double apart) {
    return predict_collective(Transfer{Collective::all_reduce, 1e9, gpus, apart}, switched(), 50e9)
        .expected_s;
  };
  EXPECT_NEAR(time(4, 8), 1.5e9 / 50e9 + 5e-6 + 6 * 10e-6, 1e-9);
  EXPECT_NEAR(time(4, 2), time(4, 1), 1e-12);
  EXPECT_NEAR(time(16, 2), 2 * 15e9 / 16 / 4 / 50e9, 1e-3);
  EXPECT_GT(time(6, 2), time(6, 1));  // three on each of two machines
}

// By hand: a ring of 4 passes 3/4 of the bytes.
TEST(Collective, DramHasWhatIsSentReceivedAndAddedUp) {
  const auto traffic = [](Collective kind) { return dram_traffic({kind, 4, 4}); };
  EXPECT_EQ(traffic(Collective::all_gather).read_bytes, 4);
  EXPECT_EQ(traffic(Collective::all_gather).write_bytes, 4);
  EXPECT_EQ(traffic(Collective::reduce_scatter).read_bytes, 6);
  EXPECT_EQ(traffic(Collective::reduce_scatter).write_bytes, 3);
  EXPECT_EQ(traffic(Collective::all_reduce).read_bytes, 9);
  EXPECT_EQ(traffic(Collective::all_reduce).write_bytes, 6);
  EXPECT_EQ(traffic(Collective::send_recv).total_bytes(), 8);
}

TEST(Collective, TimeGrowsWithBytesAndNoneIsUnderItsLimit) {
  for (const Collective one : kCollectives) {
    for (const double gpus : {2.0, 4.0, 8.0}) {
      double before = 0;
      for (double bytes = 1; bytes < 1e12; bytes *= 3) {
        const CollectiveForecast time = predict_collective({one, bytes, gpus}, switched());
        EXPECT_GT(time.expected_s, before) << name(one) << " " << bytes;
        EXPECT_LE(time.limit_s, time.low_s);
        EXPECT_LE(time.low_s, time.expected_s);
        EXPECT_LT(time.expected_s, time.high_s);
        EXPECT_LE(time.start_s, time.expected_s);
        before = time.expected_s;
      }
    }
  }
}

// A switch that adds up sees each byte once: 1 GB over 400 GB/s instead of 7/4 of it.
TEST(Collective, InSwitchReductionLowersTheLimit) {
  Gpu gpu = switched();
  EXPECT_NEAR(predict_collective({Collective::all_reduce, 1e9, 8}, gpu).limit_s, 4.375e-3, 1e-9);
  gpu.link_in_switch_reduction = true;
  EXPECT_NEAR(predict_collective({Collective::all_reduce, 1e9, 8}, gpu).limit_s, 2.5e-3, 1e-9);
}

TEST(Collective, RefusesWhatNoSwitchJoins) {
  EXPECT_THROW(predict_collective({Collective::all_reduce, 1e6, 1}, switched()), InputError);
  EXPECT_THROW(predict_collective({Collective::all_reduce, 1e6, 12}, switched()), InputError);
  EXPECT_THROW(predict_collective({Collective::all_reduce, 0, 8}, switched()), InputError);
  Gpu gpu = switched();
  gpu.collective_step_s.reset();
  EXPECT_THROW(predict_collective({Collective::all_reduce, 1e6, 8}, gpu), InputError);
}

}  // namespace
}  // namespace roofcast::transformer
