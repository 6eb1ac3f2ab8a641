// The arithmetic of the tensor-core kernels, without a GPU: shared memory, copies and instructions
// are simulated as the PTX ISA describes them, over the same functions that the kernels call.
#include "kernels/gemm/layout.cuh"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace roofcast::cuda::gemm {
namespace {

/// 32 registers of a warp, four a lane.
using Registers = std::array<std::array<std::uint32_t, 4>, 32>;

/// Shared memory as bytes.
using Memory = std::vector<std::uint8_t>;

std::uint32_t word_at(const Memory& memory, int address) {
  std::uint32_t word = 0;
  std::memcpy(&word, &memory.at(static_cast<std::size_t>(address)), sizeof(word));
  return word;
}

/// ldmatrix.x4: lane 8·i + r gives the address of row r of matrix i; register i of lane l is word l mod 4 of
/// row l/4 of matrix i. With .trans a lane gets elements (2·(l mod 4), l/4) and (2·(l mod 4) + 1, l/4).
Registers load_matrices(const Memory& memory, const std::array<int, 32>& address, bool transposed) {
  Registers result{};
  for (std::size_t l = 0; l < 32; ++l) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (!transposed) {
        result[l][i] = word_at(memory, address[8 * i + l / 4] + static_cast<int>(l % 4) * 4);
        continue;
      }
      std::uint32_t word = 0;
      for (std::size_t e = 0; e < 2; ++e) {
        const int from = address[8 * i + 2 * (l % 4) + e] + static_cast<int>(l / 4) * 2;
        word |= (word_at(memory, from / 4 * 4) >> (from % 4 * 8) & 0xffff) << (16 * e);
      }
      result[l][i] = word;
    }
  }
  return result;
}

/// Elements of 2 or 4 bytes in registers are small integers here.
int element(std::uint32_t word, int size, int i) {
  return static_cast<int>(size == 2 ? word >> (16 * i) & 0xffff : word);
}

/// mma.m16n8k16 (size 2) or m16n8k8 (size 4) as the PTX ISA gives the fragments: groupID = lane/4,
/// threadID_in_group = lane mod 4. sum[lane][i] is c_i.
using Sums = std::array<std::array<int, 4>, 32>;
void multiply(Sums& sum, const Registers& a, const std::array<std::array<std::uint32_t, 2>, 32>& b,
              int size) {
  std::array<std::array<int, 16>, 16> A{};
  std::array<std::array<int, 8>, 16> B{};
  const int per_word = 4 / size;
  for (int l = 0; l < 32; ++l) {
    const int group = l / 4, in_group = l % 4;
    const auto lane = static_cast<std::size_t>(l);
    for (int r = 0; r < 4; ++r) {
      for (int e = 0; e < per_word; ++e) {
        // 16 bits: a_i, i = 2r + e, row group for i in {0,1,4,5} else + 8; column 2·in_group + (i & 1),
        // + 8 from i = 4. 32 bits: a_r, row group for r in {0,2} else + 8; column in_group, + 4 from 2.
        const int row = group + (r % 2) * 8;
        const int column = in_group * per_word + e + (r / 2) * (16 / size);
        A[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] =
            element(a[lane][static_cast<std::size_t>(r)], size, e);
      }
    }
    for (int r = 0; r < 2; ++r) {
      for (int e = 0; e < per_word; ++e) {
        B[static_cast<std::size_t>(in_group * per_word + e + r * (16 / size))]
         [static_cast<std::size_t>(group)] = element(b[lane][static_cast<std::size_t>(r)], size, e);
      }
    }
  }
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < 4; ++i) {
      // c_i: row groupID, + 8 from i = 2; column 2·threadID_in_group + (i & 1).
      const auto row = static_cast<std::size_t>(l / 4 + (i >= 2 ? 8 : 0));
      const auto column = static_cast<std::size_t>(2 * (l % 4) + (i & 1));
      for (std::size_t k = 0; k < static_cast<std::size_t>(32 / size); ++k) {
        sum[static_cast<std::size_t>(l)][static_cast<std::size_t>(i)] += A[row][k] * B[k][column];
      }
    }
  }
}

