#include "validation/harness/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace roofcast::harness {
namespace {

TEST(Interrupt, SaysWhichSignalCame) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptGuard guard;
    EXPECT_EQ(guard.raised(), std::nullopt);
    EXPECT_NO_THROW(stop_if_raised());
    ASSERT_EQ(std::raise(signal), 0);
    EXPECT_EQ(guard.raised(), signal);
    EXPECT_THROW(stop_if_raised(), Stopped);
  }
  EXPECT_NO_THROW(stop_if_raised()) << "no guard lives";
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProgram) {
  const InterruptGuard guard;
  EXPECT_EXIT(
      {
        (void)std::raise(SIGTERM);
        (void)std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace roofcast::harness
