// fit_steps ../shared/reference/training_mpt.csv
// Built with -DROOFCAST_STUDY=ON. Fits the time that software adds to a training step
// (model/transformer/step.cpp) to the rows of even position, and prints the errors of both halves.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "model/constants/steps.hpp"
#include "model/transformer/step.hpp"
#include "validation/calibration/named_rows.hpp"

namespace {

using roofcast::Gpu;
using roofcast::transformer::Architecture;
using roofcast::transformer::KernelForecasts;
using roofcast::transformer::Step;
using roofcast::transformer::Task;

struct Row {
  std::string gpu;
  Architecture model;
  Task task;
  double tokens_per_s = 0;  ///< of all GPUs together
  bool even = false;        ///< its position in the table
};

Row row_of(const roofcast::validation::NamedRow& row) {
  Architecture model;
  model.layers = row.whole("layers");
  model.hidden = row.whole("d_model");
  model.heads = model.kv_heads = row.whole("heads");
  model.head_dim = model.hidden / model.heads;
  model.intermediate = 4 * model.hidden;
  model.vocabulary = 50368;
  model.positions = row.whole("seq_len");
  model.attention_biased = model.feed_forward_biased = model.norm_biased = model.tied = true;
  model.joined_projections = model.calls_flash = true;
  Task task;
  task.batch = row.whole("micro_batch");
  task.seq = row.whole("seq_len");
  task.grad_accum = row.whole("grad_accum");
  if (row["checkpointing"] == "True") {
    task.checkpointing = roofcast::transformer::Checkpointing::full;
  }
  task.fsdp = row.whole("gpus");
  task.prefetch = roofcast::transformer::Prefetch::post;  // as in Composer, which ran these steps
  // The machines with A100s had 1600 Gb/s between them (llm-foundry, scripts/train/benchmarking).
  if (row["gpu"].starts_with("a100")) task.network_bytes_per_s = 25e9;
  return {row["gpu"], model, task,
          row.real("tokens_per_s_per_gpu") * static_cast<double>(task.fsdp), row.even()};
}

/// Rows in bf16 without CPU offload.
std::vector<Row> read_rows(const char* path) {
  std::vector<Row> rows;
  for (const auto& row : roofcast::validation::named_rows(path, roofcast::specs::read_text(path))) {
    const bool in_scope = row["precision"].ends_with("bf16") && row["cpu_offload"] == "False";
    if (in_scope) rows.push_back(row_of(row));
  }
  return rows;
}

/// A row and its GPU's forecasts, which all rows of that GPU share.
struct Measured {
  Row row;
  KernelForecasts* forecasts;
};

/// Values of the constants that are fitted.
struct Software {
  double attention_share, layer_s;
};

/// Puts them in place of the register's.
void study(const Software& software) {
  namespace constants = roofcast::transformer::constants;
  roofcast::studied_values() = {{constants::kAttentionShare.name, software.attention_share},
                                {constants::kLayerSeconds.name, software.layer_s}};
}

double error(const Measured& one) {
  const Step step = predict_step(one.row.model, one.row.task, *one.forecasts);
  return one.row.tokens_per_s / step.tokens_per_s - 1;
}

double loss(const std::vector<Measured>& rows, const Software& software) {
  study(software);
  double sum = 0;
  for (const Measured& one : rows) {
    if (one.row.even) sum += std::abs(std::log1p(error(one)));
  }
  return sum;
}

/// Grid search: each round narrows the grid around the best point so far.
Software fitted(const std::vector<Measured>& rows) {
  Software best{0.5, 500e-6};
  constexpr int kSteps = 3;
  constexpr int kRounds = 9;
  double width = 1, least = loss(rows, best);
  for (int round = 0; round < kRounds; ++round, width *= 0.6) {
    const Software middle = best;
    for (int i = -kSteps; i <= kSteps; ++i) {
      for (int j = -kSteps; j <= kSteps; ++j) {
        const Software next{std::max(0.0, middle.attention_share + 0.15 * width * i),
                            std::max(0.0, middle.layer_s + 150e-6 * width * j)};
        const double sum = loss(rows, next);
        if (sum >= least) continue;
        least = sum;
        best = next;
      }
    }
  }
  return best;
}

void report(const char* what, const std::vector<Measured>& rows,
            const std::function<bool(const Row&)>& keep) {
  double sum = 0, signed_sum = 0;
  int count = 0;
  for (const Measured& one : rows) {
    if (!keep(one.row)) continue;
    sum += std::abs(error(one));
    signed_sum += error(one);
    ++count;
  }
  if (count == 0) return;
  std::printf("%-32s %3d rows  mean |error| %5.1f%%  mean %+5.1f%%\n", what, count,
              100 * sum / count, 100 * signed_sum / count);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fit_steps training_mpt.csv\n");
    return 2;
  }
  const std::vector<Row> rows = read_rows(argv[1]);
  std::map<std::string, Gpu> gpus;
  std::map<std::string, KernelForecasts> forecasts;
  std::vector<Measured> steps;
  for (const Row& row : rows) {
    if (!gpus.contains(row.gpu)) {
      gpus.emplace(row.gpu, roofcast::specs::load(roofcast::specs::shipped_source(row.gpu)));
      forecasts.emplace(row.gpu, gpus.at(row.gpu));
    }
    steps.push_back({row, &forecasts.at(row.gpu)});
  }
  const Software software = fitted(steps);
  std::printf("attention_share %.4g\nlayer_s %.4g\n", software.attention_share, software.layer_s);
  const auto print = [&](const Software& values) {
    study(values);
    report("even", steps, [](const Row& row) { return row.even; });
    report("odd", steps, [](const Row& row) { return !row.even; });
    for (const auto& known : gpus) {
      const std::string& name = known.first;
      for (const bool large : {false, true}) {
        report((name + (large ? ", odd, machines" : ", odd, 8 GPUs")).c_str(), steps,
               [&](const Row& row) {
                 return !row.even && row.gpu == name && (row.task.fsdp > 8) == large;
               });
      }
      report((name + ", even").c_str(), steps,
             [&](const Row& row) { return row.even && row.gpu == name; });
    }
  };
  print(software);
  std::printf("without software:\n");
  print({0, 0});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_steps: %s\n", error.what());
  return 3;
}
