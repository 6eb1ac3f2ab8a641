// Banks, descriptors, boxes and schedules of the tensor-core kernels, without a GPU: what the PTX
// ISA says of an address or a register, against the functions that the kernels call.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernels/gemm/layout.cuh"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {
namespace {

/// 16-byte accesses are served eight lanes at a time, each lane 4 of the 32 banks.
void expect_no_conflict(const std::array<int, 32>& address) {
  for (std::size_t first = 0; first < 32; first += 8) {
    std::set<int> banks;
    for (std::size_t l = first; l < first + 8; ++l) banks.insert(address[l] % 128 / 16);
    EXPECT_EQ(banks.size(), 8U);
  }
}

TEST(GemmLayoutTest, AccessesHaveNoBankConflicts) {
  using Panels = LineTile<Lines::across_k, 2 * 64, 128, 64>;
  for (int step = 0; step < 4; ++step) {
    std::array<int, 32> wide{}, narrow{}, across{}, b{}, transposed{};
    for (int l = 0; l < 32; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      wide[lane] = a_offset<LineTile<Lines::along_k, 64, 128>>(16, step, l);
      narrow[lane] = a_offset<LineTile<Lines::along_k, 64, 64>>(16, step % 2, l);
      across[lane] = a_offset<Panels>(80, step, l);
      b[lane] = b_offset<LineTile<Lines::along_k, 64, 128>>(16, 2, step, l);
      transposed[lane] = b_offset<Panels>(64, 2, step, l);
    }
    expect_no_conflict(wide);
    expect_no_conflict(narrow);
    expect_no_conflict(across);
    expect_no_conflict(b);
    expect_no_conflict(transposed);
  }
  for (int step = 0; step < 8; ++step) {  // lines of 256 bytes, and narrow panels of A
    std::array<int, 32> whole{}, half{}, quarter{}, b{};
    for (int l = 0; l < 32; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      whole[lane] = a_offset<LineTile<Lines::along_k, 64, 256>>(16, step, l);
      half[lane] = a_offset<LineTile<Lines::across_k, 128, 64, 128>>(16, step, l);
      quarter[lane] = a_offset<LineTile<Lines::across_k, 128, 32, 128>>(0, step, l);
      b[lane] = b_offset<LineTile<Lines::along_k, 64, 256>>(16, 2, step, l);
    }
    expect_no_conflict(whole);
    expect_no_conflict(half);
    expect_no_conflict(quarter);
    expect_no_conflict(b);
  }
  for (int tile = 0; tile < 8; tile += 2) {  // stmatrix of C
    std::array<int, 32> to{};
    for (int l = 0; l < 32; ++l) {
      to[static_cast<std::size_t>(l)] =
          swizzled<kPanelBytes>(48 + sum_address(l).line, tile + sum_address(l).chunk);
    }
    expect_no_conflict(to);
  }
}

TEST(GemmLayoutTest, StmatrixPutsSumsWhereTheCopyEngineReadsThem) {
  // The panel as TMA reads it: element (row, column) of 64×64 of 2 bytes at swizzled place.
  std::map<int, Place> written;  // by byte
  for (int warp = 0; warp < 4; ++warp) {
    for (int q = 0; q < 8; q += 2) {
      for (int l = 0; l < 32; ++l) {
        // stmatrix.x4: lane l holds in register i elements (l/4, 2·(l mod 4)) and the next of
        // matrix i, whose row r goes to the address of lane 8·i + r.
        for (int i = 0; i < 4; ++i) {
          const LineChunk at = sum_address(8 * i + l / 4);
          const int to = swizzled<kPanelBytes>(warp * 16 + at.line, q + at.chunk) + l % 4 * 4;
          // Registers in the order of fill_panel: sums 0, 1 and 2, 3 of tile q, then of q + 1.
          const int tile = q + i / 2, sum = i % 2 * 2;
          for (int e = 0; e < 2; ++e) {
            const Place place = sum_place(l, sum + e);
            EXPECT_TRUE(
                written.emplace(to + e * 2, Place{warp * 16 + place.row, tile * 8 + place.column})
                    .second);
          }
        }
      }
    }
  }
  ASSERT_EQ(written.size(), 64U * 64U);
  for (const auto& [byte, place] : written) {
    EXPECT_EQ(byte, swizzled<kPanelBytes>(place.row, place.column / 8) + place.column % 8 * 2);
  }
}

TEST(GemmLayoutTest, TransposedStmatrixPutsColumnsOfSumsIntoLines) {
  // A panel of 32 columns of the sums: a line for each, with the instruction's 64 rows along it.
  std::map<int, Place> written;  // by byte
  for (int warp = 0; warp < 4; ++warp) {
    for (int q = 0; q < 4; q += 2) {
      for (int l = 0; l < 32; ++l) {
        // With .trans lane l holds in register i elements (2·(l mod 4), l/4) and (… + 1, l/4) of
        // the matrix whose row r goes to the address of lane 8·i + r.
        for (int i = 0; i < 4; ++i) {
          const int tile = q + i / 2, sum = i % 2 * 2;
          for (int e = 0; e < 2; ++e) {
            const LineChunk at = sum_address_transposed(8 * i + l % 4 * 2 + e);
            const int to = swizzled<kPanelBytes>(q * 8 + at.line, warp * 2 + at.chunk) + l / 4 * 2;
            const Place place = sum_place(l, sum + e);
            EXPECT_TRUE(
                written.emplace(to, Place{warp * 16 + place.row, tile * 8 + place.column}).second);
          }
        }
      }
      std::array<int, 32> to{};
      for (int l = 0; l < 32; ++l) {
        const LineChunk at = sum_address_transposed(l);
        to[static_cast<std::size_t>(l)] =
            swizzled<kPanelBytes>(q * 8 + at.line, warp * 2 + at.chunk);
      }
      expect_no_conflict(to);
    }
  }
  ASSERT_EQ(written.size(), 64U * 32U);
  for (const auto& [byte, place] : written) {
    EXPECT_EQ(byte, swizzled<kPanelBytes>(place.column, place.row / 8) + place.row % 8 * 2);
  }
}

TEST(GemmLayoutTest, WgmmaSumsLieAsThePtxIsaDrawsThem) {
  // d_i of thread t: row 16·(t/32) + (t mod 32)/4 + 8·(i/2 mod 2), column 8·(i/4) + 2·(t mod 4) + i
  // mod 2.
  std::set<std::pair<int, int>> places;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < 96; ++i) {
      const Place place = sum_place(thread % 32, i % 4);
      const int row = thread / 32 * 16 + place.row, column = i / 4 * 8 + place.column;
      EXPECT_EQ(row, 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2));
      EXPECT_EQ(column, 8 * (i / 4) + 2 * (thread % 4) + i % 2);
      EXPECT_TRUE(places.emplace(row, column).second);
    }
  }
  EXPECT_EQ(places.size(), 64U * 192U);
}

