// `roofcast predict collective.…`
#include "cli/commands/collective.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/json_or_text.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

using transformer::CollectiveForecast;

Manual manual_collective() {
  return {
      .examples =
          R"(  roofcast predict collective.all_reduce --bytes 64MiB --gpus 8 --gpu h100-sxm5
  roofcast predict collective.alltoall --bytes 1e6 --gpus 4 --gpu a100-sxm4-80gb --format json
)",
      .usage = "roofcast predict collective.NAME --bytes BYTES --gpus N --gpu GPU [options]",
      .about =
          R"(Time of a collective by NCCL among the GPUs of one machine, or of full machines of 8:
all_reduce, all_gather, reduce_scatter, alltoall or send_recv (each rank to the next).)",
      .options = with_device_options(
          {{"bytes", "BYTES", "of a rank's input, of all_gather the result: 65536 or 64MiB"},
           {"gpus", "N", "GPUs that take part: 2 to 8, or a multiple of 8"},
           {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
           {"format", "table|json",
            "output format (default: as the output's name ends, else table); json: an object a "
            "line"},
           {"output,o", "FILE", "write there instead of standard output"},
           {"help,h", "", "this text"}})};
}

std::string needed(const Options& options, std::string_view name) {
  if (const auto value = options.find(name)) return *value;
  throw UsageError("--{} is missing, such as in --bytes 64MiB --gpus 8", name);
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
  const auto [words, options] = read_arguments(arguments, manual_collective());
  if (words.size() > 1) {
    throw UsageError("one collective is asked for at a time: found '{}'", words[1]);
  }
  transformer::Transfer question{collective_named(words.front())};
  question.bytes = parse_bytes("--bytes", needed(options, "bytes"));
  question.gpus = static_cast<double>(parse_whole("--gpus", needed(options, "gpus")));
  const std::vector<Gpu> gpus = read_devices(options);
  write_json_or_text(
      options,
      [&](JsonWriter& json) {
        for (const Gpu& gpu : gpus) {
          write_json(json, question, gpu);
          json.newline();
        }
      },
      [&](const Style& style) { return table_text(question, gpus, style); });
  return ExitCode::done;
}

}  // namespace roofcast::cli
