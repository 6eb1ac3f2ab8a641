#include <algorithm>

#include "cli/commands/batch_lines.hpp"
#include "cli/commands/collective.hpp"
#include "cli/commands/opening.hpp"
#include "cli/commands/ranking.hpp"
#include "cli/commands/unread_overrides.hpp"
#include "cli/commands/variants.hpp"
#include "cli/input/distinct_files.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kPredictHelp = {
    "  roofcast predict gemm --m 4096 --n 4096 --k 4096 --dtype fp32 --gpu h100-sxm5\n"
    "  roofcast predict gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm --format json\n"
    "  roofcast predict gemm.tiled gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu "
    "v100-sxm2,l40s\n"
    "  roofcast predict stream.copy --n 268435456 --gpu h200-sxm --set sm_count=144\n"
    "  roofcast predict gemm.library --m 4096 --n 4096 --k 4096 --dtype bf16 "
    "--gpu h100-sxm5,a100-sxm4-80gb,l40s \\\n"
    "                   --price h100-sxm5=4.5 --price a100-sxm4-80gb=2 --price l40s=1.2\n"
    "  roofcast predict collective.all_reduce --bytes 64MiB --gpus 8 --gpu h100-sxm5\n"
    "  roofcast predict examples/kernels/swiglu.json --tokens 8192 --gpu h100-sxm5,a100-sxm4-80gb\n"
    "  roofcast predict --queries queries.jsonl > answers.jsonl\n",
    "roofcast predict KERNEL... [options]",
    "Forecasts work, traffic, limit and expected time of a kernel. A family alone (gemm) gives "
    "the\n"
    "limit of the problem and the forecast of every variant. Several kernels or GPUs stand side "
    "by\n"
    "side, --sort and --price order them. `roofcast kernels NAME` lists what a kernel takes. "
    "KERNEL may be a file NAME.json that\n"
    "describes a kernel of your own: examples/kernels/ has eight.\n\n"
    "A query of --queries is a JSON object on a line of its own: the kernel, its parameters, and "
    "what\n"
    "options would say (gpu, dtype, cache, launch, sm_clock_hz, worked_s, set), which they say "
    "for\n"
    "lines that do not:\n"
    "  "
    "{\"kernel\":\"gemm.tiled\",\"m\":512,\"n\":512,\"k\":512,\"dtype\":\"fp32\",\"gpu\":\"h200-"
    "sxm\"}\n"
    "  "
    "{\"kernel\":\"stream.copy\",\"n\":1000000,\"gpu\":\"h200-sxm\",\"launch\":\"graph\",\"set\":{"
    "\"sm_count\":144}}\n"
    "  {\"kernel\":\"collective.all_reduce\",\"bytes\":67108864,\"gpus\":8,\"gpu\":\"h100-sxm5\"}\n"
    "  {\"model\":\"gpt2-xl\",\"phase\":\"train\",\"batch\":8,\"seq\":1024,\"gpu\":\"h100-sxm5\"}\n"
    "A model may be the path of its config.json, which is read; kernel files are named by "
    "--kernel-file.\n"
    "Its answer is what --format json prints for the same question, or {\"error\":…,\"line\":…}."};

std::vector<Option> common_options() {
  std::vector<Option> own = {
      {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
      {"dtype", "TYPE", "element type: fp64, fp32, tf32, fp16, bf16 … (default: fp32)"},
      {"format", "table|json|csv", "output format (default: table); json: an object a line"},
      {"output,o", "FILE", "write there instead of standard output"},
      {"help,h", "", "this text"}};
  const std::vector<Option> ranking = ranking_options();
  own.insert(own.begin() + 2, ranking.begin(), ranking.end());
  return with_forecast_options(std::move(own));
}

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

void warn_of_unread(std::span<const Answered> answers, const Question& question,
                    const Options& options) {
  if (!options.has("set")) return;
  std::vector<Candidate> rows;
  for (const auto& [itself, variants] : answers) {
    rows.push_back(itself);
    rows.insert(rows.end(), variants.begin(), variants.end());
  }
  const std::vector<std::string> devices = read_device_names(options);
  for (const std::string& key : unread_overrides(
           rows, question.gpus, devices, read_device_options(options), question.assumptions)) {
    warn(fmt::format("--set {} changes nothing in this forecast", key));
  }
}

}  // namespace

Manual manual_predict() {
  return {kPredictHelp, with_batch_options(common_options())};
}

ExitCode run_predict(const Arguments& arguments) {
  std::vector<Option> known = common_options();
  const SplitArguments split = split_words(arguments, known);
  if (!split.words.empty() && is_collective(split.words.front())) return run_collective(arguments);
  Question question;
  for (const std::string& word : split.words) question.kernels.push_back(kernel_named(word));
  if (question.kernels.empty()) {
    refuse_batch_option(split.options);
    known = with_batch_options(std::move(known));
  }
  for (auto& option : parameter_options(question.kernels, "N")) known.push_back(std::move(option));
  if (writes_help(arguments, kPredictHelp, known)) return ExitCode::done;
  const Options options = parse_options(split.options, known);
  refuse_output_over_input(options, known, split.words);
  if (question.kernels.empty()) {
    if (options.has("queries")) return answer_batch(options);
    refuse_without_queries(options);
    throw UsageError(
        "which kernel? For example: roofcast predict gemm --m 4096 --n 4096 --k 4096 "
        "--gpu h100-sxm5");
  }
  constexpr std::array<std::string_view, 3> formats = {"table", "json", "csv"};
  const std::string format(one_of("--format", options.get("format", "table"), formats));
  const DeviceOptions device = read_device_options(options);
  question.assumptions = read_assumptions(options);
  const Ranking ranking = read_ranking(options);
  for (const std::string& gpu : read_device_names(options)) {
    question.gpus.push_back(load_device(gpu, device));
  }
  ranking.prices.check_names(names_of(question.gpus));
  std::vector<Answered> answers = answer_all(question, options);
  warn_of_unread(answers, question, options);
  for (const std::string& gpu : rank(answers, ranking)) {
    warn(fmt::format("--price names no price of {}: it stands last", gpu));
  }
  Output output(options.find("output"));
  if (format == "table") {
    output.write(
        table_text(answers, options.has("output") ? Style(false) : Style::of_standard_output()));
  } else {
    write_answers(answers, question, format == "csv", output);
  }
  output.commit();
  return refusals_reported(static_cast<std::size_t>(std::count_if(
      answers.begin(), answers.end(), [](const Answered& one) { return one.refused(); })));
}

}  // namespace roofcast::cli
