#include "model/counting/totals.hpp"

namespace roofcast {

Work issued_by_block(const BlockClass& blocks) {
  Work sum;
  for (const Phase& phase : blocks.phases) sum += phase.repeats * phase.step.issued;
  return sum;
}

Work issued_by_launch(const Plan& plan) {
  Work sum;
  for (const BlockClass& blocks : plan.blocks) {
    sum += static_cast<double>(blocks.count) * issued_by_block(blocks);
  }
  return sum;
}

Traffic l2_of_launch(const Plan& plan) {
  Traffic sum;
  for (const BlockClass& blocks : plan.blocks) {
    Traffic block;
    for (const Phase& phase : blocks.phases) block += phase.repeats * phase.step.issued.l2;
    sum += static_cast<double>(blocks.count) * block;
  }
  return sum;
}

Work total_work(const Plan& plan) {
  const Work issued = issued_by_launch(plan);
  Work total = plan.useful;
  total.requested = issued.requested;
  total.l1 = issued.l1;
  total.l2 = issued.l2;
  total.shared_bytes = issued.shared_bytes;
  for (const ArrayUse& use : plan.arrays) {
    total.compulsory += use.compulsory;
    total.dram_footprint += use.footprint;
  }
  return total;
}

double issued_instructions(const Plan& plan) {
  double sum = 0;
  for (const BlockClass& blocks : plan.blocks) {
    for (const Phase& phase : blocks.phases) {
      sum += static_cast<double>(blocks.count) * phase.repeats * phase.step.warp_instructions;
    }
  }
  return sum;
}

Traffic shared_by(const Traffic& total, double parts) {
  return {total.read_bytes / parts, total.write_bytes / parts};
}

}  // namespace roofcast
