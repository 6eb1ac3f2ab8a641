#include "model/crossover.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace roofcast {
namespace {

constexpr double kFewer = 0.98;
constexpr std::int64_t kFirst = 16, kLast = 65536, kExact = 16;

class Search {
 public:
  Search(const KernelFamily& family, std::string_view keeps, const Problem& problem, const Gpu& gpu,
         const Assumptions& assumptions)
      : crossover_(*family.crossover),
        moves_(find_kernel(crossover_.moves)),
        keeps_(find_kernel(keeps)),
        given_((1U << family.parameters.size()) - 1),
        problem_(problem),
        gpu_(gpu),
        assumptions_(assumptions) {
    problem_[crossover_.follows] = *family.parameters[crossover_.follows].fallback;
  }

  /// By doubling, then by halving what lies between.
  std::optional<std::int64_t> first() {
    std::int64_t saved = kFirst;
    while (!saves(saved)) {
      if (saved >= kLast) return std::nullopt;
      saved *= 2;
    }
    std::int64_t not_yet = saved / 2;
    while (saved - not_yet > kExact) {
      const std::int64_t between = (saved + not_yet) / 2 / kExact * kExact;
      if (between <= not_yet) break;
      (saves(between) ? saved : not_yet) = between;
    }
    return saved;
  }

 private:
  double dram_bytes(const KernelRef& kernel, std::int64_t value) {
    Problem one = problem_;
    one[crossover_.along] = value;
    check(kernel, one, given_);
    return predict(kernel, one, gpu_, assumptions_).work.dram.total_bytes();
  }
  bool saves(std::int64_t value) {
    return dram_bytes(keeps_, value) < kFewer * dram_bytes(moves_, value);
  }

  const Crossover& crossover_;
  KernelRef moves_, keeps_;
  unsigned given_;
  Problem problem_;
  const Gpu& gpu_;
  const Assumptions& assumptions_;
};

}  // namespace

std::vector<std::string> crossover_notes(const KernelFamily& family, const Problem& problem,
                                         const Gpu& gpu, const Assumptions& assumptions) {
  std::vector<std::string> notes;
  if (family.crossover == nullptr || !gpu.occupancy) return notes;
  const std::string along(family.parameters[family.crossover->along].name);
  for (const std::string_view keeps : family.crossover->keep) {
    try {
      const auto from = Search(family, keeps, problem, gpu, assumptions).first();
      std::string note =
          from ? "" : "nowhere up to " + along + " = " + std::to_string(kLast) + ": ";
      note.append(keeps).append(" moves fewer DRAM bytes than ").append(family.crossover->moves);
      if (from)
        note.append(" from ")
            .append(along)
            .append(" = ")
            .append(std::to_string(*from))
            .append(" on");
      notes.push_back(std::move(note));
    } catch (const InputError&) {
      // This device or shape has no such variant: its own answer says why.
    }
  }
  return notes;
}

}  // namespace roofcast
