// What mma.sync multiplies, without a GPU: copies to shared memory, ldmatrix and the instruction
// are simulated as the PTX ISA describes them, over the same functions that the kernels call.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "kernels/gemm/layout.cuh"

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

/// ldmatrix.x4: lane 8·i + r gives the address of row r of matrix i; register i of lane l is word l
/// mod 4 of row l/4 of matrix i. With .trans a lane gets elements (2·(l mod 4), l/4) and (2·(l mod
/// 4) + 1, l/4).
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
        // 16 bits: a_i, i = 2r + e, row group for i in {0,1,4,5} else + 8; column 2·in_group + (i &
        // 1), + 8 from i = 4. 32 bits: a_r, row group for r in {0,2} else + 8; column in_group, + 4
        // from 2.
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

/// Shared memory after LineCopy has copied the tile at the origin of `matrix`.
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

/// One warp's product over the whole depth of two tiles, at (row, column) of the block's tile, with
/// the kernel's own addresses.
template <class A, class B>
void expect_product(int size, int depth, int rows, int columns, int row, int column, int across) {
  constexpr bool kAlong = B::kLines == Lines::along_k, kAlongA = A::kLines == Lines::along_k;
  const Matrix a(kAlongA ? rows : depth, kAlongA ? depth : rows, 1),
      b(kAlong ? columns : depth, kAlong ? depth : columns, 2);
  const Memory tile_a = copied<A>(a, size), tile_b = copied<B>(b, size);
  for (int q = 0; q < across; q += 2) {
    std::array<Sums, 2> sums{};
    for (int step = 0; step < depth * size / kStepBytes; ++step) {
      std::array<int, 32> from_a{}, from_b{};
      for (int l = 0; l < 32; ++l) {
        from_a[static_cast<std::size_t>(l)] = a_offset<A>(row, step, l);
        from_b[static_cast<std::size_t>(l)] = b_offset<B>(column, q, step, l);
      }
      const Registers left = load_matrices(tile_a, from_a, !kAlongA);
      const Registers right = load_matrices(tile_b, from_b, !kAlong);
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
            expected += (kAlongA ? a.at(r, k) : a.at(k, r)) * (kAlong ? b.at(c, k) : b.at(k, c));
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

TEST(GemmFragmentsTest, MmaSyncMultipliesWhatTheCopiesBrought) {
  // Lines of 128 and of 64 bytes; warps at other places than the tile's origin.
  using A128 = LineTile<Lines::along_k, 64, 128>;
  using A64 = LineTile<Lines::along_k, 64, 64>;
  expect_product<A128, LineTile<Lines::along_k, 128, 128>>(2, 64, 64, 128, 32, 64, 4);
  expect_product<A64, LineTile<Lines::along_k, 128, 64>>(2, 32, 64, 128, 48, 32, 8);
  expect_product<A128, LineTile<Lines::along_k, 64, 128>>(4, 32, 64, 64, 16, 32, 4);
  // B by rows of k: 192 columns are three panels, and a warp's 48 columns cross panels.
  using Panels = LineTile<Lines::across_k, 3 * 64, 128, 64>;
  for (int warp = 0; warp < 4; ++warp) {
    expect_product<A128, Panels>(2, 64, 64, 192, 0, warp * 48, 6);
  }
  expect_product<A64, LineTile<Lines::across_k, 2 * 32, 128, 32>>(2, 32, 64, 128, 16, 64, 8);
  // A by rows of k: 128 rows are two panels, and warps begin within them.
  using PanelsA = LineTile<Lines::across_k, 2 * 32, 128, 32>;
  for (int row = 0; row < 128; row += 16) {
    expect_product<PanelsA, LineTile<Lines::across_k, 2 * 32, 128, 32>>(2, 32, 128, 128, row, 64,
                                                                        8);
    // A warp begins at a panel and reaches the next 16 rows by flipping bits of the address.
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(a_offset<PanelsA>(row, 1, lane),
                a_offset<PanelsA>(row / 64 * 64, 1, lane) ^ row % 64 / 8 * kChunkBytes);
    }
  }
}

TEST(GemmFragmentsTest, SkinnyRingsMultiplyWhatTheCopiesBrought) {
  // Lines of 256 bytes, and tokens by rows of k: 64, 32 or 16 of them in a line.
  using Weights = LineTile<Lines::along_k, 128, 256>;
  expect_product<LineTile<Lines::along_k, 64, 256>, Weights>(2, 128, 64, 128, 48, 96, 4);
  expect_product<LineTile<Lines::along_k, 16, 256>, LineTile<Lines::across_k, 2 * 128, 128, 128>>(
      2, 128, 16, 128, 0, 32, 4);
  expect_product<LineTile<Lines::across_k, 128, 128, 128>, Weights>(2, 128, 64, 128, 32, 0, 4);
  expect_product<LineTile<Lines::across_k, 128, 64, 128>, Weights>(2, 128, 32, 128, 16, 64, 4);
  expect_product<LineTile<Lines::across_k, 128, 32, 128>, Weights>(2, 128, 16, 128, 0, 64, 4);
}

/// LineCopy steps through a tile by adding constants, which requires that places and swizzled
/// offsets are additive.
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

TEST(GemmFragmentsTest, CopiesCoverATileOnce) {
  expect_steps_add_up<LineTile<Lines::along_k, 128, 128>, 256, 8>();
  expect_steps_add_up<LineTile<Lines::along_k, 128, 64>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 4 * 64, 128, 64>, 256, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 3 * 64, 128, 64>, 256, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 2 * 32, 128, 32>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::along_k, 16, 256>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::along_k, 128, 256>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 64, 64, 64>, 128, 8>();
  expect_steps_add_up<LineTile<Lines::across_k, 128, 32, 128>, 128, 8>();
}

/// gemm.skinny: a warp's rows of weights times 8 tokens over 32 k, loaded as its lanes load them.
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

TEST(GemmFragmentsTest, SkinnyMultipliesWhatItsLanesLoad) {
  expect_skinny_product<true>();
  expect_skinny_product<false>();
}

}  // namespace
}  // namespace roofcast::cuda::gemm