/// A matrix of small integers.
struct Matrix {
  int rows, columns;
  std::vector<int> value;
  Matrix(int rows_, int columns_, unsigned seed) : rows(rows_), columns(columns_) {
    std::mt19937 random(seed);
    for (int i = 0; i < rows * columns; ++i) value.push_back(static_cast<int>(random() % 10));
  }
  int at(int row, int column) const {
    return value.at(static_cast<std::size_t>(row * columns + column));
  }
};

/// What LineCopy leaves in shared memory of the tile of `matrix` that begins at its origin.
template <class Tile>
Memory copied(const Matrix& matrix, int size) {
  Memory memory(static_cast<std::size_t>(Tile::kTileBytes), 0xee);
  for (int line = 0; line < Tile::kCount; ++line) {
    for (int chunk = 0; chunk < Tile::kBytes / kChunkBytes; ++chunk) {
      const int width = kChunkBytes / size;
      const Place from =
          size == 2 ? Tile::template source<8>(line, chunk) : Tile::template source<4>(line, chunk);
      for (int e = 0; e < width; ++e) {
        const auto bits = static_cast<std::uint32_t>(matrix.at(from.row, from.column + e));
        std::memcpy(&memory.at(static_cast<std::size_t>(Tile::offset(line, chunk) + e * size)),
                    &bits, static_cast<std::size_t>(size));
      }
    }
  }
  return memory;
}

/// One warp's product of the whole depth of two tiles, at (row, column) of the block's tile, through
/// the kernel's own addresses.
template <class A, class B>
void expect_product(int size, int depth, int columns, int row, int column, int across) {
  constexpr bool kAlong = B::kLines == Lines::along_k;
  const Matrix a(A::kCount, depth, 1), b(kAlong ? columns : depth, kAlong ? depth : columns, 2);
  const Memory tile_a = copied<A>(a, size), tile_b = copied<B>(b, size);
  for (int q = 0; q < across; q += 2) {
    std::array<Sums, 2> sums{};
    for (int step = 0; step < depth * size / kStepBytes; ++step) {
      std::array<int, 32> from_a{}, from_b{};
      for (int l = 0; l < 32; ++l) {
        from_a[static_cast<std::size_t>(l)] = a_offset<A>(row, step, l);
        from_b[static_cast<std::size_t>(l)] = b_offset<B>(column, q, step, l);
      }
      const Registers left = load_matrices(tile_a, from_a, false);
      Registers right{};
      if constexpr (B::kLines == Lines::words) {
        for (int l = 0; l < 32; ++l) {
          const auto lane = static_cast<std::size_t>(l);
          const int next = b_offset<B>(column, q + 1, step, l);
          right[lane] = {word_at(tile_b, from_b[lane]),
                         word_at(tile_b, from_b[lane] + 4 * kPanelBytes), word_at(tile_b, next),
                         word_at(tile_b, next + 4 * kPanelBytes)};
        }
      } else {
        right = load_matrices(tile_b, from_b, !kAlong);
      }
      for (std::size_t half = 0; half < 2; ++half) {
        std::array<std::array<std::uint32_t, 2>, 32> operand{};
        for (std::size_t l = 0; l < 32; ++l) {
          operand[l] = {right[l][2 * half], right[l][2 * half + 1]};
        }
        multiply(sums[half], left, operand, size);
      }
    }
    for (int half = 0; half < 2; ++half) {
      for (int l = 0; l < 32; ++l) {
        for (int i = 0; i < 4; ++i) {
          const Place place = sum_place(l, i);
          const int r = row + place.row, c = column + (q + half) * 8 + place.column;
          int expected = 0;
          for (int k = 0; k < depth; ++k) {
            expected += a.at(r, k) * (kAlong ? b.at(c, k) : b.at(k, c));
          }
          ASSERT_EQ(sums[static_cast<std::size_t>(half)][static_cast<std::size_t>(l)]
                        [static_cast<std::size_t>(i)],
                    expected)
              << r << ", " << c;
        }
      }
    }
  }
}

