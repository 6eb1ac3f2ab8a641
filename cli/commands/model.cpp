#include <functional>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/service.hpp"
#include "cli/input/shard_option.hpp"
#include "cli/input/task.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/files.hpp"
#include "cli/output/model_plot.hpp"
#include "cli/output/shard_rows.hpp"
#include "cli/output/step_advice.hpp"
#include "cli/output/step_trace.hpp"

namespace roofcast::cli {

Manual manual_model() {
  return {
      .examples =
          "  roofcast model gpt2-xl --train --batch 8 --seq 1024 --gpu h100-sxm5 --fsdp 8\n"
          "  roofcast model llama-3.1-8b --prefill --batch 1 --seq 4096 --gpu h200-sxm\n"
          "  roofcast model llama-3.1-70b --decode --batch 1,16,64 --context 8192 --tp 8 --gpu "
          "h100-sxm5\n"
          "  roofcast model path/to/config.json --train --batch 4 --seq 2048 --gpu a100-sxm4-80gb "
          "--format json\n"
          "  roofcast model qwen3-32b --serve --concurrency 8,32,128 --input-tokens 2048 "
          "--output-tokens 256 --dtype fp8 --tp 2 --gpu h100-sxm5\n"
          "  roofcast model llama-3.1-8b --decode --batch 1:256:*2 --context 8192 --gpu h200-sxm "
          "-o page.html\n"
          "  roofcast model gpt2-xl --train --batch 4 --gpu h100-sxm5 --trace step.trace.json\n"
          "  roofcast model llama-3.1-70b --decode --batch 1:512:1 --context 8192 --tp 4,8 --gpu "
          "h200-sxm --format json --shard 0/4 -o part0.json\n"
          "  roofcast model deepseek-v3\n",
      .usage = "roofcast model CONFIG [--train|--prefill|--decode|--serve] --gpu GPU [options]",
      .about =
          R"(Time, memory and parts of a step of a transformer, from the config.json of Hugging Face
or a shipped name. Without a phase: its parameters. A number takes a list or a range as
in a sweep. A line {"model":…,"phase":…} of `predict --queries` asks the same.)",
      .options = with_device_options(
          joined({{{"gpu", "NAME|PATH", "the device, or a comma-separated list", true}},
                  task_options(),
                  service_options(),
                  {{"format", "table|json",
                    "output format (default: as the output's name ends, else table); json: an "
                    "object a line"},
                   {"plot", "CHART", model_plot_meaning()},
                   {"trace", "FILE", "one step as a trace that Perfetto opens"},
                   shard_option(),
                   {"output,o", "FILE",
                    "page.html; chart.svg, chart.png or, with --plot, chart.json; else text"},
                   {"help,h", "", "this text"}}}))};
}

