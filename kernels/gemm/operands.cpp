#include "kernels/gemm/operands.hpp"

#include <utility>

#include "kernels/common/error.hpp"
#include "kernels/gemm/passes.hpp"

namespace roofcast::cuda::gemm {
namespace {

using roofcast::gemm::kVectorBytes;
using roofcast::gemm::tensor::Stored;
using roofcast::gemm::tensor::stored_a;
using roofcast::gemm::tensor::stored_b;

enum class Copy { none, rows, transposed };

/// An operand and the copy that it needs.
struct Operand {
  MatrixView from;
  Copy copy = Copy::none;

  std::int64_t copied_rows() const { return copy == Copy::rows ? from.rows : from.columns; }
  std::int64_t copied_row() const {
    return padded_row(copy == Copy::rows ? from.columns : from.rows, from.size);
  }
  std::int64_t copied_stride() const { return copied_rows() * copied_row(); }
  std::size_t copied_elements() const {
    return static_cast<std::size_t>(from.count * copied_stride());
  }
};

Operand operand(const Problem& p, const Stored& matrix, bool transposed, const void* data) {
  const MatrixView from = {data,
                           matrix.row,
                           static_cast<int>(matrix.rows),
                           static_cast<int>(matrix.columns),
                           static_cast<int>(size_bytes(p.dtype)),
                           static_cast<int>(p[kBatch])};
  if (transposed) return {from, Copy::transposed};
  return {from, multiple_of(kVectorBytes, data, from.row * from.size) ? Copy::none : Copy::rows};
}
Operand operand_a(const Problem& p, const void* a) {
  return operand(p, stored_a(p), p[kTransposedA] != 0, a);
}
Operand operand_b(const Problem& p, bool b_along_k, const void* b) {
  return operand(p, stored_b(p), b_along_k && p[kTransposedB] == 0, b);
}

}  // namespace

void add_operand_scratch(Tensors& tensors, const Problem& p, bool b_along_k) {
  for (const Operand& one : {operand_a(p, nullptr), operand_b(p, b_along_k, nullptr)}) {
    if (one.copy != Copy::none) tensors.scratch.push_back({p.dtype, one.copied_elements()});
  }
}

std::vector<Launch> operand_launches(const Problem& p, bool b_along_k) {
  std::vector<Launch> launches;
  for (const Operand& one : {operand_a(p, nullptr), operand_b(p, b_along_k, nullptr)}) {
    if (one.copy == Copy::rows) launches.push_back(copy_rows_launch(one.from));
    if (one.copy == Copy::transposed) launches.push_back(copy_transposed_launch(one.from));
  }
  return launches;
}

struct Operands::Memory {
  Memory(std::size_t bytes, cudaStream_t on) : stream(on) {
    check(cudaMallocAsync(&data, bytes, stream));
  }
  Memory(Memory&& other) noexcept
      : data(std::exchange(other.data, nullptr)), stream(other.stream) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data != nullptr) (void)cudaFreeAsync(data, stream);
  }

  void* data = nullptr;
  cudaStream_t stream;
};

Operands::Operands(const Problem& p, bool b_along_k, const Addresses& at, cudaStream_t stream) {
  const auto prepared = [&](const Operand& asked, Copy foreseen) -> Rows {
    void* to = foreseen == Copy::none ? nullptr : at.scratch[next_scratch_++];
    if (asked.copy == Copy::none) {
      return {asked.from.data, asked.from.row, asked.from.rows * asked.from.row};
    }
    // Scratch need not be aligned either.
    if (to == nullptr || reinterpret_cast<std::uintptr_t>(to) % kVectorBytes != 0) {
      memory_.emplace_back(asked.copied_elements() * static_cast<std::size_t>(asked.from.size),
                           stream);
      to = memory_.back().data;
    }
    const auto copy = asked.copy == Copy::rows ? copy_rows : copy_transposed;
    copy(asked.from, to, asked.copied_row(), stream);
    return {to, asked.copied_row(), asked.copied_stride()};
  };
  a_ = prepared(operand_a(p, at.inputs[0]), operand_a(p, nullptr).copy);
  b_ = prepared(operand_b(p, b_along_k, at.inputs[1]), operand_b(p, b_along_k, nullptr).copy);
}
Operands::~Operands() = default;

Shape Operands::shape(const Problem& p) const {
  Shape shape = shape_of(p);
  shape.row_a = a_.row, shape.matrix_a = a_.stride;
  shape.row_b = b_.row, shape.matrix_b = b_.stride;
  return shape;
}

}  // namespace roofcast::cuda::gemm