TEST(GemmLayoutTest, MmaSyncMultipliesWhatTheCopiesBrought) {
  // Lines of 128 and of 64 bytes; warps at other places than the tile's origin.
  using A128 = LineTile<Lines::along_k, 64, 128>;
  using A64 = LineTile<Lines::along_k, 64, 64>;
  expect_product<A128, LineTile<Lines::along_k, 128, 128>>(2, 64, 128, 32, 64, 4);
  expect_product<A64, LineTile<Lines::along_k, 128, 64>>(2, 32, 128, 48, 32, 8);
  expect_product<A128, LineTile<Lines::along_k, 64, 128>>(4, 32, 64, 16, 32, 4);
  // B by rows of k: 192 columns are three panels, and a warp's 48 columns cross panels.
  using Panels = LineTile<Lines::across_k, 3 * 64, 128, 64>;
  for (int warp = 0; warp < 4; ++warp) {
    expect_product<A128, Panels>(2, 64, 192, 0, warp * 48, 6);
  }
  expect_product<A64, LineTile<Lines::across_k, 2 * 32, 128, 32>>(2, 32, 128, 16, 64, 8);
  // Words: 128 columns are four panels.
  using Words = LineTile<Lines::words, 4 * 32, 128, 32>;
  for (int warp = 0; warp < 4; ++warp) expect_product<A128, Words>(4, 32, 128, 0, warp * 32, 4);
}

/// LineCopy steps through a tile by adding constants: legal if places and swizzle add up.
template <class Tile, int kThreads, int kWidth>
void expect_steps_add_up() {
  constexpr int kAcross = Tile::kBytes / kChunkBytes, kStep = kThreads / kAcross;
  std::set<int> offsets;
  for (int thread = 0; thread < kThreads; ++thread) {
    const int line = thread / kAcross, chunk = thread % kAcross;
    const Place first = Tile::template source<kWidth>(line, chunk);
    for (int i = 0; i < Tile::kCount / kStep; ++i) {
      const Place apart = Tile::template source<kWidth>(i * kStep, 0);
      const Place place = Tile::template source<kWidth>(line + i * kStep, chunk);
      EXPECT_EQ(place.row, first.row + apart.row);
      EXPECT_EQ(place.column, first.column + apart.column);
      const int offset = Tile::offset(line, chunk) + i * kStep * Tile::kBytes;
      EXPECT_EQ(offset, Tile::offset(line + i * kStep, chunk));
      EXPECT_TRUE(offsets.insert(offset).second);
      EXPECT_LT(offset, Tile::kTileBytes);
    }
  }
  EXPECT_EQ(offsets.size(), static_cast<std::size_t>(Tile::kTileBytes / kChunkBytes));
}

