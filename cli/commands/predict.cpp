#include <algorithm>

#include "cli/commands/batch.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast predict gemm --m 4096 --n 4096 --k 4096 --dtype fp32 --gpu h100-sxm5\n"
    "  roofcast predict gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm --format json\n"
    "  roofcast predict gemm.tiled gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu "
    "v100-sxm2,p100\n"
    "  roofcast predict stream.copy --n 268435456 --gpu h200-sxm --set sm_count=144\n"
    "  roofcast predict --batch queries.jsonl > answers.jsonl\n",
    "roofcast predict KERNEL... [options]",
    "Forecasts work, traffic, limit and expected time of a kernel. A family alone (gemm) gives "
    "the\n"
    "limit of the problem and, in a table, every variant. Several kernels or GPUs stand side by\n"
    "side. `roofcast kernels NAME` lists what a kernel takes."};

std::vector<Option> common_options() {
  std::vector<Option> options = {
      {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
      {"dtype", "TYPE", "element type: fp64, fp32, tf32, fp16, bf16 … (default: fp32)"},
      {"format", "table|json|csv", "output format (default: table); json: an object a line"},
      {"output,o", "FILE", "write there instead of standard output"},
      {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) options.push_back(std::move(option));
  for (auto& option : assumption_options()) options.push_back(std::move(option));
  return options;
}

/// Not among the common ones: kernels have a parameter of that name (attention's batch).
Option batch_option() {
  return {"batch", "FILE|-", "answer a JSON object a line, one a line; without KERNEL"};
}

ExitCode answer_batch(const Options& options) {
  BatchDefaults defaults;
  defaults.device = read_device_options(options);
  defaults.gpu = options.find("gpu");
  if (const auto dtype = options.find("dtype")) {
    defaults.dtype = parse_dtype(*dtype);
    if (!defaults.dtype) throw UsageError(fmt::format("there is no element type '{}'", *dtype));
  }
  defaults.assumptions = read_assumptions(options);
  if (options.get("format", "json") != "json") {
    throw UsageError("--batch answers in JSON, one object a line: leave --format out");
  }
  Batch batch(std::move(defaults));
  LineReader lines(options.get("batch", "-"));
  Output output(options.find("output"));
  std::int64_t number = 0;
  std::int64_t failed = 0;
  while (true) {
    // A program that writes a line and waits for its answer must get it.
    if (lines.needs_read()) output.flush();
    const auto line = lines.next();
    if (!line) break;
    if (!batch.answer(*line, ++number, output.buffer())) ++failed;
    output.flush_if_large();
    stop_if_interrupted();
  }
  output.commit();
  if (failed == 0) return ExitCode::done;
  warn(fmt::format("{} of {} lines could not be answered", failed, number));
  return ExitCode::bad_input;
}

struct Question {
  std::vector<KernelRef> kernels;
  std::vector<Gpu> gpus;
  Assumptions assumptions;
};

Candidate candidate(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                    const Assumptions& assumptions) {
  Candidate result{std::string(kernel_name(kernel)), gpu.name, {}, {}};
  try {
    result.prediction = predict(kernel, problem, gpu, assumptions);
  } catch (const InputError& error) {
    result.refusal = error.what();
  }
  return result;
}

/// The variants' shape is the family's; their configuration is the default one.
std::vector<Candidate> variants(const KernelFamily& family, const Problem& problem, const Gpu& gpu,
                                const Assumptions& assumptions) {
  std::vector<Candidate> found;
  const unsigned given = (1U << family.parameters.size()) - 1;
  for (const KernelModel& kernel : family.variants) {
    const KernelRef variant{&family, &kernel};
    Problem own = problem;
    try {
      check(variant, own, given);
      found.push_back(candidate(variant, own, gpu, assumptions));
    } catch (const InputError& error) {
      found.push_back({std::string(kernel.name), gpu.name, {}, error.what()});
    }
  }
  return found;
}

std::string one_text(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                     const Assumptions& assumptions, const Style& style) {
  if (kernel.kernel != nullptr) {
    const Prediction prediction = predict(kernel, problem, gpu, assumptions);
    return answer_text({kernel, problem, gpu, prediction}, style);
  }
  std::string text;
  if (kernel.family->work != nullptr) {
    const Prediction limit = predict(kernel, problem, gpu, assumptions);
    text = fmt::format("{}\n", answer_text({kernel, problem, gpu, limit}, style));
  } else {
    text = style.heading(fmt::format("{}  {}  on {}", kernel_name(kernel),
                                     problem_text(kernel, problem), gpu.name)) +
           "\n";
  }
  return text + candidates_text(variants(*kernel.family, problem, gpu, assumptions), false, style);
}

std::string table_text(const Question& question, const Options& options) {
  const Style style = options.has("output") ? Style(false) : Style::of_standard_output();
  if (question.kernels.size() * question.gpus.size() == 1) {
    const KernelRef& kernel = question.kernels.front();
    return one_text(kernel, read_problem(options, kernel), question.gpus.front(),
                    question.assumptions, style);
  }
  std::vector<Candidate> candidates;
  for (const Gpu& gpu : question.gpus) {
    for (const KernelRef& kernel : question.kernels) {
      const Problem problem = read_problem(options, kernel);
      candidates.push_back(candidate(kernel, problem, gpu, question.assumptions));
      if (kernel.kernel != nullptr) continue;
      for (auto& variant : variants(*kernel.family, problem, gpu, question.assumptions)) {
        candidates.push_back(std::move(variant));
      }
    }
  }
  return candidates_text(candidates, true, style);
}

/// JSON: one object a line. CSV: one row each.
void write_answers(const Question& question, const Options& options, bool csv, Output& output) {
  CsvWriter table(output.buffer(), parameter_names(question.kernels));
  if (csv) table.header();
  for (const Gpu& gpu : question.gpus) {
    for (const KernelRef& kernel : question.kernels) {
      const Problem problem = read_problem(options, kernel);
      const Prediction prediction = predict(kernel, problem, gpu, question.assumptions);
      const Answer answer{kernel, problem, gpu, prediction};
      if (csv) {
        table.row(answer);
      } else {
        JsonWriter json(output.buffer());
        write_json(json, answer);
        json.newline();
      }
    }
  }
}

}  // namespace

ExitCode run_predict(const Arguments& arguments) {
  std::vector<Option> known = common_options();
  const SplitArguments split = split_words(arguments, known);
  Question question;
  for (const std::string& word : split.words) question.kernels.push_back(kernel_named(word));
  if (question.kernels.empty()) known.push_back(batch_option());
  for (auto& option : parameter_options(question.kernels, "N")) known.push_back(std::move(option));
  if (wants_help(arguments)) {
    write_output(std::nullopt, help_text(kHelp, known));
    return ExitCode::done;
  }
  const Options options = parse_options(split.options, known);
  if (question.kernels.empty()) {
    if (options.has("batch")) return answer_batch(options);
    throw UsageError(
        "which kernel? For example: roofcast predict gemm --m 4096 --n 4096 --k 4096 "
        "--gpu h100-sxm5");
  }
  constexpr std::array<std::string_view, 3> formats = {"table", "json", "csv"};
  const std::string format(one_of("--format", options.get("format", "table"), formats));
  const DeviceOptions device = read_device_options(options);
  question.assumptions = read_assumptions(options);
  for (const std::string& gpu : read_device_names(options)) {
    question.gpus.push_back(load_device(gpu, device));
  }
  Output output(options.find("output"));
  if (format == "table") {
    output.write(table_text(question, options));
  } else {
    write_answers(question, options, format == "csv", output);
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
