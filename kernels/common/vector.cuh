#pragma once
// Memory accesses of 4, 8 or 16 bytes. A warp's access of 16 bytes a lane is one instruction for
// 512 bytes: a quarter of the instructions of 4-byte accesses, and four times the bytes in flight.
#include <cstdint>
#include <type_traits>

namespace roofcast::cuda {

/// The machine word that moves that many bytes.
template <int kBytes>
using Word = std::conditional_t<
    kBytes == 16, uint4,
    std::conditional_t<kBytes == 8, uint2,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint16_t>>>;

/// Elements that one access moves.
template <class T, int kBytes>
struct alignas(kBytes) Vector {
  static constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
  T element[kWidth];
};

/// How an access treats the caches. Data touched once gains nothing from a cache line of its own.
enum class Cache {
  normal,       ///< the compiler's choice
  streaming,    ///< evict first, in L1 and L2 (ld.cs, st.cs)
  no_allocate,  ///< read-only path, no line in L1 (ld.global.nc.L1::no_allocate); stores as normal
};

template <Cache kCache, class T, int kBytes>
__device__ Vector<T, kBytes> load(const Vector<T, kBytes>* from) {
  using W = Word<kBytes>;
  W word;
  if constexpr (kCache == Cache::streaming) {
    word = __ldcs(reinterpret_cast<const W*>(from));
  } else if constexpr (kCache == Cache::no_allocate && kBytes == 16) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(from));
  } else {
    word = *reinterpret_cast<const W*>(from);
  }
  Vector<T, kBytes> vector;
  static_assert(sizeof(vector) == sizeof(word));
  __builtin_memcpy(&vector, &word, sizeof(word));
  return vector;
}

template <Cache kCache, class T, int kBytes>
__device__ void store(Vector<T, kBytes>* to, const Vector<T, kBytes>& vector) {
  using W = Word<kBytes>;
  W word;
  __builtin_memcpy(&word, &vector, sizeof(word));
  if constexpr (kCache == Cache::streaming) {
    __stcs(reinterpret_cast<W*>(to), word);
  } else {
    *reinterpret_cast<W*>(to) = word;
  }
}

}  // namespace roofcast::cuda
