// Answers to a family's name alone: its limit, and where its variants cross over.
#include <string>

#include "model/candidates.hpp"
#include "model/laws/bounds.hpp"

namespace roofcast {
namespace {

constexpr double kLess = 0.98;
constexpr std::int64_t kFirst = 16, kLast = 65536, kExact = 16;

/// The first value that saves, found by doubling and then bisection to multiples of kExact.
template <class Saves>
std::optional<std::int64_t> first_that(const Saves& saves) {
  std::int64_t saved = kFirst;
  while (!saves(saved)) {
    if (saved >= kLast) return std::nullopt;
    saved *= 2;
  }
  std::int64_t not_yet = saved / 2;
  while (saved - not_yet > kExact) {
    const std::int64_t between = (saved + not_yet) / 2 / kExact * kExact;
    (saves(between) ? saved : not_yet) = between;
  }
  return saved;
}

/// The values of Crossover::along from which `keeping` moves over 2% fewer DRAM bytes than
/// Crossover::moves, and from which it takes over 2% less time, all else as in the problem. Throws
/// InputError if the device or shape has no such variant.
std::string crossover_note(const Question& question, std::string_view keeping) {
  const KernelFamily& family = *question.kernel.family;
  const Crossover& crossover = *family.crossover;
  const KernelRef moves = find_kernel(crossover.moves), keeps = find_kernel(keeping);
  const auto predicted = [&](const KernelRef& kernel, std::int64_t value) {
    Problem one = question.problem;
    one[crossover.follows] = *family.parameters[crossover.follows].fallback;
    one[crossover.along] = value;
    check(kernel, one, (1U << family.parameters.size()) - 1);
    Prediction result = predict(kernel, one, question.gpu, question.assumptions);
    require(result.time.has_value(), "this device has no expected times");
    return result;
  };
  const auto where = [&](const auto& cost) {
    const auto from = first_that([&](std::int64_t value) {
      return cost(predicted(keeps, value)) < kLess * cost(predicted(moves, value));
    });
    const std::string_view along = keeps.parameters()[crossover.along].name;
    return from ? message("from ", along, " = ", *from, " on")
                : message("nowhere up to ", along, " = ", kLast);
  };
  const auto dram_bytes = [](const Prediction& one) { return one.work.dram.total_bytes(); };
  const auto seconds = [](const Prediction& one) { return one.time->expected_s; };
  return message(keeping, " moves fewer DRAM bytes than ", crossover.moves, " ", where(dram_bytes),
                 ", and takes less time ", where(seconds));
}

}  // namespace

Prediction predict_family(const Question& question) {
  const KernelFamily& family = *question.kernel.family;
  const Gpu& gpu = question.gpu;
  if (family.work == nullptr) {
    throw InputError(
        message("the kernels of ", family.name,
                " do different work, so the family has no limit of its own: ask for one of ",
                listed(family.variants, [](const KernelModel& one) { return one.name; })));
  }
  Prediction result;
  result.problem = question.problem;
  result.work = family.work(question.problem);
  result.useful_flops = result.work.flops();
  result.work.dram = result.work.compulsory;  // lower bound of every variant
  result.io = family.io(question.problem, result.work.compulsory.total_bytes(),
                        gpu.memory.l2_bytes.value_or(0));
  result.limit = limit(result.work, question.problem.dtype, gpu, question.assumptions.cache);
  if (family.crossover == nullptr || !gpu.occupancy) return result;
  for (const std::string_view keeping : family.crossover->keep) {
    try {
      result.notes.push_back(crossover_note(question, keeping));
    } catch (const InputError&) {  // the variant's own answer says why
    }
  }
  return result;
}

}  // namespace roofcast
