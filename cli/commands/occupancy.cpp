#include "model/laws/occupancy.hpp"

#include <fmt/format.h>

#include <optional>

#include "advice/advice.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/json_or_text.hpp"
#include "cli/output/text_table.hpp"

namespace roofcast::cli {

Manual manual_occupancy() {
  return {
      .examples =
          R"(  roofcast occupancy --registers 96 --shared 48KiB --threads 192 --gpu a100-sxm4-80gb
  roofcast occupancy --registers 96 --threads 256 --gpu h100-sxm5,v100-sxm2 --format json
  roofcast occupancy --shared 100KiB --threads 384 --cluster 8 --gpu h200-sxm
)",
      .usage = "roofcast occupancy --threads N [options]",
      .about =
          R"(Says how many blocks and warps fit an SM, what limits them, how many blocks or clusters
fit the whole device, and for each setting the nearest value with which more warps fit while the
others stay.)",
      .options = with_device_options(
          {{"threads", "N", "threads of a block"},
           {"registers", "N", "registers of a thread (default: 32)"},
           {"shared", "BYTES", "shared memory of a block, as 49152 or 48KiB (default: 0)"},
           {"cluster", "N", "blocks of a cluster, which share a GPC (default: 1)"},
           {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
           {"format", "table|json",
            "output format (default: as the output's name ends, else table); json: an object a "
            "line"},
           {"output,o", "FILE", "write there instead of standard output"},
           {"help,h", "", "this text"}})};
}

namespace {

std::int64_t read_bytes(const std::string& text) {
  const auto bytes = whole_of(parse_bytes("--shared", text));
  if (bytes) return *bytes;
  throw UsageError("--shared takes whole bytes such as 49152 or 48KiB, not '{}'", text);
}

std::int64_t within(std::string_view option, std::int64_t value, std::int64_t least,
                    std::int64_t most) {
  if (value >= least && value <= most) return value;
  throw InputError(fmt::format("{} takes {} to {}, found {}", option, least, most, value));
}

Launch read_launch(const Options& options) {
  const auto threads = options.find("threads");
  if (!threads) {
    throw UsageError(
        "how many threads has a block? For example: roofcast occupancy --registers 96 --threads "
        "192 --gpu a100-sxm4-80gb");
  }
  Launch launch;
  launch.block[0] = within("--threads", parse_whole("--threads", *threads), 1, 1024);
  launch.registers =
      within("--registers", parse_whole("--registers", options.get("registers", "32")), 1, 255);
  launch.shared_bytes = within("--shared", read_bytes(options.get("shared", "0")), 0, 1 << 20);
  launch.cluster[0] =
      within("--cluster", parse_whole("--cluster", options.get("cluster", "1")), 1, 16);
  return launch;
}

struct Row {
  const Gpu& gpu;
  std::int64_t cluster_blocks;
  Occupancy fit;
  std::optional<std::int64_t> resident;  // blocks on all SMs
  std::vector<BetterSetting> better;
};

Row row_of(const Launch& launch, const Gpu& gpu) {
  if (!gpu.occupancy) throw InputError(gpu.name + " has no warps: occupancy is not defined");
  Row row{gpu, launch.cluster_blocks(), occupancy(launch, gpu), {}, better_settings(launch, gpu)};
  if (gpu.sm_count) row.resident = row.fit.blocks_per_sm > 0 ? places(launch, row.fit, gpu) : 0;
  return row;
}

std::string resident_text(const Row& row) {
  if (!row.resident) return "unknown";
  if (row.cluster_blocks == 1) return fmt::format("{} blocks", *row.resident);
  return fmt::format("{} clusters of {}", *row.resident / row.cluster_blocks, row.cluster_blocks);
}

std::string better_text(const std::vector<BetterSetting>& better) {
  std::string text;
  for (const auto& [setting, value, fit] : better) {
    text += fmt::format("{}{} {}: {} warps", text.empty() ? "" : "; ", setting, value,
                        fit.warps_per_sm);
  }
  return text.empty() ? "none" : text;
}

std::string table_text(const std::vector<Row>& rows, const Style& style) {
  TextTable table({{"gpu"},
                   {"blocks", Align::right},
                   {"warps", Align::right},
                   {"of", Align::right},
                   {"limited by"},
                   {"on all SMs"},
                   {"next better setting, alone"}});
  for (const Row& row : rows) {
    table.add({row.gpu.name, fmt::to_string(row.fit.blocks_per_sm),
               fmt::to_string(row.fit.warps_per_sm),
               fmt::to_string(row.gpu.occupancy->warps_per_sm),
               row.fit.blocks_per_sm > 0 ? std::string(name(row.fit.limited_by)) : "does not fit",
               resident_text(row), better_text(row.better)});
  }
  return table.text(style);
}

void write_fit(JsonWriter& json, const Occupancy& fit) {
  json.member("blocks_per_sm", fit.blocks_per_sm);
  json.member("warps_per_sm", fit.warps_per_sm);
  json.word_member("limited_by", name(fit.limited_by));
}

void write_row(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.member("gpu", row.gpu.name);
  write_fit(json, row.fit);
  json.member("most_warps_per_sm", row.gpu.occupancy->warps_per_sm);
  if (row.resident) {
    json.member("resident_blocks", *row.resident);
    json.member("resident_clusters", *row.resident / row.cluster_blocks);
  }
  json.objects("better", row.better, [&](const BetterSetting& one) {
    json.word_member("setting", one.setting);
    json.member("value", one.value);
    write_fit(json, one.occupancy);
  });
  json.end_object();
  json.newline();
}

}  // namespace

ExitCode run_occupancy(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_occupancy());
  if (!words.empty()) {
    throw UsageError("occupancy takes options alone, found '{}'", words.front());
  }
  const Launch launch = read_launch(options);
  const std::vector<Gpu> gpus = read_devices(options);
  std::vector<Row> rows;
  rows.reserve(gpus.size());
  for (const Gpu& gpu : gpus) rows.push_back(row_of(launch, gpu));
  write_json_or_text(
      options,
      [&](JsonWriter& json) {
        for (const Row& row : rows) write_row(json, row);
      },
      [&](const Style& style) { return table_text(rows, style); });
  return ExitCode::done;
}

}  // namespace roofcast::cli
