#pragma once
// Which part of a search this task answers.
#include "cli/input/options.hpp"
#include "validation/runs/shard.hpp"

namespace roofcast::cli {

/// "shard", for a table of options.
Option shard_option();

/// --shard, else the task of a Slurm job array, else all of it. Throws as parse_shard and
/// slurm_shard.
validation::Shard read_shard(const Options& options);

}  // namespace roofcast::cli
