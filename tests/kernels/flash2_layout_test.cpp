// attention.flash2 without a GPU: the addresses that its warps give to ldmatrix, sums as operands,
// and the tiles of keys and queries that meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "kernels/attention/flash2_layout.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::mma {
namespace {

/// Which element of A (row, k) or B (column, k) a lane gets in half `e` of register `r`, by the PTX
/// ISA, "Matrix fragments for mma.m16n8k16"; of B two tiles of 8 columns, two registers each.
gemm::Place element(Side side, int lane, int r, int e) {
  const int group = lane / 4, in_group = lane % 4;
  if (side == Side::left) return {group + r % 2 * 8, in_group * 2 + e + r / 2 * 8};
  return {group + r / 2 * 8, in_group * 2 + e + r % 2 * 8};
}

/// Byte from which ldmatrix.x4 takes half `e` of register `r`, given the addresses of all lanes:
/// without .trans from word lane mod 4 of row lane/4 of matrix r; with .trans from column lane/4 of
/// row 2·(lane mod 4) + e.
template <class Address>
int source(const Address& address, bool transposed, int lane, int r, int e) {
  if (!transposed) return address(8 * r + lane / 4) + (lane % 4 * 2 + e) * 2;
  return address(8 * r + lane % 4 * 2 + e) + lane / 4 * 2;
}

/// Byte of element (line, position) of a tile.
template <class Tile>
int byte_of(int line, int position) {
  return Tile::offset(line, position / 8) + position % 8 * 2;
}

/// Every 16 × 16 operand from `line` and `chunk` on, with the addresses of the kernels' own steps:
/// no bank conflict, and each element where the instruction expects it.
template <class Tile, Side kSide, Lines kLines>
void expect_operands(int line, int chunk, int outers, int steps) {
  constexpr bool kAlong = kLines == Lines::along_k;
  for (int outer = 0; outer < outers; ++outer) {
    for (int step = 0; step < steps; ++step) {
      const auto address = [&](int lane) {
        const LineChunk at = operand_address<kSide, kLines>(lane);
        const auto first =
            static_cast<unsigned>(Tile::offset(line + at.line, chunk + at.chunk)) + 4096;
        const int lines = kAlong ? outer * 16 : step * 16, chunks = kAlong ? step * 2 : outer * 2;
        return static_cast<int>(Tile::beyond(first, lines, chunks)) - 4096;
      };
      for (int first = 0; first < 32; first += 8) {  // eight lanes at a time, 4 of 32 banks each
        std::set<int> banks;
        for (int lane = first; lane < first + 8; ++lane) banks.insert(address(lane) % 128 / 16);
        EXPECT_EQ(banks.size(), 8U);
      }
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 8; ++i) {
          const gemm::Place at = element(kSide, lane, i / 2, i % 2);
          const int row = outer * 16 + at.row, k = step * 16 + at.column;
          ASSERT_EQ(source(address, !kAlong, lane, i / 2, i % 2),
                    kAlong ? byte_of<Tile>(line + row, chunk * 8 + k)
                           : byte_of<Tile>(line + k, chunk * 8 + row));
        }
      }
    }
  }
}

TEST(Flash2LayoutTest, OperandsAreWhereTheirTilesHaveThem) {
  using D64 = LineTile<64, 128>;
  using D128 = LineTile<64, 256>;
  using D256 = LineTile<64, 512>;
  using Half = LineTile<64, 64>;  // dS of 32 queries
  expect_operands<D64, Side::left, Lines::along_k>(32, 0, 2, 4);
  expect_operands<D128, Side::left, Lines::along_k>(16, 0, 1, 8);
  expect_operands<D256, Side::left, Lines::along_k>(48, 0, 1, 16);
  expect_operands<D128, Side::right, Lines::along_k>(0, 0, 4, 8);
  expect_operands<D128, Side::right, Lines::across_k>(32, 0, 8, 2);
  expect_operands<D256, Side::right, Lines::across_k>(0, 16, 8, 4);  // the second half of a head
  expect_operands<D256, Side::right, Lines::across_k>(0, 28, 2, 4);  // 32 columns of dQ
  expect_operands<D64, Side::left, Lines::across_k>(0, 4, 2, 4);     // dS of 32 of 64 queries
  expect_operands<Half, Side::left, Lines::across_k>(0, 0, 2, 4);
  expect_operands<Half, Side::left, Lines::along_k>(16, 0, 1, 2);
}

