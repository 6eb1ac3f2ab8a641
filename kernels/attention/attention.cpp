#include "kernels/attention/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/common/tolerance.hpp"
#include "kernels/families.hpp"

namespace roofcast::cuda::attention {
namespace {

using roofcast::attention::kAsTheOther;
using roofcast::attention::kHeadDim;
using roofcast::attention::kHeads;
using roofcast::attention::kKvHeads;
using roofcast::attention::kShape;

/// Rows of a head that share one scale: their errors are relative to the largest value among them.
/// All rows cannot share one: a causal mask leaves early queries fewer keys, and their results are
/// larger by up to √n. A row cannot have its own: a query that sees one key has a gradient of 0.
/// So: the smallest divisor of the sequence from 16 to 256, else the whole sequence.
std::int64_t rows_of_one_scale(std::int64_t sequence) {
  for (std::int64_t rows = 16; rows <= 256; ++rows) {
    if (sequence % rows == 0) return rows;
  }
  return sequence;
}

/// Truncation by tensor cores in a sum of k products, relative to √k: u32·k/6 (gemm::tolerance).
double truncated(double k) {
  return kFp32Roundoff * k / 6;
}

double of_lse(const Shape& s, bool rounded_scores, DType dtype) {
  const auto rows = static_cast<double>(s.batch * s.heads * s.seq_q);
  const auto n = static_cast<double>(s.seq_kv), d = static_cast<double>(s.head_dim);
  // With n = 1 the result is one normal number; else it is ln n + ½ on average, with a deviation of
  // √((e - 1)/n).
  const double largest = std::max(least_largest(rows), std::log(n) + 0.5 - 4 / std::sqrt(n));
  const double score = sum_error(d, d) + truncated(d);
  const double exponents = (4 + 4 + 2 * 16 * std::log(2.0)) * kFp32Roundoff;
  const double fp32 = (score + exponents + sum_error(n, n)) / largest + 2 * kFp32Roundoff;
  // Rounded scores add Σ P·|S|·u; |S| of a row with few keys is no more than its lse and ½.
  return fp32 + (rounded_scores ? 2 * unit_roundoff(dtype) * std::max(1.0, 1 / largest) : 0.0);
}

// Row i of a result is Σ w_j·x_j, with x normal and independent of the weights w, which are P, or
// dS = P∘(dP - D). Each element is normal with deviation √Σw². Relative errors ε_j of w_j make an
// error of deviation √Σ(w·ε)², which relative to the row is the deviation of ε. One rounding has
// deviation u/√3 at most; in fp16 below 2^-14 it has 2^-25/√3, whatever the weight. Weights of mean
// 1/n have the root mean square √e/n (P of normal scores: E[e^2s]/E[e^s]² = e).
//
// Rounded are P before P·V and Pᵀ·dO, and dS before dS·K and dSᵀ·Q. Where scores are stored in the
// type (`rounded_scores`), S and dP are rounded as well. The exponent multiplies the relative error
// of S by S: weighted by P², scores are normal around 2, so E[S²] = 5. Sums and exponentials are
// fp32.
//
// The largest of a row's d elements is above `least` deviations in all groups of rows but once in a
// thousand times; a group's largest is at least that of its row with the largest deviation. The
// result is rounded once.
double of_matrix(const Shape& s, std::size_t output, bool rounded_scores, DType dtype) {
  const auto n = static_cast<double>(s.seq_kv), d = static_cast<double>(s.head_dim);
  const bool over_queries = s.backward && output != kOutDQ;  // dK, dV
  const double queries = static_cast<double>(s.group() * s.seq_q);
  const double u = unit_roundoff(dtype), e = std::numbers::e;
  const double tiny =
      dtype == DType::fp16 && (s.backward || rounded_scores) ? 0x1p-25 * n / std::sqrt(e) : 0.0;
  const bool of_ds = s.backward && output != kOutDV;
  const double scores = rounded_scores ? (of_ds ? 5 + 1 : 5) * u * u : 0.0;
  const double weights = std::sqrt((std::pow(std::max(u, tiny), 2) + scores) / 3);

  const double terms = over_queries ? queries : n;
  const double exponents = (2 * 4 + 2 + 2 * 16 * std::log(2.0)) * kFp32Roundoff;
  const double fp32 =
      sum_error(terms, terms) + truncated(terms) + sum_error(d, d) + truncated(d) + exponents;

  const std::int64_t sequence = over_queries ? s.seq_kv : s.seq_q;
  const auto groups = static_cast<double>(s.batch * (over_queries ? s.kv_heads : s.heads) *
                                          (sequence / rows_of_one_scale(sequence)));
  const double least = std::pow(1e-3 / groups, 1 / d);
  // The deviation of the smallest row: of a query, with n keys; of the last key, by the queries
  // that see it.
  const double smallest =
      over_queries ? std::sqrt(e * (s.causal ? 1 : queries)) / n : std::sqrt(e / n);
  return (6 * weights + fp32) / least + narrowing(dtype, least * std::min(smallest, 1.0));
}

double tolerance_of(const Problem& p, std::size_t output, bool rounded_scores) {
  const Shape s(p);
  if (!s.backward && output == kOutLse) return of_lse(s, rounded_scores, p.dtype);
  return of_matrix(s, output, rounded_scores, p.dtype);
}

}  // namespace

Tensors tensors(const Problem& p) {
  const Shape s(p);
  const auto matrix = [&](std::int64_t heads, std::int64_t sequence) {
    return Tensor{p.dtype, static_cast<std::size_t>(s.batch * heads * sequence * s.head_dim),
                  static_cast<std::size_t>(rows_of_one_scale(sequence) * s.head_dim)};
  };
  const Tensor q = matrix(s.heads, s.seq_q), kv = matrix(s.kv_heads, s.seq_kv);
  const Tensor lse{DType::fp32, static_cast<std::size_t>(s.batch * s.heads * s.seq_q)};
  if (s.backward) return {{q, kv, kv, q, q, lse}, {q, kv, kv}};
  return {{q, kv, kv}, {q, lse}};
}

double tolerance(const Problem& p, std::size_t output) {
  return tolerance_of(p, output, false);
}

double tolerance_of_rounded_scores(const Problem& p, std::size_t output) {
  return tolerance_of(p, output, true);
}

std::string unsupported_shape(const Problem& p) {
  if (p.dtype != DType::bf16 && p.dtype != DType::fp16) {
    return "attention kernels run in bf16 and fp16, not " + std::string(name(p.dtype));
  }
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (p[i] >= kShape[i].minimum && p[i] <= kShape[i].maximum) continue;
    return std::string(kShape[i].name) + " must be from " + std::to_string(kShape[i].minimum) +
           " to " + std::to_string(kShape[i].maximum) + "; asked for " + std::to_string(p[i]);
  }
  if (p[kHeadDim] % 8 != 0) {
    return "head_dim must be a multiple of 8, so that rows are of 16 bytes; asked for " +
           std::to_string(p[kHeadDim]);
  }
  if (p[kKvHeads] != kAsTheOther && p[kHeads] % p[kKvHeads] != 0) {
    return "kv_heads must divide heads: " + std::to_string(p[kKvHeads]) + " does not divide " +
           std::to_string(p[kHeads]);
  }
  const Shape s(p);
  if (s.causal && s.seq_kv < s.seq_q) {
    return "a causal mask leaves the first " + std::to_string(s.seq_q - s.seq_kv) +
           " queries no key: seq_kv must be at least seq_q";
  }
  constexpr std::int64_t kMostRows = std::numeric_limits<int>::max() - 1024;  // room for a tile
  const std::int64_t rows =
      s.batch * std::max(s.heads * s.seq_q, s.kv_heads * s.seq_kv);  // at most 2^20·2^12·2^24
  if (rows > kMostRows) {
    return "batch x heads x sequence must be at most " + std::to_string(kMostRows) + " rows; " +
           "asked for " + std::to_string(rows);
  }
  return {};
}

/// The variants, slowest first.
Entries entries() {
  static const std::array table = {standard(), flash2(), flash3(), decode()};
  return table;
}

}  // namespace roofcast::cuda::attention
