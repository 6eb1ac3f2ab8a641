// Every member of a plan is set by more than one family: no member exists for one kernel.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

/// The families of which some plan sets a member, by the member's name.
using Setters = std::map<std::string, std::set<std::string_view>>;

class Members {
 public:
  Members(Setters& setters, std::string_view family) : setters_(setters), family_(family) {}

  void add(const Plan& plan) {
    const Launch& launch = plan.launch;
    note("launch", launch.blocks() > 1 || launch.threads() > 1);
    note("needs", !plan.needs.empty());
    note("compute", plan.compute != DType::fp32);
    note("useful", plan.useful.flops() > 0 || plan.useful.conversions > 0);
    note("scheduler", plan.scheduler != TileScheduler::hardware);
    note("blocks", !plan.blocks.empty());
    note("arrays", !plan.arrays.empty());
    note("reuse", !plan.reuse.empty());
    note("raster", plan.raster.has_value());
    note("coalesced", plan.coalesced.bytes > 0 || plan.coalesced.most > 0);
    note("start", plan.start != Start::at_once);
    note("on_chip_bytes", plan.on_chip_bytes > 0);
    note("notes", plan.notes.estimated_traffic || !plan.notes.caveat.empty() ||
                      !plan.notes.traffic_reasons.empty());
    for (const BlockClass& blocks : plan.blocks) {
      for (const Phase& phase : blocks.phases) add(phase);
    }
  }

 private:
  void add(const Phase& phase) {
    note("Phase::repeats", phase.repeats != 1);
    note("Phase::ahead", phase.ahead != 0);
    note("Phase::groups", phase.groups != 0);
    note("Phase::chains", phase.chains != 1);
    const Wavefronts& wavefronts = phase.step.wavefronts;
    note("Wavefronts::shared", wavefronts.shared > 0);
    note("Wavefronts::l1", wavefronts.l1 > 0);
    note("Wavefronts::l1_lookups", wavefronts.l1_lookups > 0);
    note("Wavefronts::operands", wavefronts.operands > 0);
    note("Wavefronts::copies", wavefronts.copies > 0);
    const Waits& waits = phase.step.waits;
    note("Waits::global", waits.global > 0);
    note("Waits::tile_loads", waits.tile_loads > 0);
    note("Waits::shared", waits.shared > 0);
    note("Waits::arithmetic", waits.arithmetic > 0);
    note("Waits::barriers", waits.barriers > 0);
    note("Waits::cluster_exchanges", waits.cluster_exchanges > 0);
  }

  void note(const std::string& member, bool is_set) {
    auto& families = setters_[member];
    if (is_set) families.insert(family_);
  }

  Setters& setters_;
  std::string_view family_;
};

// Required parameters at `size`, and one other parameter at a time at its bounds.
std::vector<Problem> problems_of(const KernelRef& kernel, DType type, std::int64_t size) {
  const auto parameters = kernel.parameters();
  std::vector<Problem> found;
  for (std::size_t changed = 0; changed <= parameters.size(); ++changed) {
    for (const bool most : {false, true}) {
      Problem problem;
      problem.dtype = type;
      unsigned given = 0;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& one = parameters[i];
        if (one.is_text || (one.fallback && i != changed)) continue;
        const std::int64_t value = i == changed ? (most ? one.maximum : one.minimum) : size;
        problem[i] = std::clamp(std::min(value, 4 * size), one.minimum, one.maximum);
        given |= 1U << i;
      }
      try {
        check(kernel, problem, given);
        found.push_back(problem);
      } catch (const InputError&) {
        // Parameters that do not go together.
      }
    }
  }
  return found;
}

Setters setters() {
  Setters found;
  const Gpu& gpu = testing::gpu_named("h200-sxm");
  for (const KernelRef& kernel : testing::all_variants()) {
    for (const DType type : kernel.dtypes()) {
      for (const std::int64_t size : {64, 1000, 4096}) {
        for (const Problem& problem : problems_of(kernel, type, size)) {
          try {
            const Problem whole = with_settings(kernel, problem, gpu);
            for (const auto& [plan, repeats] : kernel.kernel->plan_of(whole, gpu)) {
              EXPECT_GT(plan.launch.registers, 0) << kernel.kernel->name << " is not compiled";
              Members(found, kernel.family->name).add(plan);
            }
          } catch (const InputError&) {
            // The kernel refuses the problem.
          }
        }
      }
    }
  }
  return found;
}

TEST(PlanMembers, EveryMemberIsSetByAtLeastTwoFamilies) {
  const Setters all = setters();
  ASSERT_GE(all.size(), 13U);
  for (const auto& [member, families] : all) {
    EXPECT_GE(families.size(), 2U)
        << member << " is set by " << (families.empty() ? "no family" : *families.begin());
  }
}

// Compiles only while Plan has these members: a new one has to be noted in Members::add, too.
TEST(PlanMembers, AreThirteen) {
  [[maybe_unused]] const auto& [launch, needs, compute, useful, scheduler, blocks, arrays, reuse,
                                raster, coalesced, start, on_chip_bytes, notes] = Plan{};
}

}  // namespace
}  // namespace roofcast
