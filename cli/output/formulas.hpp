#pragma once
// What each resource has to do, and how much of it the device does at its best: the numbers that
// the laws divide.
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
  double full_rate = 0;  ///< a second; 0: the device does not say
  std::string made_of;   ///< "132 SMs × 256/clk × 1.979 GHz"
  std::string source{};  ///< of its constant
  double alone_s = 0;    ///< as the laws have it

  double least_s() const { return full_rate > 0 ? amount / full_rate : 0; }
};

/// One for each term of the time that has an amount. `values` are those of the device.
std::vector<Formula> formulas(const Answer& answer, std::span<const specs::SourcedValue> values);

}  // namespace roofcast::cli