/// The fields of a wgmma descriptor.
struct Described {
  int address, leading, stride, base, swizzle;
};
Described described(std::uint64_t d) {
  return {static_cast<int>(d & 0x3fff) * 16, static_cast<int>(d >> 16 & 0x3fff) * 16,
          static_cast<int>(d >> 32 & 0x3fff) * 16, static_cast<int>(d >> 49 & 7),
          static_cast<int>(d >> 62)};
}
/// The swizzle is applied to addresses: bits 4-6 xor bits 7-9.
int swizzle_128(int address) {
  return address ^ (address >> 7 & 7) << 4;
}

TEST(GemmLayoutTest, DescriptorsHoldTheirFields) {
  const Described d = described(descriptor(0x2f400, 8192, 1024));
  EXPECT_EQ(d.address, 0x2f400);
  EXPECT_EQ(d.leading, 8192);
  EXPECT_EQ(d.stride, 1024);
  EXPECT_EQ(d.base, 0);
  EXPECT_EQ(d.swizzle, 1);
  // Adding bytes / 16 moves the address alone, up to the end of shared memory.
  const Described last = described(descriptor(0x400, 8192, 1024) + (227 * 1024 - 32) / 16);
  EXPECT_EQ(last.address, 0x400 + 227 * 1024 - 32);
  EXPECT_EQ(last.leading, 8192);
}

TEST(GemmLayoutTest, KMajorDescriptorsFindWhatTmaWrote) {
  constexpr int kBase = 5 * 1024, kLines = 192;
  for (int size : {1, 2, 4}) {
    for (int step = 0; step < kPanelBytes / kStepBytes; ++step) {
      const Described d =
          described(descriptor(kBase, 16, 8 * kPanelBytes) + step * b_step_bytes(true, size) / 16);
      for (int line = 0; line < kLines; ++line) {
        for (int byte = 0; byte < kStepBytes; ++byte) {
          // K-major: eight lines 128 bytes apart, then `stride` to the next eight.
          const int read = swizzle_128(d.address + line / 8 * d.stride + line % 8 * 128 + byte);
          const int at = step * kStepBytes + byte;
          EXPECT_EQ(read, kBase + swizzled<kPanelBytes>(line, at / kChunkBytes) + at % kChunkBytes);
        }
      }
    }
  }
}

TEST(GemmLayoutTest, MnMajorDescriptorsFindWhatTmaWrote) {
  constexpr int kBase = 3 * 1024, kColumns = 192, kDepth = 64, kPanel = kDepth * kPanelBytes;
  for (int step = 0; step < 4; ++step) {
    const Described d =
        described(descriptor(kBase, kPanel, 8 * kPanelBytes) + step * b_step_bytes(false, 2) / 16);
    for (int k = 0; k < 16; ++k) {
      for (int n = 0; n < kColumns; ++n) {
        // MN-major: 64 columns are a line; `leading` to the next 64; `stride` to the next eight k.
        const int read = swizzle_128(d.address + n / 64 * d.leading + k / 8 * d.stride +
                                     k % 8 * 128 + n % 64 * 2);
        const int line = step * 16 + k;
        EXPECT_EQ(read,
                  kBase + n / 64 * kPanel + swizzled<kPanelBytes>(line, n % 64 / 8) + n % 8 * 2);
      }
    }
  }
}

