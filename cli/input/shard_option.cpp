#include "cli/input/shard_option.hpp"

#include <cstdlib>

namespace roofcast::cli {

Option shard_option() {
  return {"shard", "I/N", "only part I of N, from 0 (default: the Slurm array's task)"};
}

validation::Shard read_shard(const Options& options) {
  if (const auto text = options.find("shard")) return validation::parse_shard(*text);
  return validation::slurm_shard([](const char* name) { return std::getenv(name); })
      .value_or(validation::Shard{});
}

}  // namespace roofcast::cli
