#include <algorithm>

#include "cli/commands/opening.hpp"
#include "cli/commands/variants.hpp"
#include "cli/input/device_axis.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/input/shard_option.hpp"
#include "cli/input/sweep_plan.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"
#include "cli/output/shard_rows.hpp"
#include "cli/output/sweep_plot.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::cli {

Manual manual_sweep() {
  return {
      .examples =
          "  roofcast sweep gemm.tiled --m 256:8192:256 --n =m --k =m --gpu a100-sxm4-80gb -o "
          "sweep.csv\n"
          "  roofcast sweep stream.copy --n 65536:1073741824:*2 --gpu h100-sxm5,h200-sxm -o "
          "copy.json\n"
          "  roofcast sweep gemm.tiled gemm.coarsened_2d --m 1024,4096 --n =m --k =m --gpu "
          "v100-sxm2\n"
          "  roofcast sweep stream.copy --n 65536:1073741824:*2 --gpu h200-sxm --plot bandwidth -o "
          "copy.html\n"
          "  roofcast sweep stream.copy --n 67108864 --gpu h200-sxm --set sm_count=16:132:4\n"
          "  roofcast sweep gemm.library --m 1024:2304:8,1025:2304:32 --n =m --k =m --dtype bf16 "
          "--gpu a100-sxm4-80gb \\\n"
          "                 --plot rate --series alignment -o mystery.svg\n",
      .usage = "roofcast sweep KERNEL... [options]",
      .about =
          R"(Forecasts every combination of the values given. A parameter takes a number, a list
a,b,c, a range lo:hi:step or lo:hi:*factor, =PARAMETER to follow another one, or
=NUMBER/PARAMETER to keep their product; one with choices takes a list of names. --set
KEY=lo:hi:step sweeps a value of the specification.)",
      .options = with_forecast_options(
          {{"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
           {"dtype", "TYPE", "element type, or a comma-separated list (default: fp32)"},
           {"format", "csv|json", "output format (default: as the output's name ends, else csv)"},
           {"plot", "QUANTITY", plot_option_meaning()},
           {"x", "PARAMETER",
            "the chart's horizontal axis (default: the first with several values)"},
           {"series", "alignment",
            "colour the chart by the largest power of two that divides x, and mark waves"},
           {"waves", "", "mark in the chart from where on a launch takes more waves"},
           {"run", "FILE",
            "mark in the chart what this run measured at the same points, with its settings where "
            "they are left open"},
           shard_option(),
           {"output,o", "FILE", "table.csv, table.json; or chart.html, chart.svg, chart.png"},
           {"help,h", "", "this text"}})};
}

namespace {

class SweepWriter {
 public:
  SweepWriter(Output& output, bool csv, const ShardRows& rows, std::vector<std::string> parameters)
      : output_(output),
        csv_(csv),
        rows_(rows),
        json_(output.buffer()),
        table_(output.buffer(), std::move(parameters)) {
    if (csv_) {
      if (!rows_.is_whole()) output_.write(ShardRows::kColumn);
      table_.header();
    } else {
      json_.begin_array();
      json_.newline();
    }
  }

  void write(const Candidate& row) {
    separate();
    if (csv_) {
      rows_.begin_csv(output_.buffer());
      table_.row(row);
    } else {
      rows_.begin_json(output_.buffer());
      write_json(json_, row);
      rows_.end_json(output_.buffer());
    }
    ++written_;
    if (!row.prediction) ++refused_;
    output_.flush_if_large();
  }

  /// Goes to the next point and returns whether it belongs to this shard.
  bool next() { return rows_.next(); }

  void finish() {
    if (!csv_) output_.write("\n]\n");
    output_.commit();
  }
  std::size_t refused() const { return refused_; }

 private:
  /// The JSON writer adds no comma after a newline, so the comma is written here.
  void separate() {
    if (!csv_ && written_ > 0) output_.write(",\n");
  }

  Output& output_;
  bool csv_;
  ShardRows rows_;
  JsonWriter json_;
  CsvWriter table_;
  std::size_t written_ = 0;
  std::size_t refused_ = 0;
};

/// Returns how many points have no forecast.
std::size_t write_table(std::span<const KernelSweep> sweeps, std::span<const Gpu> gpus,
                        const Assumptions& assumptions, std::size_t repeats,
                        std::vector<std::string> parameters, bool csv,
                        const validation::Shard& shard, const std::optional<std::string>& path) {
  std::size_t points = 0;
  for (const KernelSweep& sweep : sweeps) {
    points += Points(sweep.axes, repeats).count() * sweep.dtypes.size() * gpus.size();
  }
  Output output(path);
  SweepWriter writer(output, csv, ShardRows(shard, points), std::move(parameters));
  for (const Gpu& gpu : gpus) {
    for (const KernelSweep& sweep : sweeps) {
      walk(sweep, repeats, [&](const Problem& problem) {
        if (!writer.next()) return;
        writer.write(forecast(sweep.kernel, problem, sweep.given, gpu, assumptions));
      });
    }
  }
  writer.finish();
  return writer.refused();
}

}  // namespace

ExitCode run_sweep(const Arguments& arguments) {
  const auto [kernels, options] = read_kernels(arguments, manual_sweep(), "VALUES");
  if (kernels.empty()) throw UsageError("which kernel? `roofcast kernels` lists them");
  const bool plotted = wants_plot(options);
  const bool csv = !plotted && read_format(options, {"csv", "json"}) == "csv";
  const Assumptions assumptions = read_assumptions(options);
  const std::vector<Gpu> gpus = load_devices(options);
  std::vector<KernelSweep> sweeps;
  std::size_t repeats = 0;
  for (const KernelRef& kernel : kernels) {
    sweeps.push_back(plan_sweep(kernel, options));
    repeats += sweeps.back().dtypes.size() * gpus.size();
  }
  // Refuse a sweep too large before any output exists.
  for (const KernelSweep& sweep : sweeps) Points(sweep.axes, repeats);

  std::size_t refused = 0;
  if (plotted) {
    if (options.has("shard")) {
      throw UsageError("--shard is for tables: merge them, then draw the chart without it");
    }
    refused = plot_sweep({sweeps, gpus, assumptions, repeats}, options);
  } else {
    refused = write_table(sweeps, gpus, assumptions, repeats, parameter_names(kernels), csv,
                          read_shard(options), options.find("output"));
  }
  if (!plotted) return refusals_reported(refused);
  return refused == 0 ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace roofcast::cli