namespace {

bool draws(const Options& options) {
  return options.has("plot") || is_picture(options.get("output", ""));
}

/// Whether anything is asked about but the parameters of the model, as text.
bool asks_for_step(const Options& options) {
  return draws(options) ||
         options.count() > std::size_t{options.has("format")} + std::size_t{options.has("output")};
}

/// The model that is asked about, and the form of the answers.
struct Asked {
  std::string name;
  transformer::Architecture model;
  bool json_lines = false;
  validation::Shard shard;
};

/// Largest number of points in a chart: more cannot be told apart.
constexpr std::size_t kMostCharted = 2000;

template <class Question, class Answer>
using Answering =
    std::function<Answer(const std::string& name, const transformer::Architecture& model,
                         const Question& question, transformer::KernelForecasts& forecasts)>;

/// Writes each answer of the shard; where a chart is asked for, returns the answers instead.
template <class Question, class Answer>
std::vector<Answer> answer_all(const Asked& asked, const std::vector<Question>& questions,
                               const Options& options, Output& output,
                               const Answering<Question, Answer>& answer,
                               const std::function<std::string(const Answer&, const Gpu&)>& text) {
  const DeviceOptions device = read_device_options(options);
  const std::vector<std::string> names = read_device_names(options);
  const bool kept = draws(options);
  if (kept && questions.size() * names.size() > kMostCharted) {
    throw InputError(fmt::format("a chart of over {} steps: take larger steps", kMostCharted));
  }
  ShardRows rows(asked.shard, questions.size() * names.size());
  std::vector<Answer> answers;
  std::string_view separator;
  for (const std::string& gpu_name : names) {
    const Gpu gpu = load_device(gpu_name, device);
    transformer::KernelForecasts forecasts(gpu);
    for (const Question& question : questions) {
      if (!rows.next()) continue;
      Answer one = answer(asked.name, asked.model, question, forecasts);
      if (kept) {
        answers.push_back(std::move(one));
      } else if (asked.json_lines) {
        rows.begin_json(output.buffer());
        JsonWriter json(output.buffer());
        write_json(json, one);
        rows.end_json(output.buffer());
        json.newline();
        output.flush_if_large();
      } else {
        output.write(separator);
        output.write(text(one, gpu));
        separator = "\n";
      }
      stop_if_interrupted();
    }
  }
  return answers;
}

void write_trace(const Asked& asked, const std::vector<transformer::Task>& tasks,
                 const Options& options, const std::string& path) {
  if (tasks.size() != 1) throw UsageError("--trace takes one step: give one value for each key");
  if (path == options.get("output", "-")) {
    throw UsageError("{} takes the answer: name another file with --trace or with -o",
                     path == "-" ? "standard output" : path);
  }
  const Gpu gpu = read_device(options);
  write_output(path, step_trace(answer_step(asked.name, asked.model, tasks.front(), gpu)));
}

/// Returns how many steps have no forecast.
std::size_t write_steps(const Asked& asked, const Options& options, const Style& style,
                        Output& output) {
  const std::vector<transformer::Task> tasks = read_tasks(options);
  if (const auto path = options.find("trace")) write_trace(asked, tasks, options, *path);
  std::size_t refused = 0;
  const auto answers = answer_all<transformer::Task, StepAnswer>(
      asked, tasks, options, output,
      [&refused](const auto& name, const auto& model, const auto& task, auto& forecasts) {
        StepAnswer one = answer_step(name, model, task, forecasts);
        if (!one.step) ++refused;
        return one;
      },
      [&style](const StepAnswer& answer, const Gpu& gpu) {
        return step_text(answer, style) + changes_text(step_changes(answer, gpu));
      });
  if (draws(options)) {
    write_step_charts(answers, options.find("plot"), options.get("output", "-"));
  }
  return refused;
}

void write_services(const Asked& asked, const Options& options, Output& output) {
  const auto answers = answer_all<transformer::Service, ServingAnswer>(
      asked, read_services(options), options, output, answer_service,
      [](const ServingAnswer& answer, const Gpu&) { return serving_text(answer); });
  if (draws(options)) {
    write_serving_charts(answers, options.find("plot"), options.get("output", "-"));
  }
}

validation::Shard shard_of(const Options& options, bool json_lines) {
  const bool rows = json_lines && !draws(options);
  if (options.has("shard") && !rows) {
    throw UsageError("--shard is for --format json: merge the lines, then draw the chart");
  }
  return rows ? read_shard(options) : validation::Shard{};
}

}  // namespace

ExitCode run_model(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_model());
  if (words.size() != 1) {
    throw UsageError("model takes one configuration, such as llama-3.1-8b or a config.json");
  }
  const bool json_lines = read_format(options, {"table", "json"}) == "json";
  const Asked asked{words.front(), model_named(words.front()), json_lines,
                    shard_of(options, json_lines)};
  const Style style = Style::of_output(options.find("output"));
  // A chart is written separately, to the file that --output names.
  Output output(draws(options) ? std::nullopt : options.find("output"));
  std::size_t refused = 0;
  if (options.has("serve")) {
    write_services(asked, options, output);
  } else if (asks_for_step(options)) {
    refused = write_steps(asked, options, style, output);
  } else if (json_lines) {
    throw UsageError(
        "--format json answers a step: give --train, --prefill or --decode, and --gpu");
  } else {
    output.write(architecture_text(asked.name, asked.model, style));
  }
  output.commit();
  if (refused > 0 && draws(options)) return ExitCode::bad_input;
  return refusals_reported(refused);
}

}  // namespace roofcast::cli
