#pragma once
// What a transformer does beside its products, attention and experts, as frameworks launch it: the
// table of what each operation moves, and one builder of plans for all.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

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
  elements,  ///< 16 B of the type a thread
  lone,      ///< an element a thread, which finds its place by the rows' indices
  rows,      ///< a block a row, which it adds up
  columns,   ///< a block 32 columns, which it adds up
  indexed,   ///< four elements a thread one by one, each to a place that an index names
  sorted,    ///< one pass of CUB's radix sort over pairs of a row's index and its place
  chunks     ///< blocks of 65536 elements, 320 a launch: PyTorch's multi_tensor_apply
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
  std::int64_t rows_of_block = 1;  ///< rows
  /// rows: times that the block's threads agree on what they do next; of these, for each doubling
  /// of the columns.
  double rounds = 0, rounds_of_doubling = 0;
  /// columns: rows that a thread reads before it adds them up, among as many threads as PyTorch
  /// takes for so many rows. 1: among 32, which meet before and after.
  std::int64_t tall = 1;
  double chain = 1;         ///< lone, columns: loads each for the address or sum of the next
  double looped = 0;        ///< lone: the same for each row that a thread adds up
  double parts_of = 0;      ///< lone: a sum ends after so many rows; 0: with the table's row
  bool adds_parts = false;  ///< lone: the sums so ended are what it adds up, to the table's rows
  double instructions = 0;  ///< of a thread (lone) or element beside what an element takes
  double widened = 0;       ///< of an element: conversions from and to double precision
  double doubles = 0;       ///< of an element: operations in double precision
  std::int64_t registers = 32;
  std::int64_t least_rows = 0;  ///< with fewer, and more than the most, it is not launched
  std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();
  constexpr bool launched(std::int64_t rows) const {
    return rows >= least_rows && rows <= most_rows;
  }
};

/// A constant: the lists live as long as the variable that they were written for.
struct Operation {
  std::initializer_list<Movement> fused, fused_backward{};
  std::initializer_list<Movement> eager{}, eager_backward{};  ///< empty: as fused

  std::initializer_list<Movement> launches(std::int64_t pass, std::int64_t form) const {
    const auto& other = pass == kBackward ? eager_backward : eager;
    return form == kEager && other.size() > 0 ? other : pass == kBackward ? fused_backward : fused;
  }
};

/// The launches of an operation, for a problem with the positions above.
LaunchSequence plan_of(const Operation& operation, const Problem& problem, const Gpu& gpu);
/// FLOPs and compulsory bytes of the fused form.
Work work_of(const Operation& operation, const Problem& problem);

extern const KernelFamily kFamily;

}  // namespace roofcast::layer
