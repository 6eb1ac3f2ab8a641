#pragma once
// Memory accesses of 2, 4, 8 or 16 bytes. A warp's access of 16 bytes a lane is one instruction for
// 512 bytes: a quarter of the instructions of 4-byte accesses, and four times the bytes in flight.
#include <cstdint>
#include <type_traits>

namespace roofcast::cuda {

/// The type whose load or store moves kBytes.
template <int kBytes>
using Word = std::conditional_t<
    kBytes == 16, uint4,
    std::conditional_t<kBytes == 8, uint2,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint16_t>>>;

/// The elements of one access.
template <class T, int kBytes>
struct alignas(kBytes) Vector {
  static constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
  T element[kWidth];
};

template <class T, int kBytes>
__device__ Vector<T, kBytes> load(const Vector<T, kBytes>* from) {
  const auto word = *reinterpret_cast<const Word<kBytes>*>(from);
  Vector<T, kBytes> vector;
  static_assert(sizeof(vector) == sizeof(word));
  __builtin_memcpy(&vector, &word, sizeof(word));
  return vector;
}

template <class T, int kBytes>
__device__ void store(Vector<T, kBytes>* to, const Vector<T, kBytes>& vector) {
  Word<kBytes> word;
  __builtin_memcpy(&word, &vector, sizeof(word));
  *reinterpret_cast<Word<kBytes>*>(to) = word;
}

}  // namespace roofcast::cuda
