#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/service.hpp"
#include "cli/input/task.hpp"
#include "cli/output/files.hpp"
#include "cli/output/serving_output.hpp"
#include "cli/output/step_output.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast model gpt2-xl --train --batch 8 --seq 1024 --gpu h100-sxm5 --fsdp 8\n"
    "  roofcast model llama-3.1-8b --prefill --batch 1 --seq 4096 --gpu h200-sxm\n"
    "  roofcast model llama-3.1-70b --decode --batch 1,16,64 --context 8192 --tp 8 --gpu "
    "h100-sxm5\n"
    "  roofcast model path/to/config.json --train --batch 4 --seq 2048 --gpu a100-sxm4-80gb "
    "--format json\n"
    "  roofcast model qwen3-32b --serve --concurrency 8,32,128 --input-tokens 2048 --output-tokens "
    "256 --dtype fp8 --tp 2 --gpu h100-sxm5\n"
    "  roofcast model deepseek-v3\n",
    "roofcast model CONFIG [--train|--prefill|--decode|--serve] --gpu GPU [options]",
    "Time, memory and parts of a step of a transformer, from the config.json of Hugging Face or a\n"
    "shipped name. Without a phase: its parameters. A line {\"model\":…,\"phase\":…} of `predict\n"
    "--queries` asks the same."};

std::vector<Option> known_options() {
  std::vector<Option> known = {{"gpu", "NAME|PATH", "the device, or a comma-separated list", true}};
  for (Option& option : task_options()) known.push_back(std::move(option));
  for (Option& option : service_options()) known.push_back(std::move(option));
  known.push_back(
      {"format", "table|json", "output format (default: table); json: an object a line"});
  known.push_back({"output,o", "FILE", "write there instead of standard output"});
  known.push_back({"help,h", "", "this text"});
  for (Option& option : device_option_table()) known.push_back(std::move(option));
  return known;
}

bool asks_for_step(const Options& options) {
  return options.has("train") || options.has("prefill") || options.has("decode") ||
         options.has("serve") || options.has("gpu");
}

void write_steps(const std::string& name, const transformer::Architecture& model,
                 const Options& options, bool json_lines, const Style& style, Output& output) {
  const std::vector<transformer::Task> tasks = read_tasks(options);
  const DeviceOptions device = read_device_options(options);
  std::string_view separator;
  for (const std::string& gpu_name : read_device_names(options)) {
    const Gpu gpu = load_device(gpu_name, device);
    for (const transformer::Task& task : tasks) {
      const StepAnswer answer = answer_step(name, model, task, gpu);
      if (json_lines) {
        JsonWriter json(output.buffer());
        write_json(json, answer);
        json.newline();
      } else {
        output.write(separator);
        output.write(step_text(answer, style));
        separator = "\n";
      }
      stop_if_interrupted();
    }
  }
}

void write_services(const std::string& name, const transformer::Architecture& model,
                    const Options& options, bool json_lines, Output& output) {
  const std::vector<transformer::Service> services = read_services(options);
  const DeviceOptions device = read_device_options(options);
  std::string_view separator;
  for (const std::string& gpu_name : read_device_names(options)) {
    const Gpu gpu = load_device(gpu_name, device);
    for (const transformer::Service& service : services) {
      const ServingAnswer answer{name, gpu.name, service, predict_serving(model, service, gpu)};
      if (json_lines) {
        JsonWriter json(output.buffer());
        write_json(json, answer);
        json.newline();
      } else {
        output.write(separator);
        output.write(serving_text(answer));
        separator = "\n";
      }
      stop_if_interrupted();
    }
  }
}

}  // namespace

Manual manual_model() {
  return {kHelp, known_options()};
}

ExitCode run_model(const Arguments& arguments) {
  const auto given = read_arguments(arguments, kHelp, known_options());
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  if (words.size() != 1) {
    throw UsageError("model takes one configuration, such as llama-3.1-8b or a config.json");
  }
  const transformer::Architecture model = model_named(words.front());
  constexpr std::array<std::string_view, 2> formats = {"table", "json"};
  const bool json_lines = one_of("--format", options.get("format", "table"), formats) == formats[1];
  const Style style = options.has("output") ? Style(false) : Style::of_standard_output();
  Output output(options.find("output"));
  if (options.has("serve")) {
    write_services(words.front(), model, options, json_lines, output);
  } else if (asks_for_step(options)) {
    write_steps(words.front(), model, options, json_lines, style, output);
  } else if (json_lines) {
    throw UsageError(
        "--format json answers a step: give --train, --prefill or --decode, and --gpu");
  } else {
    output.write(architecture_text(words.front(), model, style));
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