TEST(GemmLayoutTest, CopiesCoverATileOnce) {
  expect_steps_add_up<LineTile<Lines::along_k, 128, 128>, 256, 8>();
  expect_steps_add_up<LineTile<Lines::along_k, 128, 64>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 4 * 64, 128, 64>, 256, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 3 * 64, 128, 64>, 256, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 2 * 32, 128, 32>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::words, 4 * 32, 128, 32>, 256, 4>();
  expect_steps_add_up<LineTile<Lines::words, 2 * 32, 128, 32>, 128, 4>();
}

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
  using Words = LineTile<Lines::words, 2 * 32, 128, 32>;
  for (int step = 0; step < 4; ++step) {
    std::array<int, 32> wide{}, narrow{}, b{}, transposed{};
    std::set<int> banks;
    for (int l = 0; l < 32; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      wide[lane] = a_offset<LineTile<Lines::along_k, 64, 128>>(16, step, l);
      narrow[lane] = a_offset<LineTile<Lines::along_k, 64, 64>>(16, step % 2, l);
      b[lane] = b_offset<LineTile<Lines::along_k, 64, 128>>(16, 2, step, l);
      transposed[lane] = b_offset<Panels>(64, 2, step, l);
      banks.insert(b_offset<Words>(32, step, step, l) / 4 % 32);
    }
    expect_no_conflict(wide);
    expect_no_conflict(narrow);
    expect_no_conflict(b);
    expect_no_conflict(transposed);
    EXPECT_EQ(banks.size(), 32U);
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
        // stmatrix.x4: lane l holds in register i elements (l/4, 2·(l mod 4)) and the next of matrix i,
        // whose row r goes to the address of lane 8·i + r.
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

TEST(GemmLayoutTest, WgmmaSumsLieAsThePtxIsaDrawsThem) {
  // d_i of thread t: row 16·(t/32) + (t mod 32)/4 + 8·(i/2 mod 2), column 8·(i/4) + 2·(t mod 4) + i mod 2.
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

/// What a descriptor says.
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

TEST(GemmLayoutTest, APersistentScheduleCoversCAndKOnce) {
  for (const int cluster : {1, 2}) {
    for (const int parts : {1, 3}) {
      for (const int blocks : {2, 132}) {
        const Schedule schedule = Schedule::of(1000, 3000, 777, parts, 128, 192, 64, cluster);
        std::map<std::pair<int, int>, std::vector<int>> times;  // by tile: of each step of k
        for (int block = 0; block < blocks; ++block) {
          for (int i = block / cluster; i < schedule.items(); i += blocks / cluster) {
            const auto item = schedule.item(i, block % cluster);
            auto& steps = times[{item.row0, item.column0}];
            steps.resize(13);  // 777/64, rounded up
            EXPECT_LT(item.steps.begin, item.steps.past);
            for (int s = item.steps.begin; s < item.steps.past; ++s) {
              ++steps.at(static_cast<std::size_t>(s));
            }
          }
        }
        for (int row = 0; row < 1000; row += 128) {
          for (int column = 0; column < 3000; column += 192) {
            const auto found = times.find({row, column});
            ASSERT_NE(found, times.end());
            EXPECT_EQ(found->second, std::vector<int>(13, 1)) << row << ", " << column;
          }
        }
        // Eight tile rows: none beyond the last even for pairs.
        EXPECT_EQ(times.size(), 8U * 16U);
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

/// gemm.skinny: 32 k of a warp's rows of weights and 8 tokens, loaded as its lanes load them.
template <bool kAlongK>
void expect_skinny_product() {
  constexpr int kRowTiles = kAlongK ? 2 : 4, kRows = kRowTiles * 16;
  const Matrix weights(kRows, 32, 3), tokens(8, 32, 4);
  std::vector<std::array<Registers, 2>> left(kRowTiles);  // by row tile and instruction
  std::array<std::array<std::array<std::uint32_t, 2>, 32>, 2> right{};
  for (int l = 0; l < 32; ++l) {
    const auto lane = static_cast<std::size_t>(l);
    const int g = l / 4, t = l % 4;
    // A lane's loads of eight elements: of k along a row, or of columns at one k.
    const auto held = [&](int load, int word) {
      std::uint32_t two = 0;
      for (int e = 0; e < 2; ++e) {
        const int i = word * 2 + e;
        const int value =
            kAlongK ? weights.at(g + load * 8, t * 8 + i) : weights.at(g * 8 + i, t * 8 + load);
        two |= static_cast<std::uint32_t>(value) << (16 * e);
      }
      return two;
    };
    for (int j = 0; j < kRowTiles; ++j) {
      for (int s = 0; s < 2; ++s) {
        std::uint32_t a[4];
        weights_operand<kAlongK>(a, held, j, s);
        std::copy(a, a + 4,
                  left[static_cast<std::size_t>(j)][static_cast<std::size_t>(s)][lane].begin());
      }
    }
    for (int s = 0; s < 2; ++s) {
      for (int pair = 0; pair < 2; ++pair) {
        std::uint32_t two = 0;  // word 2·s + pair of the token's eight k
        for (int e = 0; e < 2; ++e) {
          two |= static_cast<std::uint32_t>(tokens.at(g, t * 8 + (2 * s + pair) * 2 + e))
                 << (16 * e);
        }
        right[static_cast<std::size_t>(s)][lane][static_cast<std::size_t>(pair)] = two;
      }
    }
  }
  std::set<std::pair<int, int>> places;
  for (int j = 0; j < kRowTiles; ++j) {
    Sums sums{};
    for (std::size_t s = 0; s < 2; ++s) {
      multiply(sums, left[static_cast<std::size_t>(j)][s], right[s], 2);
    }
    for (int l = 0; l < 32; ++l) {
      for (int i = 0; i < 4; ++i) {
        const int row = skinny_row(l, j, i, kAlongK), token = sum_place(l, i).column;
        EXPECT_TRUE(places.emplace(row, token).second);
        int expected = 0;
        for (int k = 0; k < 32; ++k) expected += weights.at(row, k) * tokens.at(token, k);
        EXPECT_EQ(sums[static_cast<std::size_t>(l)][static_cast<std::size_t>(i)], expected)
            << row << ", " << token;
      }
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(kRows * 8));
}

TEST(GemmLayoutTest, SkinnyMultipliesWhatItsLanesLoad) {
  expect_skinny_product<true>();
  expect_skinny_product<false>();
}

}  // namespace
}  // namespace roofcast::cuda::gemm