TEST(Flash2LayoutTest, ATileHoldsEachChunkOnce) {
  const auto expect_once = []<class Tile>(Tile) {
    std::set<int> offsets;
    for (int line = 0; line < Tile::kLines; ++line) {
      for (int chunk = 0; chunk < Tile::kAcross; ++chunk) offsets.insert(Tile::offset(line, chunk));
    }
    EXPECT_EQ(offsets.size(), static_cast<std::size_t>(Tile::kLines * Tile::kAcross));
    EXPECT_EQ(*offsets.begin(), 0);
    EXPECT_EQ(*offsets.rbegin(), Tile::kTileBytes - kChunkBytes);
  };
  expect_once(LineTile<16, 64>{});
  expect_once(LineTile<16, 128>{});
  expect_once(LineTile<16, 256>{});
  expect_once(LineTile<16, 512>{});
}

TEST(Flash2LayoutTest, SumsLieAsTheOperandOfTheNextProduct) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int step = 0; step < 4; ++step) {
      for (int word = 0; word < 4; ++word) {
        const SumPair from = left_word(step, word);
        for (int e = 0; e < 2; ++e) {
          const gemm::Place sum = gemm::sum_place(lane, from.first + e);
          const gemm::Place wanted = element(Side::left, lane, word, e);
          EXPECT_EQ(sum.row, wanted.row);
          EXPECT_EQ(from.tile * 8 + sum.column, step * 16 + wanted.column);
        }
      }
    }
  }
}

/// Whether the query sees the key, from the family's words: the last query sees all keys.
bool sees(const KeyTiles& tiles, int query, int key) {
  return !tiles.causal || key <= query + tiles.seq_kv - tiles.seq_q;
}

TEST(Flash2LayoutTest, TilesOfKeysMeetTheQueriesThatSeeThem) {
  for (const bool causal : {false, true}) {
    for (const auto& [seq_q, seq_kv] :
         {std::pair{1, 1}, {1, 300}, {64, 64}, {70, 70}, {200, 257}, {257, 257}, {130, 640}}) {
      for (const int together : {1, 3}) {
        const KeyTiles tiles{seq_q, seq_kv, causal, 5, together, 128, 64};
        std::set<std::pair<int, int>> met;
        for (int index = 0; index < tiles.count(); ++index) {
          const KeyTiles::Tile tile = tiles.tile(index);
          EXPECT_TRUE(met.emplace(tile.head, tile.key0).second);
          EXPECT_LT(tile.first, tile.past);
          for (int step = 0; step * 64 < seq_q; ++step) {
            bool any = false, all = tile.key0 + 128 <= seq_kv;
            for (int query = step * 64; query < std::min(step * 64 + 64, seq_q); ++query) {
              for (int key = tile.key0; key < std::min(tile.key0 + 128, seq_kv); ++key) {
                const bool seen = sees(tiles, query, key);
                any = any || seen, all = all && seen;
              }
            }
            EXPECT_EQ(any, step >= tile.first && step < tile.past);
            if (!any) continue;
            EXPECT_EQ(all, step >= tile.full);
          }
        }
        EXPECT_EQ(met.size(), static_cast<std::size_t>(5 * ((seq_kv + 127) / 128)));
      }
    }
  }
}

TEST(Flash2LayoutTest, SharedMemoryFitsTheSmallestGpuWithTheInstructions) {
  constexpr std::int64_t kMostBytes = 163 * 1024;  // a block, compute capability 8.0
  constexpr std::int64_t kOfSm = 164 * 1024, kReserved = 1024;
  for (const auto& tile : roofcast::attention::kFlash2Tiles) {
    EXPECT_LE(tile.shared_bytes(), kMostBytes);
    EXPECT_LE(tile.blocks * (tile.shared_bytes() + kReserved), kOfSm);
  }
  for (const auto& tile : roofcast::attention::kFlash2DqTiles) {
    EXPECT_LE(tile.shared_bytes(), kMostBytes);
  }
  for (const auto& tile : roofcast::attention::kFlash2BackwardTiles) {
    for (const auto sum : {roofcast::attention::kAtomic, roofcast::attention::kTwoPass}) {
      EXPECT_LE(tile.shared_bytes(sum), kMostBytes);
      EXPECT_LE(tile.blocks * (tile.shared_bytes(sum) + kReserved), kOfSm);
    }
  }
}

}  // namespace
}  // namespace roofcast::cuda::attention::mma
