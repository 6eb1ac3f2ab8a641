#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace roofcast::harness {

/// Takes `count` samples under Google Benchmark: each iteration is one call of `sample`, which
/// returns the seconds it measured (manual time). Exceptions of `sample` pass through.
std::vector<double> take_samples(const std::string& name, std::int64_t count,
                                 const std::function<double()>& sample);

}  // namespace roofcast::harness
