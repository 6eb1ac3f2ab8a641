// study_constants FIT.json... --held RUN.json...
// A development tool, built with -DROOFCAST_STUDY=ON. It prints as Markdown the error without each
// fitted constant of the laws, whether the register's values still fit best, and the error of each
// family when no constant is fitted to it. Constants are fitted as the register says: to the cases
// of even index of the FIT runs, by coordinate search of the family-balanced mean |log error|. All
// errors printed are of the RUNs.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "model/constants/laws.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/runs/run_file.hpp"

namespace {

using namespace roofcast;
using validation::Case;

struct Measured {
  const Case* one;
  const Gpu* gpu;
};

/// Means over the cases of each family.
using ByFamily = std::map<std::string, double>;

const Gpu& gpu_named(const std::string& name) {
  static std::map<std::string, Gpu> gpus;
  const auto found = gpus.find(name);
  if (found != gpus.end()) return found->second;
  return gpus.emplace(name, specs::load(specs::shipped_source(name))).first->second;
}

/// Every `step`-th case that has a forecast.
std::vector<Measured> cases_of(const std::vector<validation::Run>& runs, std::size_t step) {
  std::vector<Measured> found;
  for (const validation::Run& run : runs) {
    const Gpu& gpu = gpu_named(run.device.gpu);
    for (std::size_t i = 0; i < run.cases.size(); i += step) {
      try {
        (void)validation::compare_case(run.cases[i], gpu);
        found.push_back({&run.cases[i], &gpu});
      } catch (const InputError&) {  // its kernel or setting no longer exists
      }
    }
  }
  return found;
}

template <class Measure>
ByFamily means(const std::vector<Measured>& cases, const Measure& measure) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const auto& [one, gpu] : cases) {
    const validation::Row row = validation::compare_case(*one, *gpu);
    auto& [sum, count] = sums[row.family];
    sum += measure(row.time_s);
    ++count;
  }
  ByFamily found;
  for (const auto& [family, of] : sums) found[family] = of.first / of.second;
  return found;
}

ByFamily log_errors(const std::vector<Measured>& cases) {
  return means(cases, [](const validation::Pair& time) {
    return std::abs(std::log(time.predicted / time.measured));
  });
}

ByFamily errors(const std::vector<Measured>& cases) {
  return means(cases, [](const validation::Pair& time) { return std::abs(time.error()); });
}

double balanced(const ByFamily& all, const std::string& without = "") {
  double sum = 0, count = 0;
  for (const auto& [family, error] : all) {
    if (family == without) continue;
    sum += error;
    ++count;
  }
  return sum / count;
}

using Values = std::map<std::string_view, double>;

class Search {
 public:
  explicit Search(const std::vector<Measured>& cases) : cases_(cases) {
    for (const Constant& constant : law::kAll) {
      if (constant.source == law::kFit) start_[constant.name] = constant.value;
    }
  }

  const Values& start() const { return start_; }

  /// The constants that fit all families but `family` best.
  Values fit_without(const std::string& family) {
    Values best = start_;
    double least = balanced(at(best), family);
    for (const double factor : {1.3, 1.1}) {
      for (bool better = true; better;) {
        better = false;
        for (const auto& [name, value] : start_) {
          for (const double by : {factor, 1 / factor}) {
            Values tried = best;
            tried[name] *= by;
            const double error = balanced(at(tried), family);
            if (error >= least) continue;
            least = error;
            best = tried;
            better = true;
          }
        }
      }
    }
    return best;
  }

 private:
  const ByFamily& at(const Values& values) {
    const auto found = known_.find(values);
    if (found != known_.end()) return found->second;
    studied_values() = values;
    const ByFamily& errors = known_[values] = log_errors(cases_);
    studied_values().clear();
    return errors;
  }

  const std::vector<Measured>& cases_;
  Values start_;
  std::map<Values, ByFamily> known_;
};

void print_worth(const std::vector<Measured>& held) {
  const ByFamily with = errors(held);
  fmt::print("| without | all families, {:.1f}% with it | most in |\n|---|---:|---|\n",
             100 * balanced(with));
  for (const Constant& constant : law::kAll) {
    if (constant.kind != Constant::Kind::fitted) continue;
    studied_values() = {{constant.name, 0}};  // each is a cost: 0 removes it
    const ByFamily without = errors(held);
    studied_values().clear();
    auto most = without.begin();
    for (auto one = without.begin(); one != without.end(); ++one) {
      if (one->second - with.at(one->first) > most->second - with.at(most->first)) most = one;
    }
    fmt::print("| `{}` | {:.1f}% | {} {:.1f} → {:.1f}% |\n", constant.name, 100 * balanced(without),
               most->first, 100 * with.at(most->first), 100 * most->second);
  }
}

std::string moved_by(const Values& values, const Values& start) {
  std::string moved;
  for (const auto& [name, value] : values) {
    const double factor = value / start.at(name);
    if (factor != 1) moved += fmt::format("{}{} × {:.2f}", moved.empty() ? "" : ", ", name, factor);
  }
  return moved;
}

// Fits anew and prints the error and the constants that changed.
void print_fit(const std::vector<Measured>& fit, const std::vector<Measured>& held) {
  Search search(fit);
  const Values values = search.fit_without("");
  const double before = balanced(errors(held));
  studied_values() = values;
  fmt::print("\nfitted to all: {:.2f}% in place of {:.2f}%; {}\n", 100 * balanced(errors(held)),
             100 * before, moved_by(values, search.start()));
  studied_values().clear();
  std::fflush(stdout);
}

void print_left_out(const std::vector<Measured>& fit, const std::vector<Measured>& held) {
  const ByFamily with = errors(held);
  Search search(fit);
  fmt::print("\n| family | fitted to all | nothing fitted to it | constants that moved |\n");
  fmt::print("|---|---:|---:|---|\n");
  for (const auto& [family, error] : with) {
    const Values values = search.fit_without(family);
    studied_values() = values;
    const double left_out = errors(held).at(family);
    studied_values().clear();
    fmt::print("| {} | {:.1f}% | {:.1f}% | {} |\n", family, 100 * error, 100 * left_out,
               moved_by(values, search.start()));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<validation::Run> fit, held;
  bool is_held = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--held") {
      is_held = true;
      continue;
    }
    auto run = validation::read_run(argv[i]);
    if (!run) throw InputError(std::string(argv[i]) + ": no such run file");
    (is_held ? held : fit).push_back(std::move(*run));
  }
  if (fit.empty() || held.empty()) {
    std::fputs("usage: study_constants FIT.json... --held RUN.json...\n", stderr);
    return 2;
  }
  const std::vector<Measured> of_held = cases_of(held, 1);
  print_worth(of_held);
  const std::vector<Measured> of_fit = cases_of(fit, 2);
  print_fit(of_fit, of_held);
  print_left_out(of_fit, of_held);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "study_constants: %s\n", error.what());
  return 3;
}
