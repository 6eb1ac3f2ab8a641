#pragma once
// A tile of gemm.wgmma: its shape, its layout in shared memory, and the kernel's parameters.
#include <cstdint>

#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/schedule.cuh"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm::hopper {

constexpr int kWarpgroup = 128;
constexpr int kInstructionRows = 64;
constexpr int kPanelsOfC = 2;     // per warpgroup
constexpr int kAlignment = 1024;  // bytes, of swizzled tiles

/// float4 that a thread loads at once where it adds parts of k: the largest divisor of `count`, the
/// number of its float4, up to 16, or up to 8 where it holds more than 128 sums.
constexpr int joined_together(int count) {
  const int most = count > 32 ? 8 : 16;
  int together = 1;
  for (int i = 2; i <= most; ++i) together = count % i == 0 ? i : together;
  return together;
}

template <class Element_, int kRows_, int kColumns_, int kStages_, int kConsumers_, int kCluster_,
          bool kPingPong_, bool kTransposedB_, bool kSwapAb_ = false, int kPanelLines_ = 64>
struct Tile {
  using Element = Element_;
  using Out = Result<Element>;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kStages = kStages_;
  static constexpr int kConsumers = kConsumers_, kCluster = kCluster_;
  static constexpr bool kPingPong = kPingPong_, kTransposedB = kTransposedB_;
  /// The tile is one of Cᵀ = Bᵀ·Aᵀ: its rows are columns of C, and its operand A is Bᵀ.
  static constexpr bool kSwapAb = kSwapAb_;
  static constexpr bool kColumnsFirst = roofcast::gemm::tensor::columns_first(kSwapAb, kCluster);
  static constexpr int kSize = static_cast<int>(sizeof(Element));
  static constexpr int kDepth = kPanelBytes / kSize;  // a line of k
  static constexpr int kSteps = kPanelBytes / kStepBytes;
  static constexpr int kThreads = kWarpgroup * (1 + kConsumers);
  /// Rows of the tile (with swap_ab columns of C) that one warpgroup sums.
  static constexpr int kOwnRows = kPingPong ? kRows : kRows / kConsumers;
  static constexpr int kDown = kOwnRows / kInstructionRows;
  // A: kRows lines of k. B: kColumns lines of k, or panels of kPanelBytes of columns with a line
  // for each of kDepth rows of k.
  static constexpr int kBytesA = kRows * kPanelBytes, kBytesB = kColumns * kPanelBytes;
  static constexpr int kPanelBytesB = kDepth * kPanelBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  /// A panel of C in shared memory holds kPanelColumns columns of an instruction's sums. Its lines
  /// are the instruction's 64 rows, or with swap_ab those columns; TMA stores kStoredLines lines at
  /// a time.
  static constexpr int kPanelLines = kPanelLines_;
  static constexpr int kPanelColumns =
      kSwapAb ? kPanelLines : kPanelBytes / static_cast<int>(sizeof(Out));
  static constexpr int kStoredLines = kSwapAb ? 16 : kPanelLines;
  static constexpr int kPanelBytesC = kPanelLines * kPanelBytes;
  static constexpr int kBytesC = kConsumers * kPanelsOfC * kPanelBytesC;
  static constexpr int kBarriers = 2 * kStages + 2;
  static constexpr int kSharedBytes = kAlignment + kStages * kStageBytes + kBytesC + kBarriers * 8;
  /// Registers of a thread: at launch 65536 / kThreads, rounded down to 8; after setmaxnreg these.
  static constexpr int kProducerRegisters = kConsumers == 2 ? 40 : 32;
  static constexpr int kConsumerRegisters = kConsumers == 2 ? 232 : 160;
  static_assert((kProducerRegisters + kConsumers * kConsumerRegisters) * kWarpgroup <= 65536);
  static_assert(kSharedBytes <= 227 * 1024);
  static_assert(kRows <= 256 && kColumns <= 256);  // the most lines of a TMA box
  static_assert(kOwnRows % kInstructionRows == 0 && kColumns % (kSwapAb ? kStoredLines : 64) == 0);
  static_assert(!kSwapAb || (kTransposedB && sizeof(Out) == 2));
  static_assert(!kPingPong || kConsumers == 2);
  static_assert(kCluster == 1 || kCluster == 2);
  // Halves of B begin at multiples of the swizzle's 1024 bytes.
  static_assert(kColumns / kCluster % 8 == 0 && kDepth / kCluster % 8 == 0);
  /// float4 of a thread's sums, and flags of a part of a tile.
  static constexpr int kSumsOfThread = kDown * kColumns / 8;
  static constexpr int kFlags = kPingPong ? 1 : kConsumers;
  /// float4 of a part that a thread loads at once, as many as it has registers for.
  static constexpr int kJoinedTogether = joined_together(kSumsOfThread);
  /// Warps of a block that free a stage.
  static constexpr int kFreeing = (kPingPong ? 1 : kConsumers) * kWarpgroup / 32;
};

/// Tensor maps of the operands along the instruction's rows (a) and columns (b), and of C. For B
/// across k, `edge` equals `whole`.
struct Maps {
  EdgedMap a, b;
  CUtensorMap c;
};

/// Parameters of the kernel besides the tensor maps.
struct Work {
  Schedule schedule;
  int m, n;  ///< rows and columns of each matrix C
  void* c;   ///< C, where threads store it; null where TMA does
  std::int64_t row_c;
  float* parts;  ///< sums [parts][matrices][m][n] for a reduction kernel; else null
  /// For parts that this launch adds (Schedule::slot): sums in the order of registers.
  Workspace workspace;

  /// Extents of C along the rows and along the columns of instructions.
  template <class T>
  __device__ int rows() const {
    return T::kSwapAb ? n : m;
  }
  template <class T>
  __device__ int columns() const {
    return T::kSwapAb ? m : n;
  }
};

template <class T>
struct Shared {
  unsigned base;

  __device__ unsigned a(int stage) const {
    return base + static_cast<unsigned>(stage * T::kStageBytes);
  }
  __device__ unsigned b(int stage) const { return a(stage) + T::kBytesA; }
  __device__ unsigned c(int warpgroup, int panel) const {
    return base + static_cast<unsigned>(T::kStages * T::kStageBytes +
                                        (warpgroup * kPanelsOfC + panel) * T::kPanelBytesC);
  }
  __device__ Mbarrier full(int stage) const { return barrier(stage); }
  __device__ Mbarrier empty(int stage) const { return barrier(T::kStages + stage); }
  /// The barrier of a warpgroup's turn to multiply (ping-pong).
  __device__ Mbarrier turn(int warpgroup) const { return barrier(2 * T::kStages + warpgroup); }

 private:
  __device__ Mbarrier barrier(int i) const {
    return {base + static_cast<unsigned>(T::kStages * T::kStageBytes + T::kBytesC + i * 8)};
  }
};

template <class T>
using Sums = float[T::kDown][T::kColumns / 2];

}  // namespace roofcast::cuda::gemm::hopper
