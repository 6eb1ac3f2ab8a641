#pragma once
// The kernels of a transformer besides GEMMs, attention and experts, as frameworks launch them: the
// bytes that an operation moves (layer_operations.hpp), how threads map to them (layer_walks.cpp),
// and the launches of an operation (layer.cpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "model/constants/constant.hpp"
#include "model/counting/coalescing.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::layer {

/// Positions in Problem. `kOf` is an operation's own number: table entries, or experts per token.
enum Parameter : std::size_t { kRows, kCols, kPass, kForm, kOf };
enum Form : std::int64_t { kFused, kEager };

/// Numbers of rows × cols matrices read or written: in the kernel's type, in fp32, in bytes.
struct Arrays {
  double typed = 0, single = 0, bytes = 0;
  constexpr double bytes_of_element(DType type) const {
    return typed * size_bytes(type) + single * sizeof(float) + bytes;
  }
};

/// How threads map to the matrix.
/// A table has `of` rows, as wide as the matrix; random rows of it are read or written.
enum class Walk : unsigned char {
  elements,       ///< 16 B of the type per thread
  table_zeros,    ///< likewise: every row of a table is set to zero
  table_rows,     ///< rows of a table: 16 B per thread, or eight elements where rows are off 16 B
  part_sums,      ///< a thread per column sums up to ten rows of equal index
  table_sums,     ///< a thread per table element adds up those sums and writes it
  rows,           ///< a block reduces a row
  columns,        ///< a block reduces 32 columns
  part_columns,   ///< as columns, rows split among blocks
  table_columns,  ///< as columns, summed into rows of a table, with two barriers a step
  chunks          ///< blocks of 65536 elements: PyTorch's multi_tensor_apply
};

/// One kind of launch. A comment that begins with a walk applies to this walk alone.
struct Movement {
  Walk walk = Walk::elements;
  Arrays reads{}, writes{};
  double flops = 0, special = 0;  ///< FLOPs and special functions per element
  double launches = 1;            ///< equal launches, one after the other
  double sweeps = 1;              ///< rows: sweeps of a block over its row
  double parameters = 0;          ///< vectors of cols elements that every row reads: γ, β
  Traffic row{};                  ///< additional bytes per row: indices, moments
  Traffic row_of{};               ///< additional bytes per row for each of `of`
  double flops_of = 0;            ///< further FLOPs per element for each of `of`
  bool follows = false;           ///< reads the previous launch's output
  /// rows: threads per block, and elements per access of a thread. 0: enough threads to hold the
  /// row in vectors of 16 B. columns: threads per block; 0: by the number of rows.
  std::int64_t threads = 0, together = 0;
  std::int64_t at_once = 4;        ///< rows: accesses in flight per thread
  std::int64_t rows_of_block = 1;  ///< rows: rows that a block processes at once
  double chain = 0;                ///< rows: dependent operations per element
  double of_thread = 60;           ///< rows: instructions per thread for index, reductions, ends
  double exchanged = 0;            ///< rows: wavefronts of shared memory per block
  Waits reduction{.shared = 10, .barriers = 2};  ///< rows: waits of a row's reductions
  std::int64_t tall = 1;     ///< columns: rows that a thread loads before it sums them
  double instructions = 0;   ///< per element, besides its arithmetic
  Work further{};            ///< issued per element, beside `flops` and `special`
  double most_elements = 0;  ///< of a launch; more take further launches. 0: any number
  std::int64_t registers = 32;

  template <typename Value>
  constexpr Movement with(Value Movement::*member, std::type_identity_t<Value> value) const {
    Movement changed = *this;
    changed.*member = value;
    return changed;
  }

  constexpr Movement costing(double each) const { return with(&Movement::instructions, each); }
  /// Reads the registered value: these tables are compile-time constants, which no study overrides.
  constexpr Movement costing(const Constant& each, double share = 1) const {
    return costing(share * each.value);
  }
  constexpr Movement times(double count) const { return with(&Movement::launches, count); }
  constexpr Movement walked(Walk by) const { return with(&Movement::walk, by); }
  constexpr Movement after() const { return with(&Movement::follows, true); }
  constexpr Movement swept(double count) const { return with(&Movement::sweeps, count); }
  constexpr Movement beside(const Traffic& of_row) const { return with(&Movement::row, of_row); }
  constexpr Movement scaled() const { return with(&Movement::parameters, 1); }
};

using Launches = std::initializer_list<Movement>;

/// The launches of an operation. An initializer_list does not own its array: define an Operation
/// only as a constant of a namespace.
struct Operation {
  Launches fused, fused_backward{};
  Launches eager{}, eager_backward{};  ///< empty: as fused
  Launches sorted_backward{};          ///< of an embedding with many rows
};

inline constexpr double kChunk = 65536;  ///< Walk::chunks: elements of a block

/// Equal launches, with the size of their matrix.
struct Counted {
  const Movement& movement;
  DType type;
  double rows, cols, of = 0;
  double launches = movement.launches;

  double elements() const;    ///< elements of the matrix; rows if there is none
  double parts() const;       ///< rows of sums that Walk::part_sums writes
  double row_splits() const;  ///< parts of the rows in kNormParts, one per block
  double row_bytes() const { return cols * size_bytes(type); }
  double flops() const { return movement.flops + movement.flops_of * of; }
  double drawn_bytes() const { return expected_distinct(of, rows) * row_bytes(); }
  Traffic of_row() const { return movement.row + of * movement.row_of; }
  Traffic of_elements() const;
  Traffic bytes() const;  ///< bytes that the launch moves, each once
  Traffic asked() const;  ///< bytes that its threads request, repeats counted
  Work work() const;      ///< FLOPs of the launch
};

/// The launch by its walk, without arrays.
Plan plan_of(const Counted& one);

/// The launches on the problem's rows and columns, in order.
LaunchSequence plan_of(const Launches& launches, const Problem& problem, const Gpu& gpu);

/// Tokens of a chunk in Liger-Kernel's fused linear cross-entropy (arXiv 2410.10989, section 3.2):
/// a chunk's logits are about as large as the layer's input, rounded up to a power of two.
std::int64_t loss_chunk(std::int64_t tokens, std::int64_t vocabulary, std::int64_t hidden);

enum LossParameter : std::size_t { kHidden = kPass + 1, kLossTileM, kLossTileN };
inline constexpr std::array<std::size_t, 2> kLossTile = {kLossTileM, kLossTileN};

LaunchSequence plan_linear_loss(const Problem& problem, const Gpu& gpu);
std::vector<Problem> linear_loss_candidates(const Problem& problem, const Gpu& gpu);
Work linear_loss_work(const Problem& problem);
IoComplexity linear_loss_io(const Problem& problem, double compulsory_bytes, double on_chip_bytes);

extern const KernelFamily kFamily;

}  // namespace roofcast::layer
