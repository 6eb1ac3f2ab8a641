#pragma once
#include <string>
#include <string_view>

#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cli {

/// The shard's cases of the suite as lines of JSON for `predict --queries`, each with the GPU's
/// name unless it is empty.
std::string case_lines(const validation::Suite& suite, const validation::Shard& shard,
                       std::string_view gpu);

}  // namespace roofcast::cli
