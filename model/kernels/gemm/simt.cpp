#include "model/kernels/gemm/simt.hpp"

#include <array>
#include <string_view>

#include "model/kernels/gemm/simt_plan.hpp"
#include "model/kernels/gemm/tensor_models.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast::gemm {
namespace {

constexpr roofcast::Parameter tile(std::string_view name, std::string_view meaning,
                                   std::int64_t fallback) {
  return setting(name, meaning, 1, 512, fallback);
}

constexpr std::array kDirectParameters =
    with_own(kShape, tile("tile_m", "rows of C a block computes", 32),
             tile("tile_n", "columns of C a block computes", 32));
constexpr std::array kTiledParameters =
    with_own(kShape, tile("tile_m", "rows of C a block computes", 32),
             tile("tile_n", "columns of C a block computes", 32),
             tile("tile_k", "depth of the tiles in shared memory", 32));
constexpr std::array kCoarsened1dParameters =
    with_own(kShape, tile("tile_m", "rows of C a block computes", 64),
             tile("tile_n", "columns of C a block computes", 64),
             tile("tile_k", "depth of the tiles in shared memory", 8),
             tile("thread_m", "rows of C a thread computes", 8));
/// Tiles of blocks and, in both dimensions, of threads.
constexpr auto threads_in_2d(std::int64_t tile_m, std::int64_t tile_n, std::int64_t tile_k,
                             std::int64_t thread_m, std::int64_t thread_n) {
  return with_own(kShape, tile("tile_m", "rows of C a block computes", tile_m),
                  tile("tile_n", "columns of C a block computes", tile_n),
                  tile("tile_k", "depth of the tiles in shared memory", tile_k),
                  tile("thread_m", "rows of C a thread computes", thread_m),
                  tile("thread_n", "columns of C a thread computes", thread_n));
}
constexpr std::array kCoarsened2dParameters = threads_in_2d(128, 128, 8, 8, 8);
constexpr std::array kVectorizedParameters = threads_in_2d(128, 256, 16, 16, 8);

constexpr std::array kTypes = {DType::fp32};

LaunchSequence plan_naive(const Problem& p, const Gpu& /*gpu*/) {
  return plan_direct(p, true);
}
LaunchSequence plan_coalesced(const Problem& p, const Gpu& /*gpu*/) {
  return plan_direct(p, false);
}
LaunchSequence plan_tiled(const Problem& p, const Gpu& /*gpu*/) {
  return plan_staged(p, kTileK + 1, {});
}
LaunchSequence plan_coarsened_1d(const Problem& p, const Gpu& /*gpu*/) {
  return plan_staged(p, kThreadM + 1, {});
}
LaunchSequence plan_coarsened_2d(const Problem& p, const Gpu& /*gpu*/) {
  return plan_staged(p, kThreadN + 1, {});
}
LaunchSequence plan_vectorized(const Problem& p, const Gpu& /*gpu*/) {
  return plan_staged(p, kThreadN + 1, {.width = 4, .stages = 3, .group_rows = 8, .pad_a = 4});
}

}  // namespace

constinit const std::array<KernelModel, 10> kVariants = {{
    {"gemm.naive", "one thread an element, warps walk down rows (uncoalesced)", kDirectParameters,
     kTypes, plan_naive},
    {"gemm.coalesced", "one thread an element, warps walk along columns", kDirectParameters, kTypes,
     plan_coalesced},
    {"gemm.tiled", "operand tiles staged in shared memory", kTiledParameters, kTypes, plan_tiled},
    {"gemm.coarsened_1d", "a column of outputs a thread", kCoarsened1dParameters, kTypes,
     plan_coarsened_1d},
    {"gemm.coarsened_2d", "a register tile of outputs a thread", kCoarsened2dParameters, kTypes,
     plan_coarsened_2d},
    {"gemm.vectorized", "128-bit accesses, tiles copied ahead", kVectorizedParameters, kTypes,
     plan_vectorized},
    tensor::kMmaSync,
    tensor::kWgmma,
    tensor::kSkinny,
    kLibrary,
}};

}  // namespace roofcast::gemm
