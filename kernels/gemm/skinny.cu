// Few rows or columns (m or n ≤ 64): the decode step of a language model.
//
// One operand, the weights, is large, and each of its elements takes part in at most 64 products:
// at 2 bytes an element that is 64 FLOP a byte, a third of what an H200 needs to be bound by its
// tensor cores. So the kernel reads the weights once, at the copy rate, and hides all else. The few
// rows or columns are the tokens.
//
// Up to 8 tokens (skinny_registers.cuh):
// 1. Weights go from memory to registers, 16 bytes a lane, 8 loads at once: 4 KB a warp, 64 KB on
//    an SM with 16 warps, where Little's law asks 22 KB (4.8 TB/s · 600 ns / 132). The next 8 are
//    in flight while these are multiplied. They bypass L1, since nobody reads them again.
// 2. mma.sync takes the weights as its 16 rows and the tokens as its 8 columns. A sum over k may
//    take k in any order, so a lane's 16 bytes serve as loaded: eight neighbouring k of a row of
//    weights and the same eight of a token are the lane's operands of two instructions
//    (weights_operand in layout.cuh). Weights stored by rows of k ([k,n]): a lane loads eight k of
//    eight neighbouring columns and pairs the k with byte permutations: 16 for 8 loads, beside 8
//    instructions or more.
// 3. The 8 warps of a block take the blocks of 32 k round-robin, so together they read 512
//    neighbouring bytes of each row; their sums are added in shared memory. Tokens come from L1:
//    all blocks read the same, and the blocks of an SM share them.
//
// More tokens (skinny_ring.cuh). A block of R rows of weights reads T tokens for each of its k, so
// L2 sends 1 + T/R times the bytes of the weights. Registers hold 16 to 64 rows: 64 tokens would be
// twice the weights' bytes, more than L2 gives beside DRAM. A lane would also wait for the tokens
// that it loads.
// 4. Weights and tokens go by cp.async through a ring in shared memory, which all warps of a block
//    read with ldmatrix: the tile of gemm.mma_sync (mma_tile.cuh), with the tokens as its rows. 128
//    rows of weights make 1.5 times the weights' bytes at 64 tokens, 1.25 at 32.
// 5. The rings hold 192 to 216 KiB an SM, with 64 to 128 KiB of weights in flight, so DRAM is busy
//    while a block waits at a barrier. Lines of 256 bytes (tile_k 128) read more of a row at once;
//    a tile of 64 such rows reads as much as one of 128 rows with half the k.
// 6. Tiles have 64 rows where the weights have so few that tiles of 128 would leave SMs idle.
// 7. Tokens stored by rows of k (few columns of B, [k,n]) are read in place, through
//    ldmatrix.trans: a transposed copy would be one more launch.
// 8. Rows of C that are tokens are stored 16 bytes an access. Where rows of C are weights, eight
//    tokens are stored in one sector: 1/k of the weights' bytes for each token, which is hidden.
//
// Where there is wgmma, for any number of tokens:
// 9. With one warp a scheduler, repeated reads of 64 tokens from shared memory are no longer hidden
//    behind the weights. gemm.wgmma's tiles of 64 tokens (wgmma_kernel.cuh) read nothing into
//    registers, and TMA keeps 64 to 112 KB of weights in flight to each SM. Missing tokens cost
//    nothing.
//
// For any number of tokens: where rows of weights give fewer blocks than SMs, parts of k go to
// different blocks (split_k). The block of the last part adds the others' sums, in order: 8 bytes
// more for each part of a result, so 4·T/k of the weights' bytes a part, in L2, and three trips
// there: until sums are written, seen and read. A second kernel would take longer to start.
//
// cp.async takes rows and addresses at multiples of 16 bytes. Other operands are read by registers,
// element by element, for any number of tokens: a copy to such rows would read the weights twice
// and write them once. A stored by rows of k is transposed first.
//
// Bytes from DRAM: the weights once. From L2: the weights once, and the tokens once a block.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/passes.hpp"
#include "kernels/gemm/skinny.hpp"
#include "kernels/gemm/tiles_of_types.hpp"

