// attention.flash3 backward without a GPU: which tiles meet, and that what stmatrix leaves in
// shared memory is what wgmma reads, both simulated as the PTX ISA describes them over the kernel's
// own functions.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernels/attention/flash3_backward_layout.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::flash3_backward {
namespace {

using roofcast::attention::kFlash3BackwardTiles;

TEST(Flash3Backward, BlocksTakeEachTileOfEachHeadOnce) {
  for (const int tiles : {1, 2, 7}) {
    for (const int heads : {1, 3, 8}) {
      for (int together = 1; together <= heads; ++together) {
        std::set<std::pair<int, int>> taken;
        for (int block = 0; block < tiles * heads; ++block) {
          const BlockTile at = block_tile(block, tiles, heads, together);
          ASSERT_TRUE(at.tile >= 0 && at.tile < tiles && at.head >= 0 && at.head < heads);
          taken.emplace(at.tile, at.head);
        }
        EXPECT_EQ(taken.size(), static_cast<std::size_t>(tiles * heads));
      }
    }
  }
}

TEST(Flash3Backward, BlocksOfAGroupOfHeadsBeginWithTheFirstTiles) {
  int before = 0;
  for (int block = 0; block < 5 * 3; ++block) {  // the first group: 3 of 7 heads, 5 tiles each
    const BlockTile at = block_tile(block, 5, 7, 3);
    EXPECT_LT(at.head, 3);
    EXPECT_GE(at.tile, before);
    before = at.tile;
  }
  EXPECT_EQ(block_tile(30, 5, 7, 3).head, 6);  // the last group has one head
}

TEST(Flash3Backward, TilesMeetThatTheMaskLeaves) {
  for (const int seq_q : {1, 60, 64, 65, 200}) {
    for (const int seq_kv : {seq_q, seq_q + 1, seq_q + 70, seq_q + 128}) {
      const int shift = seq_kv - seq_q;
      for (const int queries : {64, 128}) {
        for (int key = 0; key < seq_kv; key += 32) {
          int first = 0;  // first query that sees the tile's first key
          while (first + shift < key) ++first;
          ASSERT_LT(first, seq_q);
          EXPECT_EQ(first_query_tile(key, shift, queries), first / queries);
        }
      }
      for (const int keys : {32, 128}) {
        for (int query = 0; query < seq_q; ++query) {
          int last = 0;  // last key that the query sees
          while (last + 1 < seq_kv && last + 1 <= query + shift) ++last;
          EXPECT_EQ(seen_key_tiles(query, shift, seq_kv, keys), last / keys + 1);
        }
      }
    }
  }
}

/// Shared memory by 2-byte elements: byte address to {key, query}.
using Memory = std::map<int, std::pair<int, int>>;

/// stmatrix.x4 of a warp: lane 8·i + r gives the address of row r of matrix i. Register i of lane l
/// holds elements (l/4, 2·(l mod 4)) and the next; transposed, they are stored in row 2·(l mod 4).
/// Matrices as the A operand has them: keys 0-7 and 8-15 of queries 0-7, then of queries 8-15.
template <class Place>
void store(Memory& memory, Place place, bool transposed, int key, int query) {
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < 4; ++i) {
      for (int e = 0; e < 2; ++e) {
        const int row = l / 4, column = 2 * (l % 4) + e;
        const int line = transposed ? column : row, at = transposed ? row : column;
        const std::pair<int, int> value{key + i % 2 * 8 + row, query + i / 2 * 8 + column};
        EXPECT_TRUE(memory.emplace(place(8 * i + line) + at * 2, value).second);
      }
    }
  }
}

/// Element (row, k) of the 64 × 16 that wgmma reads from a K-major operand in swizzled lines:
/// groups of 8 rows are 1024 bytes apart, and bits 4-6 of the address are xored with bits 7-9.
int element_along_k(int base, int row, int k) {
  const int linear = base + row / 8 * 1024 + row % 8 * 128 + k * 2;
  return linear ^ (linear >> 7 & 7) << 4;
}

