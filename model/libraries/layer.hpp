#pragma once
// What a transformer does beside its products, attention and experts, as frameworks launch it: what
// each operation moves (layer_operations.hpp), how a launch's threads go over it (layer_walks.cpp),
// and the launches of an operation (layer.cpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::layer {

/// Positions in Problem. `kOf` is what an operation has further: entries of a table, experts a
/// token.
enum Parameter : std::size_t { kRows, kCols, kPass, kForm, kOf };
enum Pass : std::int64_t { kForward, kBackward };
enum Form : std::int64_t { kFused, kEager };

/// Matrices of rows × cols that a launch reads or writes: in the kernel's type, in fp32, and of
/// bytes.
struct Arrays {
  double typed = 0, single = 0, bytes = 0;
  constexpr double bytes_of_element(DType type) const {
    return typed * size_bytes(type) + single * sizeof(float) + bytes;
  }
};

/// How threads go over the matrix.
enum class Walk : unsigned char {
  elements,    ///< 16 B of the type a thread
  part_sums,   ///< a thread an element of sums over rows by their index, each of ten rows at most
  table_sums,  ///< a thread an element of the table, for which it adds up those sums
  rows,        ///< a block a row, which it adds up
  columns,     ///< a block 32 columns, which it adds up
  chunks       ///< blocks of 65536 elements, 320 a launch: PyTorch's multi_tensor_apply
};

/// A table of `of` rows as wide as the matrix, rows of which are drawn.
enum class Table : unsigned char { none, looked_up, zeroed, written, added_to };

/// One launch.
struct Movement {
  Walk walk = Walk::elements;
  Arrays reads{}, writes{};
  double flops = 0, special = 0;  ///< of an element
  double launches = 1;            ///< alike, one after the other
  double sweeps = 1;              ///< rows: times that a block reads its row
  double parameters = 0;          ///< vectors of cols that every row reads: γ, β
  Traffic row{};                  ///< bytes of a row beside: indices, moments
  Traffic row_of{};               ///< the same for each of `of`
  double flops_of = 0;            ///< of an element for each of `of`
  Table table = Table::none;
  bool follows = false;  ///< reads what the launch before has written
  /// rows: of a block's threads, each `together` elements at once. 0: as many as hold the row in
  /// vectors of 16 B.
  std::int64_t threads = 0, together = 0;
  std::int64_t at_once = 4;        ///< rows: accesses of a thread before it uses the first
  std::int64_t rows_of_block = 1;  ///< rows: beside each other
  double chain = 0;                ///< rows: operations of an element that depend on each other
  double of_thread = 60;           ///< rows: instructions for index, reductions, ends
  double exchanged = 0;            ///< rows: wavefronts of shared memory
  Waits joined{.shared = 10, .barriers = 2};  ///< rows: of a row's reductions
  /// columns: rows that a thread reads before it adds them up. 1: a barrier before and after each.
  std::int64_t tall = 1;
  double instructions = 0;   ///< of an element beside its arithmetic
  double widened = 0;        ///< of an element: conversions from and to double precision
  double doubles = 0;        ///< of an element: operations in double precision
  double most_elements = 0;  ///< of a launch, where there is a bound: more take further ones
  std::int64_t registers = 32;

  template <typename Value>
  constexpr Movement with(Value Movement::*member, std::type_identity_t<Value> value) const {
    Movement changed = *this;
    changed.*member = value;
    return changed;
  }

  constexpr Movement times(double count) const { return with(&Movement::launches, count); }
  constexpr Movement after() const { return with(&Movement::follows, true); }
  constexpr Movement swept(double count) const { return with(&Movement::sweeps, count); }
  constexpr Movement beside(const Traffic& of_row) const { return with(&Movement::row, of_row); }
  constexpr Movement scaled() const { return with(&Movement::parameters, 1); }
};

using Launches = std::initializer_list<Movement>;

/// Indices up to which PyTorch adds an embedding's gradients unsorted.
inline constexpr std::int64_t kMostUnsorted = 3072;

/// A constant: the lists live as long as the variable that they were written for.
struct Operation {
  Launches fused, fused_backward{};
  Launches eager{}, eager_backward{};  ///< empty: as fused
  Launches sorted_backward{};          ///< of more rows than kMostUnsorted, if any
};

inline constexpr double kChunk = 65536;  ///< elements of a block of Walk::chunks

/// A launch on its matrix.
struct Counted {
  const Movement& movement;
  DType type;
  double rows, cols, of;

  double elements() const;    ///< of what has no matrix, rows
  double parts() const;       ///< rows of sums that part_sums leaves
  double row_splits() const;  ///< parts of the rows, each of a block of kNormParts
  double row_bytes() const { return cols * size_bytes(type); }
  double flops() const { return movement.flops + movement.flops_of * of; }
  double drawn_bytes() const { return expected_distinct(of, rows) * row_bytes(); }
  Traffic of_row() const { return movement.row + of * movement.row_of; }
  Traffic of_elements() const;
  Traffic bytes() const;  ///< what the launch moves, each byte once
  Traffic asked() const;  ///< what its threads ask for: drawn rows, and parameters, each time
  Work work() const;      ///< FLOPs of the launch
};

/// The launch by its walk, without arrays.
Plan plan_of(const Counted& one);

/// The launches on the problem's rows and columns, one after the other.
LaunchSequence plan_of(const Launches& launches, const Problem& problem, const Gpu& gpu);

/// Tokens of a chunk, by Liger-Kernel's fused linear cross-entropy (arXiv 2410.10989, section 3.2):
/// as many as make a chunk's logits about as large as the layer's input, the next power of two.
std::int64_t loss_chunk(std::int64_t tokens, std::int64_t vocabulary, std::int64_t hidden);

enum LossParameter : std::size_t { kHidden = 3, kLossTileM, kLossTileN };
inline constexpr std::array<std::size_t, 2> kLossTile = {kLossTileM, kLossTileN};

LaunchSequence plan_linear_loss(const Problem& problem, const Gpu& gpu);
std::vector<Problem> linear_loss_candidates(const Problem& problem, const Gpu& gpu);
Work linear_loss_work(const Problem& problem);
IoComplexity linear_loss_io(const Problem& problem, double compulsory_bytes, double on_chip_bytes);

extern const KernelFamily kFamily;

}  // namespace roofcast::layer
