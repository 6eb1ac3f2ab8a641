#include "model/crossover.hpp"

#include <optional>
#include <string>
#include <utility>

namespace roofcast {
namespace {

constexpr double kLess = 0.98;
constexpr std::int64_t kFirst = 16, kLast = 65536, kExact = 16;

double dram_bytes(const Prediction& one) {
  return one.work.dram.total_bytes();
}
double seconds(const Prediction& one) {
  return one.time->expected_s;
}

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

  /// "from seq_q = 208 on". By doubling, then by halving what lies between.
  std::string where(double (*cost)(const Prediction&)) {
    const auto from = first(cost);
    const std::string along(keeps_.parameters()[crossover_.along].name);
    return from ? "from " + along + " = " + std::to_string(*from) + " on"
                : "nowhere up to " + along + " = " + std::to_string(kLast);
  }

 private:
  std::optional<std::int64_t> first(double (*cost)(const Prediction&)) {
    const auto saves = [&](std::int64_t value) {
      return cost(predicted(keeps_, value)) < kLess * cost(predicted(moves_, value));
    };
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

  Prediction predicted(const KernelRef& kernel, std::int64_t value) {
    Problem one = problem_;
    one[crossover_.along] = value;
    check(kernel, one, given_);
    Prediction result = predict(kernel, one, gpu_, assumptions_);
    if (!result.time) throw InputError("this device has no expected times");
    return result;
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
  for (const std::string_view keeps : family.crossover->keep) {
    try {
      Search search(family, keeps, problem, gpu, assumptions);
      std::string note(keeps);
      note.append(" moves fewer DRAM bytes than ").append(family.crossover->moves);
      note.append(" ").append(search.where(dram_bytes));
      note.append(", and takes less time ").append(search.where(seconds));
      notes.push_back(std::move(note));
    } catch (const InputError&) {
      // This device or shape has no such variant: its own answer says why.
    }
  }
  return notes;
}

}  // namespace roofcast
