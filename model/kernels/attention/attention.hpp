#pragma once
#include <array>

#include "model/counting/integers.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::attention {

/// O = softmax(Q·Kᵀ/√d)·V for each query head, or the gradients of Q, K and V from that of O.
/// Matrices are [batch, heads, sequence, head_dim]. Positions in Problem; a variant's own follow.
enum Parameter : std::size_t { kBatch, kHeads, kKvHeads, kSeqQ, kSeqKv, kHeadDim, kCausal, kPass };

inline constexpr std::int64_t kAsTheOther = 0;  ///< kKvHeads: as kHeads; kSeqKv: as kSeqQ
inline constexpr std::array<std::string_view, 2> kCausalNames = {"no", "yes"};
inline constexpr std::array kTypes = {DType::bf16, DType::fp16};
inline constexpr std::int64_t kVectorElements = 8;  ///< in 16 bytes

inline constexpr std::array kShape = {
    roofcast::Parameter{"batch", "sequences", 1, std::int64_t{1} << 20, 1},
    roofcast::Parameter{"heads", "query heads of a sequence", 1, 4096},
    roofcast::Parameter{"kv_heads", "heads of K and V, which divide the query heads; 0: as many",
                        kAsTheOther, 4096, kAsTheOther},
    roofcast::Parameter{"seq_q", "queries of a sequence", 1, std::int64_t{1} << 20},
    roofcast::Parameter{"seq_kv", "keys of a sequence; 0: as many as queries", kAsTheOther,
                        std::int64_t{1} << 24, kAsTheOther},
    roofcast::Parameter{"head_dim", "elements of a head", 8, 256, 128},
    choice("causal",
           "yes: a query sees the keys up to its own place, the last query sees all of them",
           kCausalNames, 0),
    choice("pass", "forward, or backward: dQ, dK and dV from dO and what forward left", kPassNames,
           kForward)};

/// The problem's sizes, with the defaults filled in.
struct Shape {
  /// Throws InputError where kv_heads does not divide heads.
  explicit Shape(const Problem& problem);

  std::int64_t batch, heads, kv_heads, seq_q, seq_kv, head_dim;
  bool causal;
  bool backward;
  DType type;
  double element;  ///< bytes

  std::int64_t group() const { return heads / kv_heads; }  ///< query heads that share a K and V
  /// Number of keys that `query`, counted from 0, sees.
  std::int64_t visible(std::int64_t query) const;
  /// Unmasked scores of one head: S(S+1)/2 where a causal mask is square.
  double pairs() const;
  double rows() const { return as_double(batch * heads) * as_double(seq_q); }
  double scores() const { return as_double(batch * heads) * pairs(); }
  /// Scores of all heads, masked ones included.
  double all_scores() const { return rows() * as_double(seq_kv); }
  /// FLOPs of one matrix product over the scores: S, P·V, or one of the five of backward.
  double product_flops() const { return 2 * scores() * as_double(head_dim); }
  /// Forward has two products, backward five.
  double flops() const { return (backward ? 5 : 2) * product_flops(); }
  /// Bytes of Q, and of O.
  double q_bytes() const { return rows() * row_bytes(); }
  /// Bytes of K, and of V.
  double kv_bytes() const { return as_double(batch * kv_heads * seq_kv) * row_bytes(); }
  double row_bytes() const { return as_double(head_dim) * element; }
  /// Bytes of one fp32 number for each row of scores, such as its log-sum-exp.
  double rows_bytes() const { return rows() * 4; }
};

/// The sizes of a problem that this project's kernels can compute. Throws InputError otherwise: no
/// tensor cores for the type, rows not a multiple of 16 bytes, or a mask that hides every key from
/// a query.
Shape computable_shape(const Problem&, const Gpu&);

/// A variant's own parameter, after the family's. attention.standard: passes over the scores
/// besides softmax. attention.flash2 and attention.flash3: how backward sums dQ. attention.decode:
/// parts of the keys, one block each.
enum OwnParameter : std::size_t { kPasses = 8, kDq = 8, kDecodeSplits = 8 };
enum Passes : std::int64_t {
  kPlain,        ///< forward keeps the log-sum-exp, backward recomputes S
  kMaskDropout,  ///< as unfused frameworks: a mask is added to S, dropout multiplies P, P is kept
};
inline constexpr std::array<std::string_view, 2> kPassesNames = {"plain", "mask_dropout"};
enum DqSum : std::int64_t {
  kAtomic,   ///< blocks of keys add their parts in fp32, in any order
  kTwoPass,  ///< blocks of queries recompute S and dP: deterministic
};
inline constexpr std::array<std::string_view, 2> kDqNames = {"atomic", "two_pass"};

LaunchSequence plan_standard(const Problem&, const Gpu&);
/// Θ(Nd + N²), whatever the size of the fast memory: S, P and their gradients go through memory.
IoComplexity standard_io(const Problem&, double compulsory_bytes, double on_chip_bytes);
LaunchSequence plan_flash2(const Problem&, const Gpu&);
LaunchSequence plan_flash3(const Problem&, const Gpu&);
LaunchSequence plan_decode(const Problem&, const Gpu&);
std::vector<Problem> decode_candidates(const Problem&, const Gpu&);

extern const KernelFamily kFamily;

}  // namespace roofcast::attention
