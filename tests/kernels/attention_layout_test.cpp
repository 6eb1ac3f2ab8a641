// attention.decode without a GPU: the chunks that its lanes hold, as operands of mma.m16n8k16 by
// the fragments of the PTX ISA, multiply to S = Q·Kᵀ and O = P·V.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "kernels/attention/decode_layout.cuh"

namespace roofcast::cuda::attention::decoding {
namespace {

constexpr int kDim = 128;

/// 16 bytes; elements of 2 bytes are small integers.
struct Chunk {
  unsigned x, y, z, w;
};
template <class Element>
Chunk chunk_at(Place place, Element element) {
  std::array<unsigned, 4> word{};
  for (int e = 0; e < kWidth; ++e) {
    word.at(static_cast<std::size_t>(e / 2)) |= element(place.row, place.column + e)
                                                << (16 * (e % 2));
  }
  return {word[0], word[1], word[2], word[3]};
}

// Any small integers that tell rows and columns apart.
unsigned q_at(int row, int column) {
  return static_cast<unsigned>((row * 7 + column * 3) % 11);
}
unsigned k_at(int key, int column) {
  return static_cast<unsigned>((key * 5 + column * column) % 13);
}
unsigned v_at(int key, int column) {
  return static_cast<unsigned>((key * key + column * 9) % 17);
}
unsigned p_at(int row, int key) {
  return static_cast<unsigned>((row * 3 + key * 8) % 19);
}

unsigned half_of(unsigned word, int i) {
  return word >> (16 * i) & 0xffff;
}

/// mma.m16n8k16 on a warp's registers. With g = lane/4 and t = lane mod 4: a_i is row g (+ 8 for i
/// in {2,3,6,7}), column 2t + (i mod 2) (+ 8 from i = 4); b_i is row 2t + (i mod 2) (+ 8 from i =
/// 2), column g; c_i is row g (+ 8 from i = 2), column 2t + (i mod 2).
struct WarpProduct {
  std::array<std::array<unsigned, 16>, 16> a{};
  std::array<std::array<unsigned, 8>, 16> b{};

  void set(int lane, const unsigned (&of_a)[4], const unsigned (&of_b)[2]) {
    const auto g = static_cast<std::size_t>(lane / 4), t = static_cast<std::size_t>(lane % 4);
    for (std::size_t i = 0; i < 8; ++i) {
      a.at(g + i / 2 % 2 * 8).at(2 * t + i % 2 + i / 4 * 8) =
          half_of(of_a[i / 2], static_cast<int>(i % 2));
    }
    for (std::size_t i = 0; i < 4; ++i) {
      b.at(2 * t + i % 2 + i / 2 * 8).at(g) = half_of(of_b[i / 2], static_cast<int>(i % 2));
    }
  }
  unsigned sum(int lane, int i) const {
    const auto row = static_cast<std::size_t>(lane / 4 + i / 2 * 8);
    const auto column = static_cast<std::size_t>(lane % 4 * 2 + i % 2);
    unsigned result = 0;
    for (std::size_t k = 0; k < 16; ++k) result += a.at(row).at(k) * b.at(k).at(column);
    return result;
  }
};

TEST(DecodeLayoutTest, ScoresAreTheProductsOfQueriesAndKeys) {
  for (int tile = 0; tile < 2; ++tile) {
    std::array<std::array<unsigned, 4>, 32> sums{};
    for (int c = 0; c < d_slices(kDim); ++c) {
      for (int i = 0; i < 2; ++i) {
        WarpProduct product;
        for (int lane = 0; lane < 32; ++lane) {
          unsigned a[4], b[2];
          q_operand(a, chunk_at(q_chunk(lane, c, 0), q_at), chunk_at(q_chunk(lane, c, 1), q_at), i);
          k_operand(b, chunk_at(k_chunk(lane, c, tile), k_at), i);
          product.set(lane, a, b);
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int e = 0; e < 4; ++e) {
            sums.at(static_cast<std::size_t>(lane)).at(static_cast<std::size_t>(e)) +=
                product.sum(lane, e);
          }
        }
      }
    }
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < 4; ++e) {
        const Place place = s_place(lane, tile, e);
        unsigned expected = 0;
        for (int d = 0; d < kDim; ++d) expected += q_at(place.row, d) * k_at(place.column, d);
        EXPECT_EQ(sums.at(static_cast<std::size_t>(lane)).at(static_cast<std::size_t>(e)), expected)
            << place.row << ", " << place.column;
      }
    }
  }
}

