#pragma once
// Suites whose cases are drawn: sweeps/random.json, and others of its grammar (sweeps/README.md).
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

/// What a parameter's value is drawn from.
struct RandomParameter {
  std::size_t position = 0;  ///< in the Problem
  Values values;             ///< all equally likely; empty: log-uniform from `from` to `to`
  std::int64_t from = 1;
  std::int64_t to = 1;
  std::int64_t multiple = 1;               ///< the value is rounded down to a multiple of this
  std::optional<std::size_t> multiple_of;  ///< and of the value at that position
};

/// Problems of one kernel.
struct RandomGroup {
  KernelRef kernel;
  std::vector<DType> dtypes;
  std::vector<RandomParameter> parameters;             ///< those that follow another come last
  std::vector<std::vector<RandomParameter>> together;  ///< one of these sets, all equally likely
  /// Positions of the values that decide whether rows begin on multiples of 16 bytes; none where
  /// nothing does.
  std::vector<std::size_t> aligned;
  std::vector<CacheState> caches;
};

struct RandomSuite {
  std::string name;
  std::string description;
  std::vector<RandomGroup> groups;
};

/// Whether a suite's file asks for a draw. Throws InputError for one that cannot be read.
bool is_random_suite(const std::string& file, const std::string& text);

/// Throws InputError with file, pointer and mend.
RandomSuite parse_random_suite(const std::string& file, const std::string& text);

/// A drawn case is one to be measured in a time worth waiting for: its arrays take at most this
/// many bytes, or this share of the device's memory if that is less (steady timing rotates two sets
/// of arrays, and the float64 reference is up to four times as large as the output) …
inline constexpr double kMostDrawnBytes = 4.0 * (std::int64_t{1} << 30);
inline constexpr double kMostDrawnShare = 1.0 / 8;
/// … and a launch is forecast to take at most this long (s).
inline constexpr double kLongestDrawn_s = 20e-3;

/// `cases` problems that this device takes, each once. Families of kernels take turns, and of the
/// cases of each every second one breaks the alignment. What a kernel refuses is drawn again, so
/// another device gets another case only in such a place. Throws InputError where a family has
/// nothing that the device takes, or less than its share.
Suite draw_suite(const RandomSuite& suite, std::int64_t seed, std::size_t cases, const Gpu& gpu);

}  // namespace roofcast::validation
