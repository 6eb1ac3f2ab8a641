#include "cli/commands/advice.hpp"

#include <algorithm>

#include "cli/input/options.hpp"

namespace roofcast::cli {
namespace {

/// The positions in `all` that the request lets vary.
std::vector<std::size_t> varied(const KernelRef& kernel, const std::vector<std::size_t>& all,
                                const AdviceRequest& request) {
  if (!request.varied) return all;
  std::vector<std::size_t> found;
  for (const std::size_t position : all) {
    const auto name = kernel.parameters()[position].name;
    if (std::find(request.varied->begin(), request.varied->end(), name) != request.varied->end()) {
      found.push_back(position);
    }
  }
  return found;
}

void check_varied(const KernelRef& kernel, const AdviceRequest& request) {
  if (!request.varied) return;
  std::vector<std::string_view> known;
  for (const auto& positions : {extents_of(kernel), settings_of(kernel)}) {
    for (const std::size_t position : positions) {
      known.push_back(kernel.parameters()[position].name);
    }
  }
  for (const std::string& word : *request.varied) one_of("--vary", word, known);
}

AdviceAnswer advice_on_variant(const Question& question, const AdviceRequest& request) {
  const KernelRef& kernel = question.kernel;
  check_varied(kernel, request);
  const AdviceOptions options{request.within, varied(kernel, extents_of(kernel), request),
                              request.smaller};
  AdviceAnswer answer{kernel, question.problem, &question.gpu, options};
  const std::vector<std::size_t> settings = varied(kernel, settings_of(kernel), request);
  if (!is_product(kernel) || !settings.empty()) {
    answer.settings = advise_settings(question, settings);
  }
  const bool found = answer.settings && !answer.settings->faster.empty();
  answer.advice =
      advise_shapes(found ? question.with(answer.settings->best().problem) : question, options);
  return answer;
}

bool is_faster(const Candidate& a, const Candidate& b) {
  if (!a.prediction || !b.prediction) return a.prediction.has_value() && !b.prediction;
  return a.prediction->time->expected_s < b.prediction->time->expected_s;
}

}  // namespace

AdviceAnswer advice_on(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                       const Assumptions& assumptions, const AdviceRequest& request) {
  if (kernel.kernel != nullptr) {
    return advice_on_variant({kernel, problem, gpu, assumptions}, request);
  }
  const unsigned given = (1U << kernel.parameters().size()) - 1;
  std::vector<Candidate> variants;
  for (const KernelModel& model : kernel.family->variants) {
    const KernelRef variant{kernel.family, &model};
    Candidate row{variant, problem, &gpu, {}, {}};
    try {
      check(variant, row.problem, given);
      row.prediction =
          advise_settings({variant, row.problem, gpu, assumptions}, settings_of(variant)).best();
    } catch (const InputError& error) {
      row.refusal = error.what();
    }
    variants.push_back(std::move(row));
  }
  std::stable_sort(variants.begin(), variants.end(), is_faster);
  const Candidate& fastest = variants.front();
  if (!fastest.prediction) throw InputError(fastest.refusal);
  AdviceAnswer answer =
      advice_on_variant({fastest.kernel, fastest.problem, gpu, assumptions}, request);
  answer.variants = std::move(variants);
  return answer;
}

}  // namespace roofcast::cli
