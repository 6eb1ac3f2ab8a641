#include "model/counting/shared_banks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace roofcast {
namespace {

TEST(SharedBanks, WordsOfALane) {
  EXPECT_EQ(shared_wavefronts(4, 4), 1);
  EXPECT_EQ(shared_wavefronts(0, 4), 1);  // one word for all
  EXPECT_EQ(shared_wavefronts(8, 4), 2);
  EXPECT_EQ(shared_wavefronts(128, 4), 32);
  EXPECT_EQ(shared_wavefronts(132, 4), 1);  // padded by a word
  EXPECT_EQ(shared_wavefronts(128, 4, 4, 5), 5);
  EXPECT_EQ(shared_wavefronts(128, 4, 0, 1), 1);
  EXPECT_EQ(shared_wavefronts(2, 2), 1);  // 16 words, two lanes each
}

TEST(SharedBanks, WideAccesses) {
  EXPECT_EQ(shared_wavefronts(8, 8), 2);  // 64 words, two a bank
  EXPECT_EQ(shared_wavefronts(128, 8), 32);
  EXPECT_EQ(shared_wavefronts(136, 8), 2);  // lane i in banks 2i and 2i + 1: twice round
  // Sixteen bytes: two halves of 16 lanes, each of 64 words.
  EXPECT_EQ(shared_wavefronts(16, 16), 2 + 2);
  EXPECT_EQ(shared_wavefronts(16, 16, 0, 8), 1);
  EXPECT_EQ(shared_wavefronts(16, 16, 0, 17), 2 + 1);
  EXPECT_EQ(shared_wavefronts(128, 16), 16 + 16);
  EXPECT_EQ(shared_wavefronts(0, 16), 1 + 1);
}

TEST(SharedBanks, LanesAnywhere) {
  EXPECT_EQ(shared_wavefronts(std::array<std::int64_t, 3>{0, 128, 4}, 4), 2);
  EXPECT_EQ(shared_wavefronts(std::array<std::int64_t, 3>{256, 0, 128}, 4), 3);
  EXPECT_EQ(shared_wavefronts(std::array<std::int64_t, 3>{128, 0, 128}, 4), 2);
}

TEST(SharedBanks, LanesAtAStrideAreLanesAnywhere) {
  for (const std::int64_t access : {1, 2, 4, 8, 16}) {
    for (std::int64_t stride = 0; stride <= 20; ++stride) {
      for (const std::int64_t lanes : {1, 5, 16, 17, 32}) {
        std::vector<std::int64_t> starts;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          starts.push_back((3 + lane * stride) * access);
        }
        EXPECT_EQ(shared_wavefronts(stride * access, access, 3 * access, lanes),
                  shared_wavefronts(starts, access))
            << stride << " " << access << " " << lanes;
      }
    }
  }
}

}  // namespace
}  // namespace roofcast
