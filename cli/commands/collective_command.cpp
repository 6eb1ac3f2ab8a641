// `roofcast predict collective.…`
#include "cli/commands/collective.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/files.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

using transformer::CollectiveForecast;

constexpr HelpPage kCollectiveHelp = {
    "  roofcast predict collective.all_reduce --bytes 64MiB --gpus 8 --gpu h100-sxm5\n"
    "  roofcast predict collective.alltoall --bytes 1e6 --gpus 4 --gpu a100-sxm4-80gb "
    "--format json\n",
    "roofcast predict collective.NAME --bytes BYTES --gpus N --gpu GPU [options]",
    "Time of a collective by NCCL among the GPUs of one machine, or of full machines of 8:\n"
    "all_reduce, all_gather, reduce_scatter, alltoall or send_recv (each rank to the next)."};

std::vector<Option> known_options() {
  std::vector<Option> known = {
      {"bytes", "BYTES", "of a rank's input, of all_gather the result: 65536 or 64MiB"},
      {"gpus", "N", "GPUs that take part: 2 to 8, or a multiple of 8"},
      {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
      {"format", "table|json", "output format (default: table); json: an object a line"},
      {"output,o", "FILE", "write there instead of standard output"},
      {"help,h", "", "this text"}};
  for (Option& option : device_option_table()) known.push_back(std::move(option));
  return known;
}

std::string needed(const Options& options, std::string_view name) {
  if (const auto value = options.find(name)) return *value;
  throw UsageError(fmt::format("--{} is missing, such as in --bytes 64MiB --gpus 8", name));
}

std::string table_text(const transformer::Transfer& question, std::span<const Gpu> gpus,
                       const Style& style) {
  TextTable table({{"gpu"},
                   {"limit", Align::right},
                   {"expected", Align::right},
                   {"interval", Align::right},
                   {"start and steps", Align::right},
                   {"rate", Align::right}});
  for (const Gpu& gpu : gpus) {
    const CollectiveForecast time = predict_collective(question, gpu);
    table.add({gpu.name, si_text(time.limit_s, "s"), si_text(time.expected_s, "s"),
               fmt::format("{} to {}", si_text(time.low_s, "s"), si_text(time.high_s, "s")),
               percent(time.start_s / time.expected_s),
               si_text(question.bytes / time.expected_s, "B/s")});
  }
  std::string text = fmt::format("{}  {} among {} GPUs\n", full_name(question.kind),
                                 si_text(question.bytes, "B"), question.gpus) +
                     table.text(style, "  ");
  for (const Gpu& gpu : gpus) {
    if (const auto note = transformer::link_note(gpu); !note.empty()) {
      text += fmt::format("  note: {}: {}\n", gpu.name, note);
    }
  }
  return text;
}

}  // namespace

ExitCode run_collective(const Arguments& arguments) {
  const std::vector<Option> known = known_options();
  const auto given = read_arguments(arguments, kCollectiveHelp, known);
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  transformer::Transfer question{collective_named(words.front())};
  if (words.size() > 1) {
    throw UsageError(fmt::format("one collective is asked for at a time: found '{}'", words[1]));
  }
  question.bytes = parse_bytes("--bytes", needed(options, "bytes"));
  question.gpus = static_cast<double>(parse_whole("--gpus", needed(options, "gpus")));
  constexpr std::array<std::string_view, 2> formats = {"table", "json"};
  const std::string format(one_of("--format", options.get("format", "table"), formats));
  const DeviceOptions device = read_device_options(options);
  std::vector<Gpu> gpus;
  for (const std::string& name : read_device_names(options)) {
    gpus.push_back(load_device(name, device));
  }
  Output output(options.find("output"));
  if (format == "table") {
    output.write(table_text(question, gpus,
                            options.has("output") ? Style(false) : Style::of_standard_output()));
  } else {
    for (const Gpu& gpu : gpus) {
      JsonWriter json(output.buffer());
      write_json(json, question, gpu);
      json.newline();
    }
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