TEST(Flash3Backward, HalvesOfDescriptorsMakeWholeOnes) {
  for (const unsigned address : {0U, 1024U, 65536U + 4096U, 227U * 1024U - 1024U}) {
    EXPECT_EQ(whole_descriptor(along_k(address) + step_along<64>(5)),
              gemm::descriptor(address + 64 * 128 + 32, 16, 1024));
    EXPECT_EQ(whole_descriptor(across_k(address, 16384) + step_down(3)),
              gemm::descriptor(address + 3 * 2048, 16384, 1024));
  }
}

TEST(Flash3Backward, GradientsOfScoresReachTheOtherWarpgroup) {
  for (const auto& tile : kFlash3BackwardTiles) {
    if (tile.splits_head()) continue;
    const auto queries = static_cast<int>(tile.queries);
    Memory memory;
    for (int warpgroup = 0; warpgroup < 2; ++warpgroup) {
      for (int warp = 0; warp < 4; ++warp) {
        for (int query = 0; query < queries; query += 16) {
          store(
              memory,
              [&](int lane) {
                return warpgroup * queries * 128 + place_by_query(warp, lane, 0) + query * 128;
              },
              true, warpgroup * 64 + warp * 16, query);
        }
      }
    }
    for (int first = 0; first < queries; first += 64) {
      for (int step = 0; step < 8; ++step) {
        const auto along = queries == 64 ? step_along<64>(step) : step_along<128>(step);
        for (int row = 0; row < 64; ++row) {
          for (int k = 0; k < 16; ++k) {
            const int at = element_along_k(first * 128 + static_cast<int>(along) * 16, row, k);
            EXPECT_EQ(memory.at(at), std::pair(step * 16 + k, first + row));
          }
        }
      }
    }
  }
}

TEST(Flash3Backward, SplitHeadsExchangeScoresInBothOrders) {
  Memory by_key, by_query;
  for (int own : {0, 32}) {  // queries of a warpgroup
    for (int warp = 0; warp < 4; ++warp) {
      for (int i = 0; i < 2; ++i) {
        const int query = own + 16 * i;
        store(
            by_key, [&](int lane) { return place_by_key(warp, lane, query); }, false, warp * 16,
            query);
        store(
            by_query, [&](int lane) { return place_by_query(warp, lane, own) + 16 * i * 128; },
            true, warp * 16, query);
      }
    }
  }
  for (int step = 0; step < 4; ++step) {
    const int base = static_cast<int>(step_along<64>(step)) * 16;
    for (int row = 0; row < 64; ++row) {
      for (int k = 0; k < 16; ++k) {
        const int at = element_along_k(base, row, k);
        EXPECT_EQ(by_key.at(at), std::pair(row, step * 16 + k));
        EXPECT_EQ(by_query.at(at), std::pair(step * 16 + k, row));
      }
    }
  }
}

TEST(Flash3Backward, SumsOfDqAreReadWhereTheyWereAdded) {
  for (const auto& tile : kFlash3BackwardTiles) {
    const auto queries = static_cast<int>(tile.queries), dim = static_cast<int>(tile.head_dim);
    const bool halves_rows = queries == 128;
    const int columns = halves_rows ? dim : dim / 2;  // of a warpgroup
    std::set<int> places;
    for (int w = 0; w < 2; ++w) {
      for (int thread = 0; thread < 128; ++thread) {
        for (int j = 0; j < columns / 8; ++j) {
          for (int i = 0; i < 4; ++i) {  // sum 4·j + i, and where the kernel adds it
            const gemm::Place in = gemm::sum_place(thread % 32, i);
            const int row = (halves_rows ? 64 * w : 0) + thread / 32 * 16 + in.row;
            const int column = (halves_rows ? 0 : columns * w) + 8 * j + in.column;
            const int added = w * (queries * dim / 2) + j * 512 + thread * 4 + i;
            EXPECT_EQ(added,
                      dq_place(row, column / 8, queries, dim) + column % 8 / 2 * 4 + column % 2);
            places.insert(added);
          }
        }
      }
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(queries * dim));
    EXPECT_EQ(*places.rbegin(), queries * dim - 1);
  }
}

}  // namespace
}  // namespace roofcast::cuda::attention::flash3_backward
