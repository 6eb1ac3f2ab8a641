#pragma once
// The amount of work of each resource and the device's full rate; their quotient is the resource's
// time at full rate.
#include <span>
#include <string>
#include <vector>

#include "cli/output/answer.hpp"
#include "hw_specs/loader.hpp"

namespace roofcast::cli {

struct Formula {
  Resource resource = Resource::launch;
  std::string_view unit;
  double amount = 0;
  double full_rate = 0;  ///< units of `amount` per second; 0: not known
  std::string made_of;   ///< "132 SMs × 256/clk × 1.979 GHz"
  std::string source{};  ///< source of the device's value in `made_of`
  double alone_s = 0;    ///< time of the resource alone, by the laws (s)

  double least_s() const { return full_rate > 0 ? amount / full_rate : 0; }
};

/// A formula for each term of the time with a countable amount; latency, block starts and launches
/// have none. `values` are those of the device, with their sources.
std::vector<Formula> formulas(const Answer& answer, std::span<const specs::SourcedValue> values);

}  // namespace roofcast::cli
