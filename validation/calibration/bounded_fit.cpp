#include "validation/calibration/bounded_fit.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

// Steps in the logarithm of a value.
constexpr double kFirstStep = 0.3;
constexpr double kTolerance = 1e-5;
constexpr int kMostEvaluations = 20000;

struct Search {
  std::span<const Moving> moving;
  Gpu& gpu;
  const std::function<double(const Gpu&)>& cost;
  nlopt_opt optimizer = nullptr;
  std::exception_ptr error{};

  double at(const double* logs) {
    for (std::size_t i = 0; i < moving.size(); ++i) {
      gpu.sustained.*moving[i].member = std::exp(logs[i]);
    }
    return cost(gpu);
  }
};

// No exception may pass through NLopt, which is C.
double cost_at(unsigned /*count*/, const double* logs, double* /*gradient*/, void* data) {
  Search& search = *static_cast<Search*>(data);
  try {
    return search.at(logs);
  } catch (...) {
    search.error = std::current_exception();
    nlopt_force_stop(search.optimizer);
    return HUGE_VAL;
  }
}

}  // namespace

double fit_bounded(std::span<const Moving> moving, Gpu& gpu,
                   const std::function<double(const Gpu&)>& cost) {
  if (moving.empty()) return cost(gpu);
  std::vector<double> logs;
  std::vector<double> least;
  std::vector<double> most;
  for (const Moving& one : moving) {
    if (!(one.least > 0 && one.least <= one.most)) {
      throw InputError("a fit needs bounds above 0, the lower one first: check the datasheet");
    }
    least.push_back(std::log(one.least));
    most.push_back(std::log(one.most));
    logs.push_back(std::log(std::clamp(one.start, one.least, one.most)));
  }
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimizer(
      nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(logs.size())), &nlopt_destroy);
  Search search{moving, gpu, cost, optimizer.get()};
  nlopt_set_lower_bounds(optimizer.get(), least.data());
  nlopt_set_upper_bounds(optimizer.get(), most.data());
  nlopt_set_min_objective(optimizer.get(), &cost_at, &search);
  nlopt_set_initial_step1(optimizer.get(), kFirstStep);
  nlopt_set_xtol_abs1(optimizer.get(), kTolerance);
  nlopt_set_maxeval(optimizer.get(), kMostEvaluations);
  double found = 0;
  const nlopt_result result = nlopt_optimize(optimizer.get(), logs.data(), &found);
  if (search.error) std::rethrow_exception(search.error);
  if (result < 0) throw InputError("the fit did not converge: start from an overlay nearer by");
  return search.at(logs.data());
}

}  // namespace roofcast::validation
