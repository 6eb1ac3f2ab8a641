#include <algorithm>

#include "cli/commands/advice.hpp"
#include "cli/commands/batch_lines.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {

Manual manual_advise() {
  return {
      .examples =
          R"(  roofcast advise gemm --m 4096 --n 50257 --k 768 --dtype bf16 --gpu h100-sxm5
  roofcast advise gemm --m 1793 --n 1793 --k 1793 --dtype bf16 --gpu a100-sxm4-80gb --within 8%
  roofcast advise gemm.tiled --m 1000 --n 1000 --k 1000 --gpu a100-sxm4-80gb
  roofcast advise softmax --rows 4096 --cols 4095 --dtype bf16 --gpu h100-sxm5
  roofcast advise examples/kernels/stencil.json --gpu h100-sxm5
  roofcast advise linear --tokens 8192 --in 768 --out 50257 --dtype bf16 --gpu h100-sxm5
  roofcast advise --queries shapes.jsonl --gpu h200-sxm --dtype bf16 > advice.jsonl
)",
      .usage =
          "roofcast advise KERNEL [options]\n"
          "       roofcast advise linear --tokens T --in N --out N [options]\n"
          "       roofcast advise --queries FILE [options]",
      .about =
          R"(The settings of a kernel that are forecast to be fastest (tiles, threads, clusters),
and shapes near the one asked for that run faster, and why: larger ones, to be filled
up, and smaller ones. A family stands for its fastest variant, gemm for the library or
--kernel. Of a product also shapes that cost nothing more, and what padded weights take
in memory. A line of a batch is a JSON object as for `predict --queries`; "kernel" may
be left out.)",
      .options = with_batch_options(with_forecast_options(
          {{"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
           {"kernel", "KERNEL", "the product's kernel (default: gemm.library)"},
           {"dtype", "TYPE", "element type: bf16, fp16 … (default: fp32)"},
           {"within", "SHARE",
            "how far each extent may change (default: 5%); alignment always may"},
           {"vary", "LIST", "the settings and extents that may change (default: all)"},
           {"pad-only", "", "only shapes that hold the one asked for"},
           {"format", "table|json|csv",
            "output format (default: as the output's name ends, else table); json: an object a "
            "line"},
           {"output,o", "FILE", "write there instead of standard output"},
           {"help,h", "", "this text"}}))};
}

namespace {

constexpr std::string_view kLibrary = "gemm.library";

AdviceRequest read_request(const Options& options) {
  AdviceRequest request;
  request.within = parse_share("--within", options.get("within", "5%"));
  if (!(request.within >= 0 && request.within <= 0.5)) {
    throw UsageError("--within takes 0% to 50%: advice is for shapes near the one asked for");
  }
  if (const auto varied = options.find("vary")) {
    request.varied = distinct("--vary", split_list(*varied, ','));
  }
  request.smaller = !options.has("pad-only");
  return request;
}

ExitCode answer_batch(const Options& options) {
  BatchDefaults defaults = read_batch_defaults(options);
  defaults.kernel = options.get("kernel", kLibrary);
  defaults.write = [request = read_request(options)](JsonWriter& json, const KernelRef& kernel,
                                                     const Problem& problem, const Gpu& gpu,
                                                     const Assumptions& assumptions) {
    write_json(json, advice_on(kernel, problem, gpu, assumptions, request));
  };
  return answer_lines(options.get("queries", "-"), options.find("output"), read_jobs(options),
                      [&defaults] { return Batch(defaults); });
}

std::vector<AdviceAnswer> answer_all(const KernelRef& kernel, const Problem& problem,
                                     std::span<const Gpu> gpus, const Assumptions& assumptions,
                                     const AdviceRequest& request) {
  std::vector<AdviceAnswer> answers;
  for (const Gpu& gpu : gpus) {
    try {
      answers.push_back(advice_on(kernel, problem, gpu, assumptions, request));
    } catch (const InputError& error) {
      if (gpus.size() == 1) throw;
      AdviceAnswer& refused = answers.emplace_back(AdviceAnswer{kernel, problem, &gpu});
      refused.refusal = error.what();
    }
    stop_if_interrupted();
  }
  return answers;
}

void write_answers(std::span<const AdviceAnswer> answers, std::string_view format,
                   const Style& style, Output& output) {
  if (format == "csv") return write_csv(output.buffer(), answers);
  for (const AdviceAnswer& answer : answers) {
    if (format == "json") {
      JsonWriter json(output.buffer());
      write_json(json, answer);
      json.newline();
    } else {
      output.write((&answer == answers.data() ? "" : "\n") + advice_text(answer, style));
    }
  }
}

/// The kernel's parameters are options too, so --kernel is read before the options are checked.
std::optional<std::string> find_kernel_option(const Arguments& options) {
  constexpr std::string_view kName = "--kernel";
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& text = options[i];
    if (text == kName && i + 1 < options.size()) return options[i + 1];
    if (text.starts_with(kName) && text[kName.size()] == '=') return text.substr(kName.size() + 1);
  }
  return std::nullopt;
}

/// The kernel that the word names; gemm stands for the library, or for --kernel.
std::vector<KernelRef> kernels_of(const SplitArguments& split) {
  if (split.words.empty()) return {};
  const auto named = find_kernel_option(split.options);
  if (split.words.front() != "gemm") {
    if (named) throw UsageError("--kernel goes with `advise gemm`, or alone");
    return kernels_named(split.words);
  }
  const KernelRef kernel = kernel_named(named.value_or(std::string(kLibrary)));
  if (is_product(kernel)) return {kernel};
  throw UsageError("--kernel {} is no kernel of gemm: `roofcast kernels gemm` lists them",
                   kernel.name());
}

}  // namespace

ExitCode run_advise(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == "linear") {
    return run_advise_linear(Arguments(arguments.begin() + 1, arguments.end()));
  }
  const Manual manual = manual_advise();
  const SplitArguments split = split_words(arguments, manual.options);
  if (split.words.size() > 1) {
    throw UsageError("advise takes one kernel, and also found '{}'", split.words[1]);
  }
  refuse_batch_option(split);
  const std::vector<KernelRef> kernels = kernels_of(split);
  const Options options = read_options(split, manual, kernels);
  if (wants_batch(options, split.words)) return answer_batch(options);
  if (kernels.empty()) {
    throw UsageError(
        "which kernel? For example: roofcast advise gemm --m 4096 --n 50257 --k 768 --dtype bf16 "
        "--gpu h100-sxm5");
  }
  const std::string_view format = read_format(options, {"table", "json", "csv"});
  const AdviceRequest request = read_request(options);
  const Assumptions assumptions = read_assumptions(options);
  const std::vector<Gpu> gpus = read_devices(options);
  const KernelRef& kernel = kernels.front();
  const auto answers =
      answer_all(kernel, read_problem(options, kernel), gpus, assumptions, request);
  Output output(options.find("output"));
  write_answers(answers, format, Style::of_output(options.find("output")), output);
  output.commit();
  return refusals_reported(static_cast<std::size_t>(std::count_if(
      answers.begin(), answers.end(), [](const AdviceAnswer& one) { return one.refused(); })));
}

}  // namespace roofcast::cli
