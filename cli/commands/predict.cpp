#include <algorithm>

#include "cli/commands/batch_lines.hpp"
#include "cli/commands/collective.hpp"
#include "cli/commands/opening.hpp"
#include "cli/commands/ranking.hpp"
#include "cli/commands/variants.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"
#include "cli/output/same_forecast.hpp"

namespace roofcast::cli {

Manual manual_predict() {
  return {
      .examples =
          "  roofcast predict gemm --m 4096 --n 4096 --k 4096 --dtype fp32 --gpu h100-sxm5\n"
          "  roofcast predict gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm --format json\n"
          "  roofcast predict gemm.tiled gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu "
          "v100-sxm2,l40s\n"
          "  roofcast predict stream.copy --n 268435456 --gpu h200-sxm --set sm_count=144\n"
          "  roofcast predict gemm.library --m 4096 --n 4096 --k 4096 --dtype bf16 --gpu "
          "h100-sxm5,a100-sxm4-80gb,l40s \\\n"
          "                   --price h100-sxm5=4.5 --price a100-sxm4-80gb=2 --price l40s=1.2\n"
          "  roofcast predict collective.all_reduce --bytes 64MiB --gpus 8 --gpu h100-sxm5\n"
          "  roofcast predict examples/kernels/swiglu.json --tokens 8192 --gpu "
          "h100-sxm5,a100-sxm4-80gb\n"
          "  roofcast predict --queries queries.jsonl > answers.jsonl\n",
      .usage = "roofcast predict KERNEL... [options]",
      .about =
          R"(Forecasts work, traffic, limit and expected time of a kernel. A family alone (gemm)
gives the limit of the problem and the forecast of every variant. Several kernels or
GPUs stand side by side, --sort and --price order them. `roofcast kernels NAME` lists
what a kernel takes. KERNEL may be a file NAME.json that describes a kernel of your
own: examples/kernels/ has eight.

A query of --queries is a JSON object on a line of its own: the kernel, its parameters,
and what options would say (gpu, dtype, cache, launch, sm_clock_hz, worked_s, set),
which they say for lines that do not:
  {"kernel":"gemm.tiled","m":512,"n":512,"k":512,"dtype":"fp32","gpu":"h200-sxm"}
  {"kernel":"stream.copy","n":1000000,"gpu":"h200-sxm","launch":"graph","set":{"sm_count":144}}
  {"kernel":"collective.all_reduce","bytes":67108864,"gpus":8,"gpu":"h100-sxm5"}
  {"model":"gpt2-xl","phase":"train","batch":8,"seq":1024,"gpu":"h100-sxm5"}
A model may be the path of its config.json, which is read; kernel files are named by
--kernel-file. Its answer is what --format json prints for the same question, or
{"error":…,"line":…}.)",
      .options = with_batch_options(with_forecast_options(joined(
          {{{"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
            {"dtype", "TYPE", "element type: fp64, fp32, tf32, fp16, bf16 … (default: fp32)"}},
           ranking_options(),
           {{"format", "table|json|csv",
             "output format (default: as the output's name ends, else table); json: an object a "
             "line"},
            {"output,o", "FILE", "write there instead of standard output"},
            {"help,h", "", "this text"}}})))};
}

namespace {

ExitCode answer_batch(const Options& options) {
  const BatchDefaults defaults = read_batch_defaults(options);
  return answer_lines(options.get("queries", "-"), options.find("output"), read_jobs(options),
                      [&defaults] { return Batch(defaults); });
}

struct Question {
  std::vector<KernelRef> kernels;
  std::vector<Gpu> gpus;
  Assumptions assumptions;
};

/// The rows that every format shows; a refused one has its reason. Throws InputError where the only
/// row is refused.
std::vector<Answered> answer_all(const Question& question, const Options& options) {
  std::vector<Answered> answers;
  for (const Gpu& gpu : question.gpus) {
    for (const KernelRef& kernel : question.kernels) {
      answers.push_back(answered(kernel, read_problem(options, kernel), gpu, question.assumptions));
      stop_if_interrupted();
    }
  }
  if (answers.size() == 1 && answers.front().refused()) {
    throw InputError(answers.front().itself.refusal);
  }
  return answers;
}

std::vector<std::string> names_of(std::span<const Gpu> gpus) {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus) names.push_back(gpu.name);
  return names;
}

std::string table_text(std::span<const Answered> answers, const Style& style) {
  std::string text;
  std::vector<Candidate> rows;
  const bool one = answers.size() == 1;
  for (const auto& [itself, variants] : answers) {
    if (one && itself.prediction && !itself.expense) {
      text = answer_text({itself.kernel, *itself.gpu, *itself.prediction}, style);
      if (!variants.empty()) text += '\n';
    } else {
      rows.push_back(itself);
    }
    rows.insert(rows.end(), variants.begin(), variants.end());
  }
  return rows.empty() ? text : text + candidates_text(rows, !one, style);
}

/// The CSV fields cost and most_energy_j, "0.0000012,0.35,"; an unknown one is empty.
std::string expense_fields(const Expense& expense) {
  const auto field = [](const std::optional<double>& figure) {
    return figure ? fmt::format("{},", *figure) : std::string(",");
  };
  return field(expense.cost) + field(expense.most_energy_j);
}

/// JSON: an object per answer, its variants inside. CSV: a row per answer and per variant.
void write_answers(std::span<const Answered> answers, const Question& question, bool csv,
                   Output& output) {
  const bool tells_expense = std::any_of(answers.begin(), answers.end(), [](const Answered& one) {
    return one.itself.expense ||
           std::any_of(one.variants.begin(), one.variants.end(),
                       [](const Candidate& row) { return row.expense.has_value(); });
  });
  CsvWriter table(output.buffer(), parameter_names(question.kernels));
  const auto add = [&](const Candidate& row) {
    if (tells_expense) output.write(expense_fields(row.expense.value_or(Expense{})));
    table.row(row);
  };
  if (csv) {
    if (tells_expense) output.write("cost,most_energy_j,");
    table.header();
  }
  for (const auto& [itself, variants] : answers) {
    if (csv) {
      add(itself);
      for (const Candidate& variant : variants) add(variant);
    } else {
      JsonWriter json(output.buffer());
      write_json(json, itself, variants);
      json.newline();
    }
  }
}

/// Whether a row of the GPU has another forecast on `changed`.
bool differs(std::span<const Candidate> rows, const Gpu& gpu, const Gpu& changed,
             const Assumptions& assumptions) {
  return std::any_of(rows.begin(), rows.end(), [&](const Candidate& row) {
    if (row.gpu != &gpu) return false;
    if (!row.prediction) return true;
    try {
      return !same_forecast(*row.prediction,
                            predict(row.kernel, row.problem, changed, assumptions));
    } catch (const InputError&) {
      return true;
    }
  });
}

/// Warns of each --set that changes no forecast.
void warn_of_unread(std::span<const Answered> answers, const Question& question,
                    const Options& options) {
  if (!options.has("set")) return;
  std::vector<Candidate> rows;
  for (const auto& [itself, variants] : answers) {
    rows.push_back(itself);
    rows.insert(rows.end(), variants.begin(), variants.end());
  }
  const std::vector<std::string> names = read_device_names(options);
  const DeviceOptions device = read_device_options(options);
  for (std::size_t i = 0; i < device.overrides.size(); ++i) {
    DeviceOptions without = device;
    without.overrides.erase(without.overrides.begin() + static_cast<std::ptrdiff_t>(i));
    bool read = false;
    for (std::size_t g = 0; g < names.size() && !read; ++g) {
      read = differs(rows, question.gpus[g], load_device(names[g], without), question.assumptions);
    }
    if (!read) {
      warn(fmt::format("--set {} changes nothing in this forecast", device.overrides[i].key));
    }
  }
}

}  // namespace

