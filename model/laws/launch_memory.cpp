#include "model/laws/launch_memory.hpp"

#include <algorithm>
#include <vector>

#include "model/laws/chain_reuse.hpp"
#include "model/laws/feasibility.hpp"
#include "model/laws/l2_reuse.hpp"

namespace roofcast {

LaunchMemory launch_memory(const LaunchSequence& program, std::size_t position,
                           const Occupancy& occupancy, CacheState cache, const Gpu& gpu) {
  const Plan& plan = program[position].plan;
  const std::vector<ChainReuse> chain = chain_reuse(program, position, cache);
  const bool reads_new_data =
      std::any_of(plan.arrays.begin(), plan.arrays.end(), [&](const ArrayUse& use) {
        return use.compulsory.read_bytes > 0 && !used_before(program, position, use.array);
      });
  double warm_bytes = 0;
  for (const ChainReuse& reuse : chain) {
    if (!reuse.from_before) continue;
    warm_bytes +=
        reuse.bytes.read_bytes * (1 - l2_miss_share(reuse.distance_bytes, Readers::one, gpu));
  }
  LaunchMemory memory;
  if (reads_new_data) {
    memory.new_share = cache == CacheState::steady ? lost_of_small(memory_bytes(program), gpu) : 1;
  }
  memory.back_to_back = back_to_back(cache);
  memory.warm_bytes = warm_bytes;
  memory.early_bytes = written_back_early_bytes(plan, occupancy, gpu);
  memory.misses = l1_misses(plan, occupancy, gpu);
  memory.l2 = l2_traffic(plan, memory.misses);
  memory.dram = dram_traffic({plan, occupancy, chain, memory.misses, memory.early_bytes}, gpu);
  if (cache == CacheState::steady && memory.dram.read_bytes > 0) {
    double compulsory = 0;
    for (const ArrayUse& use : plan.arrays) compulsory += use.compulsory.read_bytes;
    const double all = memory.dram.read_bytes;
    memory.dram.read_bytes =
        std::min(all, std::max(compulsory, lost_between_rounds(plan, memory.dram, gpu) * all));
  }
  return memory;
}

}  // namespace roofcast
