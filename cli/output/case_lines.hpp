#pragma once
#include <string>
#include <string_view>

#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cli {

/// The suite's cases that the shard holds, each a line of JSON that `predict --queries` answers;
/// with a GPU's name unless it is empty.
std::string case_lines(const validation::Suite& suite, const validation::Shard& shard,
                       std::string_view gpu);

}  // namespace roofcast::cli