namespace roofcast::cuda::gemm {
namespace {

using roofcast::gemm::tensor::kMostTokens;
using roofcast::gemm::tensor::kTileLineBytes;
using roofcast::gemm::tensor::Stored;
using roofcast::gemm::tensor::stored_a;
using roofcast::gemm::tensor::stored_b;
using roofcast::gemm::tensor::skinny::along_k;
using roofcast::gemm::tensor::skinny::as_wgmma;
using roofcast::gemm::tensor::skinny::kWgmmaRows;
using roofcast::gemm::tensor::skinny::of_wgmma;
using roofcast::gemm::tensor::skinny::tokens_of;
using roofcast::gemm::tensor::skinny::transposes;
using roofcast::gemm::tensor::skinny::weights_in_b;
using skinny_kernels::CompiledTile;
using skinny_kernels::Skinny;

const TilesOfTypes<CompiledTile>& compiled_tiles() {
  static const TilesOfTypes<CompiledTile> all = {skinny_kernels::bf16_tiles(),
                                                 skinny_kernels::fp16_tiles()};
  return all;
}

/// The problem with kTransposedB saying how the weights are stored.
Problem by_weights(const Problem& p) {
  return with_layout(p, along_k(p));
}
const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(compiled_tiles().tiles, by_weights(p));
}

constexpr int kElement = 2;  // bytes

/// An operand, by its position among the inputs: as it is stored, and as the kernel reads it.
struct Operand {
  Stored from, read;
  bool transposed;  ///< the kernel reads a transposed copy
};
/// `across`: tokens stored by rows of k are read in place.
Operand operand_of(const Problem& p, std::size_t input, bool across) {
  const Stored from = input == 0 ? stored_a(p) : stored_b(p);
  const bool transposed = input == 0 ? p[kTransposedA] != 0 : transposes(p) && !across;
  if (!transposed) return {from, from, false};
  return {from, {from.columns, from.rows, padded_row(from.rows, kElement)}, true};
}
MatrixView view_of(const Problem& p, const Stored& from, const void* data) {
  return {data,
          from.row,
          static_cast<int>(from.rows),
          static_cast<int>(from.columns),
          kElement,
          static_cast<int>(p[kBatch])};
}

Skinny skinny_of(const Problem& p, bool across) {
  const Shape s = shape_of(p);
  const Stored a = operand_of(p, 0, across).read, b = operand_of(p, 1, across).read;
  const auto parts = static_cast<int>(p[kSplitK]);
  if (weights_in_b(p)) {
    return {s.n, s.m, s.k, b.row, a.row, 1, s.row_c, parts, s.matrices, s.matrix_c, false};
  }
  return {s.m, s.n, s.k, a.row, b.row, s.row_c, 1, parts, s.matrices, s.matrix_c, across};
}

/// A and B as the kernel reads them: where they are stored, or their transposed copies.
using Inputs = std::array<const void*, 2>;
bool aligned(const Inputs& at) {
  return multiple_of(kChunkBytes, at[0], 0) && multiple_of(kChunkBytes, at[1], 0);
}
/// Whether tokens stored by rows of k are read in place.
bool reads_across(const Problem& p, const Inputs& at) {
  return transposes(p) && find_compiled(p)->of_ring && aligned(at) &&
         skinny_of(p, true).whole_rows();
}
/// Whether the kernel may read 16 bytes an access.
bool reads_chunks(const Problem& p, const Skinny& s, const Inputs& at) {
  return aligned(at) && (find_compiled(p)->of_ring ? s.whole_rows() : s.whole_vectors(along_k(p)));
}

/// Bytes of the workspace for parts of k, enough for operands at any address: operands off 16 bytes
/// run another kernel, with other tiles.
std::size_t workspace_bytes(const Problem& p) {
  const Skinny skinny = skinny_of(p, false);
  const CompiledTile& tile = *find_compiled(p);
  return std::max(tile.workspace(skinny, false).bytes(), tile.workspace(skinny, true).bytes());
}

/// The launch for operands at multiples of 16 bytes.
Launch launch_of(const Problem& p) {
  const Skinny skinny = skinny_of(p, reads_across(p, {}));
  return find_compiled(p)->launch(skinny, reads_chunks(p, skinny, {}));
}

/// Whether gemm.wgmma runs the problem.
bool by_wgmma(const Problem& p) {
  return of_wgmma(p) && device_is(9, 0);
}

/// All tiles, including those that only gemm.wgmma has.
const std::vector<Problem>& configurations() {
  static const std::vector<Problem> all = [] {
    std::vector<Problem> list = compiled_tiles().configurations;
    for (const DType type : {DType::bf16, DType::fp16}) {
      for (const bool along : {false, true}) {
        list.push_back(tensor_configuration(type, kMostTokens, kWgmmaRows[0],
                                            kTileLineBytes / kElement, along, 1));
      }
    }
    return list;
  }();
  return all;
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  if (p.dtype != DType::bf16 && p.dtype != DType::fp16) {
    return "gemm.skinny runs in bf16 and fp16, not " + std::string(name(p.dtype));
  }
  if (tokens_of(p) > p[kTileM]) {
    return "gemm.skinny takes at most tile_m rows of A or columns of B: " +
           std::to_string(p[kTileM]) + " of at most 64; asked for m = " + std::to_string(p[kM]) +
           ", n = " + std::to_string(p[kN]);
  }
  if (by_wgmma(p)) return wgmma().unsupported(as_wgmma(p));
  if (find_compiled(p) == nullptr)
    return not_compiled("gemm.skinny", by_weights(p), compiled_tiles().configurations);
  const std::int64_t steps = ceil_div(p[kK], p[kTileK]);
  if (p[kSplitK] < 1 || p[kSplitK] > steps || p[kSplitK] > kMostBlocksYZ) {
    return "split_k must be from 1 to the steps of " + std::to_string(p[kTileK]) +
           " k: " + std::to_string(steps);
  }
  return fits_device(launch_of(p));
}

Tensors with_scratch(const Problem& p) {
  if (by_wgmma(p)) return wgmma().tensors(as_wgmma(p));
  Tensors all = tensor_tensors(p);
  for (const std::size_t input : {0U, 1U}) {
    // Reserved even where only an address will decide whether the copy is made.
    const Operand one = operand_of(p, input, false);
    if (!one.transposed) continue;
    all.scratch.push_back({p.dtype, static_cast<std::size_t>(p[kBatch] * one.read.elements())});
  }
  if (p[kSplitK] > 1) all.scratch.push_back({DType::fp32, workspace_bytes(p) / sizeof(float)});
  return all;
}

void run_problem(const Problem& p, const Addresses& at, cudaStream_t stream) {
  if (by_wgmma(p)) {
    wgmma().run(as_wgmma(p), at, stream);
    return;
  }
  Inputs read = {at.inputs[0], at.inputs[1]};
  std::size_t next_scratch = 0;
  const auto turn = [&](std::size_t input, bool across) {
    if (!operand_of(p, input, false).transposed) return;
    void* const to = at.scratch[next_scratch++];
    const Operand one = operand_of(p, input, across);
    if (!one.transposed) return;
    copy_transposed(view_of(p, one.from, read[input]), to, one.read.row, stream);
    read[input] = to;
  };
  turn(0, false);
  const bool across = reads_across(p, read);
  turn(1, across);
  Skinny skinny = skinny_of(p, across);
  const CompiledTile& tile = *find_compiled(p);
  const bool chunks = reads_chunks(p, skinny, read);
  if (skinny.parts > 1) {
    skinny.workspace = tile.workspace(skinny, chunks).at(at.scratch[next_scratch]);
  }
  const std::size_t weights = weights_in_b(p) ? 1 : 0;
  tile.run(skinny, {read[weights], read[1 - weights], at.outputs[0]}, chunks, stream);
}

std::vector<Launch> launches(const Problem& p) {
  if (by_wgmma(p)) return wgmma().launches(as_wgmma(p));
  std::vector<Launch> all;
  const bool across = reads_across(p, {});
  for (const std::size_t input : {0U, 1U}) {
    const Operand one = operand_of(p, input, across);
    if (one.transposed) all.push_back(copy_transposed_launch(view_of(p, one.from, nullptr)));
  }
  all.push_back(launch_of(p));
  return all;
}

}  // namespace

KernelEntry skinny() {
  return tensor_entry("gemm.skinny", configurations(), unsupported, with_scratch, launches,
                      run_problem);
}

}  // namespace roofcast::cuda::gemm