TEST(DecodeLayoutTest, ResultsAreTheProductsOfWeightsAndValues) {
  for (int j = 0; j < kDim / kSlice; ++j) {
    for (int c = 0; c < 8; ++c) {
      WarpProduct product;
      for (int lane = 0; lane < 32; ++lane) {
        // The lane's own sums of S, two a word.
        unsigned a[4], b[2];
        for (int r = 0; r < 4; ++r) {
          const Place low = s_place(lane, r / 2, r % 2 * 2),
                      high = s_place(lane, r / 2, r % 2 * 2 + 1);
          a[r] = p_at(low.row, low.column) | p_at(high.row, high.column) << 16;
        }
        Chunk keys[4];
        for (int e = 0; e < 4; ++e) keys[e] = chunk_at(v_chunk(lane, j, e), v_at);
        v_operand(b, keys, c);
        product.set(lane, a, b);
      }
      for (int lane = 0; lane < 32; ++lane) {
        for (int e = 0; e < 4; ++e) {
          const Place place = o_place(lane, j, c, e);
          unsigned expected = 0;
          for (int key = 0; key < kKeys; ++key) {
            expected += p_at(place.row, key) * v_at(key, place.column);
          }
          EXPECT_EQ(product.sum(lane, e), expected) << place.row << ", " << place.column;
        }
      }
    }
  }
}

// Offsets are additive: chunk i of any lane lies as far from its first chunk as that of lane 0.
template <class PlaceOf>
void expect_each_chunk_once(int chunks, PlaceOf place) {
  std::set<std::pair<int, int>> places;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < chunks; ++i) {
      const Place at = place(lane, i);
      EXPECT_EQ(at.row, place(lane, 0).row + place(0, i).row);
      EXPECT_EQ(at.column, place(lane, 0).column + place(0, i).column);
      EXPECT_LT(at.row, kKeys);
      EXPECT_LE(at.column, kDim - kWidth);
      EXPECT_EQ(at.column % kWidth, 0);
      EXPECT_TRUE(places.emplace(at.row, at.column).second);
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(kKeys * kDim / kWidth));
}

TEST(DecodeLayoutTest, LanesHoldEachChunkOfAUnitOnce) {
  constexpr int kSlices = d_slices(kDim);
  expect_each_chunk_once(2 * kSlices,
                         [](int lane, int i) { return k_chunk(lane, i % kSlices, i / kSlices); });
  expect_each_chunk_once(4 * kDim / kSlice,
                         [](int lane, int i) { return v_chunk(lane, i / 4, i % 4); });
  expect_each_chunk_once(2 * kSlices, [](int lane, int i) { return q_chunk(lane, i / 2, i % 2); });
}

// The eight lanes that are served at once touch each bank once.
template <class OffsetOf>
void expect_no_conflict(OffsetOf offset) {
  for (int eighth = 0; eighth < 32; eighth += 8) {
    std::set<int> banks;
    for (int lane = eighth; lane < eighth + 8; ++lane) banks.insert(offset(lane) % 128);
    EXPECT_EQ(banks.size(), 8U);
  }
}

// A unit is copied in whole lines of 128 bytes, each chunk once. Returns the chunks' offsets.
template <int kDim, class OffsetOf>
std::set<int> expect_whole_lines(OffsetOf offset) {
  std::set<int> places;
  for (int i = 0; i < kKeys * kDim / kWidth / 32; ++i) {
    for (int lane = 0; lane < 32; ++lane) {
      const Place chunk = copied_chunk<kDim>(lane, i);
      const Place before = copied_chunk<kDim>(lane - lane % 8, i);
      EXPECT_EQ(chunk.row, before.row);  // eight lanes: a line of 128 bytes
      EXPECT_EQ(chunk.column, before.column + lane % 8 * kWidth);
      EXPECT_TRUE(places.insert(offset(chunk)).second);
    }
    expect_no_conflict([&](int lane) { return offset(copied_chunk<kDim>(lane, i)); });
  }
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), kKeys * kDim * 2 - 16);
  return places;
}

// Each chunk lies where the lanes that need it read it, without bank conflicts.
template <int kDim>
void copies_each_chunk_once() {
  const std::set<int> of_k = expect_whole_lines<kDim>(k_offset<kDim>);
  for (int c = 0; c < d_slices(kDim); ++c) {
    for (int tile = 0; tile < 2; ++tile) {
      const auto offset = [&](int lane) { return k_offset<kDim>(k_chunk(lane, c, tile)); };
      for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(of_k.count(offset(lane)), 1U);
      expect_no_conflict(offset);
    }
  }
  const std::set<int> of_v = expect_whole_lines<kDim>(v_offset);
  for (int j = 0; j < kDim / kSlice; ++j) {
    for (int e = 0; e < 4; ++e) {
      const auto offset = [&](int lane) { return v_offset(v_chunk(lane, j, e)); };
      for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(of_v.count(offset(lane)), 1U);
      expect_no_conflict(offset);
    }
  }
}
TEST(AttentionDecodeLayout, CopiesEachChunkOnceInWholeLines) {
  copies_each_chunk_once<64>();
  copies_each_chunk_once<128>();
  copies_each_chunk_once<256>();
}

}  // namespace
}  // namespace roofcast::cuda::attention::decoding
