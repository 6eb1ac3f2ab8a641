#pragma once
// The shard of a search that this task answers.
#include "cli/input/options.hpp"
#include "validation/runs/shard.hpp"

namespace roofcast::cli {

/// The option --shard.
Option shard_option();

/// --shard, else the task of a Slurm job array, else the whole search. Throws as parse_shard and
/// slurm_shard.
validation::Shard read_shard(const Options& options);

}  // namespace roofcast::cli
