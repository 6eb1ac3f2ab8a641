#pragma once
// Suites of randomly drawn cases: sweeps/random.json, and others with its grammar
// (sweeps/README.md).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "model/types/gpu.hpp"
#include "validation/runs/parameter_value.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {

/// The distribution of a parameter's value.
struct RandomParameter {
  std::size_t position = 0;  ///< in the Problem
  Values values;             ///< all equally likely; empty: log-uniform from `from` to `to`
  std::int64_t from = 1;
  std::int64_t to = 1;
  std::int64_t multiple = 1;               ///< the value is rounded down to a multiple of this
  std::optional<std::size_t> multiple_of;  ///< and of the value of the parameter at that position
};

/// The distribution of problems of one kernel.
struct RandomGroup {
  KernelRef kernel;
  std::vector<DType> dtypes;
  std::vector<RandomParameter> parameters;             ///< those with multiple_of come last
  std::vector<std::vector<RandomParameter>> together;  ///< one set is drawn, all equally likely
  /// Positions of the parameters that decide whether rows begin at multiples of 16 bytes.
  std::vector<std::size_t> aligned;
  std::vector<CacheState> caches;
};

struct RandomSuite {
  std::string name;
  std::string description;
  std::vector<RandomGroup> groups;
};

/// Whether a suite's file asks for a draw. Throws InputError if it cannot be read.
bool is_random_suite(const std::string& file, const std::string& text);

/// Throws InputError with file, pointer and mend.
RandomSuite parse_random_suite(const std::string& file, const std::string& text);

/// Bounds that keep drawn cases fast to measure: the arrays take at most this many bytes, or this
/// share of the device's memory if that is less (steady timing rotates two sets of arrays, and the
/// float64 reference is up to four times as large as the output) …
inline constexpr double kMostDrawnBytes = 4.0 * (std::int64_t{1} << 30);
inline constexpr double kMostDrawnShare = 1.0 / 8;
/// … and a launch is forecast to take at most this long (s).
inline constexpr double kLongestDrawn_s = 20e-3;

/// Draws `cases` distinct problems that the device can run. Families of kernels alternate; every
/// second case of a family breaks the alignment. A refused problem is drawn again, so that devices
/// differ only in such cases. Families of which the device can run nothing are left out. Throws
/// InputError if none is left, if a family runs out of problems, or if the GPU has no expected
/// times.
Suite draw_suite(const RandomSuite& suite, std::int64_t seed, std::size_t cases, const Gpu& gpu);

}  // namespace roofcast::validation
