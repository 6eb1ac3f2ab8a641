#include "model/counting/coalescing.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

namespace roofcast {
namespace {

TEST(Coalescing, SectorsAndLines) {
  // 32 lanes of 4 B in a row: 128 B.
  EXPECT_EQ(distinct_units({.stride_bytes = 4, .access_bytes = 4}, 32), 4);
  EXPECT_EQ(distinct_units({.stride_bytes = 4, .access_bytes = 4, .offset_bytes = 4}, 32), 5);
  EXPECT_EQ(distinct_units({.stride_bytes = 4, .access_bytes = 4, .offset_bytes = 32}, 32), 4);
  EXPECT_EQ(distinct_units({.stride_bytes = 16, .access_bytes = 16}, 128), 4);
  EXPECT_EQ(distinct_units({.stride_bytes = 64, .access_bytes = 4}, 32), 32);
  EXPECT_EQ(distinct_units({.stride_bytes = 0, .access_bytes = 4}, 32), 1);
  EXPECT_EQ(distinct_units({.stride_bytes = 4096, .access_bytes = 4}, 128), 32);
}

TEST(Coalescing, AccessesThatCrossOrShareSectors) {
  // Bytes 28 to 35.
  EXPECT_EQ(distinct_units({.access_bytes = 8, .offset_bytes = 28, .lanes = 1}, 32), 2);
  // 0 to 15, 20 to 35, 40 to 55: the second lane brings the second sector, the third none.
  EXPECT_EQ(distinct_units({.stride_bytes = 20, .access_bytes = 16, .lanes = 3}, 32), 2);
  // 0 to 63 in one go: an access wider than a sector touches several.
  EXPECT_EQ(distinct_units({.access_bytes = 64, .lanes = 1}, 32), 2);
  EXPECT_EQ(distinct_units({.access_bytes = 65, .lanes = 1}, 32), 3);
}

TEST(Coalescing, AUnitCountsOnceWhicheverLanesTouchIt) {
  for (std::int64_t stride = 0; stride <= 200; ++stride) {
    for (const std::int64_t access : {1, 2, 4, 8, 16}) {
      for (std::int64_t offset = 0; offset < 40; offset += 3) {
        std::set<std::int64_t> units;
        for (std::int64_t lane = 0; lane < 70; ++lane) {
          for (std::int64_t byte = 0; byte < access; ++byte) {
            units.insert((offset + lane * stride + byte) / 32);
          }
        }
        EXPECT_EQ(distinct_units({.stride_bytes = stride,
                                  .access_bytes = access,
                                  .offset_bytes = offset,
                                  .lanes = 70},
                                 32),
                  std::ssize(units))
            << stride << " " << access << " " << offset;
      }
    }
  }
}

TEST(Coalescing, DistinctUnitsOfIndependentDraws) {
  EXPECT_DOUBLE_EQ(expected_distinct(4, 2), 1.75);  // 4·(1 - (3/4)²)
  EXPECT_DOUBLE_EQ(expected_distinct(2, 3), 1.75);  // 2·(1 - 1/8)
  EXPECT_EQ(expected_distinct(1, 5), 1);
  EXPECT_EQ(expected_distinct(0.5, 5), 0.5);
  EXPECT_EQ(expected_distinct(1, 0.25), 0.25);
}

TEST(Coalescing, BankWavefronts) {
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4, .access_bytes = 4}), 1);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 0, .access_bytes = 4}), 1);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4096, .access_bytes = 4}), 32);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4000, .access_bytes = 4}), 8);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4108, .access_bytes = 4}), 1);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 16, .access_bytes = 16}), 4);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 8, .access_bytes = 8}), 2);  // 64 words
  // Words 0 and 1, then 1 and 2: the shared one is delivered once.
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4, .access_bytes = 8, .lanes = 2}), 1);
  // Bytes 124 to 131: banks 31 and 0.
  EXPECT_EQ(bank_wavefronts({.access_bytes = 8, .offset_bytes = 124, .lanes = 1}), 1);
}

TEST(SharedBanks, WordsOfALane) {
  EXPECT_EQ(shared_wavefronts({4, 4}), 1);
  EXPECT_EQ(shared_wavefronts({0, 4}), 1);  // one word for all
  EXPECT_EQ(shared_wavefronts({8, 4}), 2);
  EXPECT_EQ(shared_wavefronts({128, 4}), 32);
  EXPECT_EQ(shared_wavefronts({132, 4}), 1);  // padded by a word
  EXPECT_EQ(shared_wavefronts({128, 4, 0, 5}), 5);
  EXPECT_EQ(shared_wavefronts({128, 4, 0, 1}), 1);
  EXPECT_EQ(shared_wavefronts({2, 2}), 1);  // 16 words, two lanes each
}

TEST(SharedBanks, WideAccesses) {
  EXPECT_EQ(shared_wavefronts({8, 8}), 2);  // 64 words, two a bank
  EXPECT_EQ(shared_wavefronts({128, 8}), 32);
  EXPECT_EQ(shared_wavefronts({136, 8}), 2);  // lane i in banks 2i and 2i + 1: twice round
  // Sixteen bytes: two halves of 16 lanes, each of 64 words.
  EXPECT_EQ(shared_wavefronts({16, 16}), 2 + 2);
  EXPECT_EQ(shared_wavefronts({16, 16, 0, 8}), 1);
  EXPECT_EQ(shared_wavefronts({16, 16, 0, 17}), 2 + 1);
  EXPECT_EQ(shared_wavefronts({128, 16}), 16 + 16);
  EXPECT_EQ(shared_wavefronts({0, 16}), 1 + 1);
}

// Pieces of 256 bytes: two lines, or three where they begin within a line; rows 16 bytes off put one
// piece of eight on a line.
TEST(Coalescing, PiecesOffLinesShareThem) {
  EXPECT_DOUBLE_EQ(units_of_piece(256, 8192, kLineBytes), 2);
  EXPECT_DOUBLE_EQ(units_of_piece(256, 8192 + 64, kLineBytes), (2 + 3) / 2.0);
  EXPECT_DOUBLE_EQ(units_of_piece(256, 8192 + 16, kLineBytes), (2 + 7 * 3) / 8.0);
  EXPECT_DOUBLE_EQ(units_of_piece(128, 8192 + 16, kSectorBytes), (4 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(density_of_pieces(256, 8192), kDensityOfLines);
  EXPECT_DOUBLE_EQ(density_of_pieces(256, 8192 + 64), kDensityOfLines * 4 / 5);
}

TEST(Coalescing, WasteInWords) {
  EXPECT_EQ(waste_text("stride 16", 64, 4), "stride 16: 64 B moved for 4 B used");
  EXPECT_EQ(waste_text("odd", 4.24, 0.06), "odd: 4.2 B moved for 0.1 B used");
}

}  // namespace
}  // namespace roofcast