TEST(GemmLayoutTest, TheBoxesOfAClusterCoverBOnce) {
  for (const bool along_k : {false, true}) {
    for (const int size : {1, 2, 4}) {
      if (!along_k && size != 2) continue;
      for (const int columns : {64, 128, 192, 256}) {
        for (const int cluster : {1, 2}) {
          const int depth = kPanelBytes / size;
          std::map<int, std::pair<int, int>> source;  // of each element's byte: k, column
          int boxes_bytes = 0;
          for (int rank = 0; rank < cluster; ++rank) {
            for (int box = 0; box < b_boxes(along_k, size, columns); ++box) {
              const BoxPlace place = b_box(along_k, size, columns, cluster, rank, box);
              EXPECT_EQ(place.bytes % 1024, 0);
              const int lines = b_box_lines(along_k, size, columns, cluster);
              boxes_bytes += lines * kPanelBytes;
              for (int line = 0; line < lines; ++line) {
                for (int e = 0; e < depth; ++e) {  // a line has kPanelBytes
                  const int byte = place.bytes + line * kPanelBytes + e * size;
                  const auto element = along_k ? std::pair{place.k + e, place.column + line}
                                               : std::pair{place.k + line, place.column + e};
                  EXPECT_TRUE(source.emplace(byte, element).second);
                }
              }
            }
          }
          EXPECT_EQ(boxes_bytes, columns * kPanelBytes);  // with A's tile, what full[] expects
          EXPECT_EQ(source.size(), static_cast<std::size_t>(columns * depth));
          for (const auto& [byte, element] : source) {
            const auto [k, column] = element;
            const int expected =
                along_k ? column * kPanelBytes + k * size
                        : (column / depth * depth + k) * kPanelBytes + column % depth * size;
            EXPECT_EQ(byte, expected);
          }
        }
      }
    }
  }
}

// The boxes of a stage at an edge, as gemm.wgmma's producers copy them.
TEST(GemmLayoutTest, AtAnEdgeTheBytesOfAStageAreThoseOfLinesAndPanelsThatExist) {
  constexpr int kSize = 2, kColumns = 192, kFirst = 2 * kColumns;
  for (const bool along_k : {false, true}) {
    for (const int cluster : {1, 2}) {
      const int lines = b_box_lines(along_k, kSize, kColumns, cluster);
      for (int extent = kFirst + 1; extent <= kFirst + kColumns + 1; ++extent) {
        int bytes = 0;
        for (int rank = 0; rank < cluster; ++rank) {
          for (int i = 0; i < b_boxes(along_k, kSize, kColumns); ++i) {
            const BoxPlace box = b_box(along_k, kSize, kColumns, cluster, rank, i);
            const int column = kFirst + box.column;
            const int there = along_k           ? existing(column, lines, extent)
                              : column < extent ? lines
                                                : 0;
            // The box at the edge is that of its own tensor map, which has the rest of the lines.
            if (along_k && there > 0 && there < lines) {
              EXPECT_EQ(there, extent % lines);
            }
            bytes += there * kPanelBytes;
          }
        }
        EXPECT_EQ(b_bytes(along_k, kSize, kColumns, kFirst, extent), bytes);
        EXPECT_GT(bytes, 0);
        EXPECT_LE(bytes, kColumns * kPanelBytes);
      }
    }
  }
}

TEST(GemmLayoutTest, GroupedTilesVisitEachTileOnce) {
  for (const int rows : {1, 2, 7, 8, 9, 33}) {
    for (const int columns : {1, 3, 16, 17}) {
      for (const int group : {1, 8, 16}) {
        std::set<std::pair<int, int>> seen;
        for (int i = 0; i < rows * columns; ++i) {
          const Place tile = grouped_tile(i, rows, columns, group);
          EXPECT_GE(tile.row, 0);
          EXPECT_LT(tile.row, rows);
          EXPECT_LT(tile.column, columns);
          EXPECT_TRUE(seen.emplace(tile.row, tile.column).second);
        }
      }
    }
  }
}

TEST(GemmLayoutTest, PartsOfKDifferByOneStepAtMost) {
  for (const int count : {1, 5, 64, 1000003}) {
    for (int parts = 1; parts <= std::min(count, 20); ++parts) {
      int next = 0;
      for (int part = 0; part < parts; ++part) {
        const Range range = part_of(count, part, parts);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.past - range.begin, count / parts);
        EXPECT_LE(range.past - range.begin, count / parts + 1);
        next = range.past;
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(GemmLayoutTest, ARingAdvancesAlikeInOneStepOrMany) {
  for (int by = 0; by < 40; ++by) {
    Ring<5> once, often;
    once.advance(3), often.advance(3);
    once.advance(by);
    for (int i = 0; i < by; ++i) often.advance();
    EXPECT_EQ(once.stage, often.stage);
    EXPECT_EQ(once.phase, often.phase);
  }
}

}  // namespace
}  // namespace roofcast::cuda::gemm
