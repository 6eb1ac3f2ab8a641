#pragma once
// A kernel that a user describes in numbers: launch, work, arrays, phases.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "model/expression/expression.hpp"

namespace roofcast::described {

/// Name of the bytes per element of the problem's type.
inline constexpr std::string_view kElementBytes = "element_bytes";

/// A number of a kernel file: a constant, or arithmetic over the kernel's parameters.
class Quantity {
 public:
  Quantity() : Quantity("0") {}
  /// Text for expression::parse over parameters and `element_bytes`. Throws InputError.
  explicit Quantity(std::string_view text, std::span<const std::string> parameters = {});

  /// Throws InputError naming `what` if the value is negative, not finite or over 1e24.
  double value(const Problem& problem, std::string_view what) const;

 private:
  expression::Expression expression_;
  std::vector<std::size_t> positions_;  ///< parameter of each input; kMaxParameters: element_bytes
};

/// How the threads of a warp address an array.
enum class Access : unsigned char {
  contiguous,  ///< one element after the other
  strided,     ///< an element every `stride_bytes`
  gather,      ///< elements at random places of a table of `table_bytes`
  broadcast,   ///< every block reads the same bytes
};

/// Use of one array by the launch. Bytes: of a gather all elements read, of a broadcast once.
struct Array {
  Quantity read_bytes{}, write_bytes{};
  Access access = Access::contiguous;
  Quantity element_bytes{}, stride_bytes{}, table_bytes{};
  bool activation = false;  ///< an earlier kernel has just computed it
};

/// A phase of a block: consecutive equal steps.
struct DescribedPhase {
  Quantity share{"1"};    ///< share of the launch's work; the shares add up to 1
  Quantity repeats{"1"};  ///< steps
  Quantity barriers{};    ///< of each step
  Quantity stages{"1"};   ///< buffers: loads run stages - 1 steps ahead
  /// Dependent round trips to global memory in a step; absent: 1 if the launch reads.
  std::optional<Quantity> loads{};
  Quantity exchanges{};   ///< dependent round trips to shared memory, shuffles included
  Quantity operations{};  ///< length of the longest chain of dependent arithmetic
};

/// A roofcast::Parameter that owns its texts.
struct DescribedParameter {
  std::string name, meaning;
  std::optional<std::int64_t> fallback{};
  std::int64_t minimum = 1;
  std::int64_t maximum = std::int64_t{1} << 40;
  bool is_setting = false;  ///< how the kernel runs, not what it computes
};

/// The contents of the file. Work is of the whole launch.
struct Description {
  std::string name, summary;
  std::vector<DescribedParameter> parameters;
  std::vector<DType> dtypes{DType::fp32};
  /// Blocks, rounded up; absent: one thread per 16 B of the larger of reads and writes.
  std::optional<std::array<Quantity, 3>> grid;
  Quantity threads, registers, shared_bytes;
  Quantity cluster{"1"};
  std::vector<std::pair<DType, Quantity>> flops;  ///< on the SIMT pipes, of one type at most
  std::vector<std::pair<DType, Quantity>> tensor_flops;
  Quantity special_functions, shared_traffic_bytes;
  std::optional<Quantity> instructions;   ///< of threads, loads and stores included
  std::optional<Quantity> l1_read_bytes;  ///< in whole lines per warp access
  std::optional<Quantity> l2_read_bytes, l2_write_bytes;
  std::vector<Array> arrays;
  std::vector<DescribedPhase> phases;  ///< empty: one step
};

/// The kernel for `predict`, alive as long as a copy of the reference. Throws InputError; so does
/// its plan, for a value out of range.
KernelRef make_kernel(Description description);

}  // namespace roofcast::described