ExitCode run_predict(const Arguments& arguments) {
  const Manual manual = manual_predict();
  const SplitArguments split = split_words(arguments, manual.options);
  if (std::any_of(split.words.begin(), split.words.end(), is_collective)) {
    return run_collective(arguments);
  }
  refuse_batch_option(split);
  Question question;
  question.kernels = kernels_named(split.words);
  const Options options = read_options(split, manual, question.kernels);
  if (wants_batch(options, split.words)) return answer_batch(options);
  if (question.kernels.empty()) {
    throw UsageError(
        "which kernel? For example: roofcast predict gemm --m 4096 --n 4096 --k 4096 --gpu "
        "h100-sxm5");
  }
  const std::string_view format = read_format(options, {"table", "json", "csv"});
  question.assumptions = read_assumptions(options);
  const Ranking ranking = read_ranking(options);
  question.gpus = read_devices(options);
  ranking.prices.check_names(names_of(question.gpus));
  std::vector<Answered> answers = answer_all(question, options);
  warn_of_unread(answers, question, options);
  for (const std::string& gpu : rank(answers, ranking)) {
    warn(fmt::format("--price names no price of {}: it stands last", gpu));
  }
  Output output(options.find("output"));
  if (format == "table") {
    output.write(table_text(answers, Style::of_output(options.find("output"))));
  } else {
    write_answers(answers, question, format == "csv", output);
  }
  output.commit();
  return refusals_reported(static_cast<std::size_t>(std::count_if(
      answers.begin(), answers.end(), [](const Answered& one) { return one.refused(); })));
}

}  // namespace roofcast::cli
