#include <algorithm>

#include "cli/output/answer.hpp"
#include "cli/output/answer_words.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/time_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "hw_specs/calibration_words.hpp"
#include "model/traffic_ladder.hpp"

namespace roofcast::cli {
namespace {

std::string extent_text(const std::array<std::int64_t, 3>& extent) {
  return fmt::format("{}×{}×{}", extent[0], extent[1], extent[2]);
}

std::string intensity(double flops, double bytes) {
  return bytes > 0 ? figure_text(flops / bytes) + " FLOP/B" : "–";
}

/// Adds the work; figures that are 0 (FLOPs of a copy, unused shared memory) are left out.
void add_work(TextTable& table, const Answer& answer) {
  const Prediction& prediction = answer.prediction;
  const bool variant = answer.kernel.kernel != nullptr;
  const Work& work = prediction.work;
  const bool computes = work.flops() > 0;
  const double compulsory_bytes = work.compulsory.total_bytes();
  if (computes) table.add({"work", si_text(work.flops(), "FLOP")});
  table.add(
      {"compulsory traffic",
       si_text(compulsory_bytes, "B") +
           (computes ? fmt::format(" ({})", intensity(work.flops(), compulsory_bytes)) : "")});
  if (variant && computes) {
    table.add({"DRAM intensity", intensity(work.flops(), work.dram.total_bytes())});
  }
  if (const std::string ridge = ridge_text(prediction, answer.gpu); computes && !ridge.empty()) {
    table.add({"ridge point", ridge});
  }
  if (variant && work.shared_bytes > 0) {
    table.add({"shared-memory traffic", si_text(work.shared_bytes, "B")});
  }
  if (!prediction.io.formula.empty()) {
    table.add({"IO complexity", io_text(prediction, variant)});
  }
  if (prediction.footprint_bytes) {
    table.add({"memory footprint", si_text(*prediction.footprint_bytes, "B")});
  }
}

void add_launch(TextTable& table, const Prediction& prediction, const Gpu& gpu) {
  if (const auto& launch = prediction.launch) {
    table.add({"launch",
               fmt::format("grid {}, block {}, {} registers a thread, {} shared",
                           extent_text(launch->grid), extent_text(launch->block), launch->registers,
                           binary_bytes(static_cast<double>(launch->shared_bytes)))});
    if (launch->cluster != std::array<std::int64_t, 3>{1, 1, 1}) {
      table.add({"cluster", extent_text(launch->cluster)});
    }
  }
  if (prediction.launches > 1) {
    table.add({"kernels started",
               fmt::format("{}: launch, occupancy and waves of number {}, which takes longest",
                           prediction.launches, prediction.shown_launch + 1)});
  }
  if (const auto& occupancy = prediction.occupancy; occupancy && gpu.occupancy) {
    const double share = static_cast<double>(occupancy->warps_per_sm) /
                         static_cast<double>(gpu.occupancy->warps_per_sm);
    table.add(
        {"occupancy",
         fmt::format("{} {} = {} of {} warps an SM ({}), limited by {}", occupancy->blocks_per_sm,
                     occupancy->blocks_per_sm == 1 ? "block" : "blocks", occupancy->warps_per_sm,
                     gpu.occupancy->warps_per_sm, percent(share), name(occupancy->limited_by))});
  }
  if (const auto& waves = prediction.waves) {
    table.add({"waves", fmt::format("{}: {} full, the tail fills {}, efficiency {}",
                                    figure_text(waves->count), waves->full,
                                    percent(waves->tail_utilization), percent(waves->efficiency))});
  }
}

void add_time(TextTable& table, const Prediction& prediction, const Gpu& gpu) {
  const auto& time = prediction.time;
  if (!time) return;
  table.add({"expected time", fmt::format("{}  [{}, {}] {:.0f}%", si_text(time->expected_s, "s"),
                                          si_text(time->low_s, "s"), si_text(time->high_s, "s"),
                                          100 * kIntervalLevel)});
  table.add({"SM cycles", fmt::format("{} at {}", si_text(time->sm_cycles, ""),
                                      si_text(time->sm_clock_hz, "Hz"))});
  table.add({"rate", rate_text(prediction, gpu)});
}

std::string_view title(Level level) {
  constexpr std::array<std::string_view, 4> titles = {"requested", "L1", "L2", "DRAM"};
  return titles[static_cast<std::size_t>(level)];
}

std::string times_text(const std::optional<double>& ratio) {
  return ratio ? figure_text(*ratio, 3) + "×" : "";
}

std::string ladder_text(std::span<const Rung> rungs, const Style& style) {
  TextTable table({{"traffic"},
                   {"read", Align::right},
                   {"written", Align::right},
                   {"of level above", Align::right},
                   {"of requested", Align::right},
                   {"why"}});
  for (const Rung& rung : rungs) {
    table.add({std::string(title(rung.level)), si_text(rung.traffic.read_bytes, "B"),
               si_text(rung.traffic.write_bytes, "B"), times_text(rung.to_above),
               times_text(rung.to_requested), rung.reason});
  }
  return table.text(style, "  ");
}

}  // namespace

std::string notes_text(std::span<const std::string> notes, const Style& style) {
  std::string text;
  for (const std::string& note : notes) {
    text += fmt::format("  {}\n", style.faint(visible(fmt::format("note: {}", note))));
  }
  return text;
}

std::string answer_text(const Answer& answer, const Style& style) {
  const Prediction& prediction = answer.prediction;
  std::string text = style.heading(visible(
      fmt::format("{}  {}  on {}", answer.kernel.name(),
                  problem_text(answer.kernel, answer.prediction.problem), answer.gpu.name)));
  text += '\n';
  TextTable table({{""}, {""}});
  table.add({"device", answer.gpu.title});
  table.add({"calibration", specs::calibration_text(answer.gpu)});
  const bool variant = answer.kernel.kernel != nullptr;
  add_work(table, answer);
  if (variant) add_launch(table, prediction, answer.gpu);
  const Resource limiting = binding(prediction.limit.terms);
  const double limit_s = prediction.limit.time_s;
  const double flops = prediction.work.flops();
  table.add({"limit", fmt::format("{} ({}){}", si_text(limit_s, "s"), name(limiting),
                                  flops > 0 ? ", " + si_text(flops / limit_s, "FLOP/s") : "")});
  add_time(table, prediction, answer.gpu);
  text += table.text(style, "  ");
  if (const auto rungs = traffic_ladder(prediction); !rungs.empty()) {
    text += '\n' + ladder_text(rungs, style);
  }
  if (prediction.time) text += '\n' + time_table(*prediction.time, style);
  text += '\n' + verdict_text(answer);
  return text + notes_text(prediction.notes, style);
}

namespace {

/// The optional columns of a list of candidates.
struct CandidateColumns {
  bool gpu = false, cost = false, energy = false, bytes = false;

  CandidateColumns(std::span<const Candidate> candidates, bool with_gpu) : gpu(with_gpu) {
    for (const Candidate& candidate : candidates) {
      const Expense expense = candidate.expense.value_or(Expense{});
      cost |= expense.cost.has_value();
      energy |= expense.most_energy_j.has_value();
      // A family that compares memory footprints has variants that differ first of all in bytes.
      bytes |= candidate.prediction && candidate.prediction->footprint_bytes;
    }
  }

  std::vector<const char*> figures() const {
    std::vector<const char*> titles = {"limit", "expected", "low", "high", "rate", "of limit"};
    if (cost) titles.push_back("a million calls cost");
    if (energy) titles.push_back("energy at most");
    if (bytes) titles.insert(titles.end(), {"DRAM", "footprint"});
    return titles;
  }
};

using Cells = std::vector<std::string>;

void add_time(Cells& cells, const Prediction& prediction) {
  cells.push_back(si_text(prediction.limit.time_s, "s"));
  if (!prediction.time) {
    cells.resize(cells.size() + 5, "–");
    return;
  }
  const Forecast& time = *prediction.time;
  const bool moves_only = prediction.useful_flops <= 0;
  const double rate = moves_only ? prediction.work.dram.total_bytes() : prediction.useful_flops;
  cells.push_back(si_text(time.expected_s, "s"));
  cells.push_back(si_text(time.low_s, "s"));
  cells.push_back(si_text(time.high_s, "s"));
  cells.push_back(si_text(rate / time.expected_s, moves_only ? "B/s" : "FLOP/s"));
  cells.push_back(percent(prediction.limit.time_s / time.expected_s));
}

void add_expense(Cells& cells, const Candidate& candidate, const CandidateColumns& columns) {
  const Expense expense = candidate.expense.value_or(Expense{});
  if (columns.cost) cells.push_back(expense.cost ? figure_text(1e6 * *expense.cost, 3) : "–");
  if (columns.energy) {
    cells.push_back(expense.most_energy_j ? si_text(*expense.most_energy_j, "J", 3) : "–");
  }
}

Cells cells_of(const Candidate& candidate, const CandidateColumns& columns) {
  Cells cells = {std::string(candidate.kernel.name())};
  if (columns.gpu) {
    cells.push_back(candidate.gpu->name);
    cells.push_back(specs::calibration_word(*candidate.gpu));
  }
  if (!candidate.prediction) {
    cells.resize(cells.size() + columns.figures().size(), "–");
    cells.push_back(candidate.refusal);
    return cells;
  }
  const Prediction& prediction = *candidate.prediction;
  add_time(cells, prediction);
  add_expense(cells, candidate, columns);
  if (columns.bytes) {
    const auto& footprint = prediction.footprint_bytes;
    cells.push_back(si_text(prediction.work.dram.total_bytes(), "B"));
    cells.push_back(footprint ? si_text(*footprint, "B") : "–");
  }
  const ByResource& terms = prediction.time ? prediction.time->terms : prediction.limit.terms;
  const std::string idle = idle_sms_text(prediction, *candidate.gpu);
  const auto bound = name(binding(terms));
  cells.push_back(idle.empty() ? std::string(bound) : fmt::format("{}, {}", bound, idle));
  return cells;
}

}  // namespace

std::string candidates_text(std::span<const Candidate> candidates, bool with_gpu,
                            const Style& style) {
  const CandidateColumns asked(candidates, with_gpu);
  std::vector<TextTable::Column> columns = {{"kernel"}};
  if (asked.gpu) columns.insert(columns.end(), {{"gpu"}, {"calibration"}});
  for (const char* title : asked.figures()) columns.push_back({title, Align::right});
  columns.push_back({"bound"});
  TextTable table(std::move(columns));
  for (const Candidate& candidate : candidates) table.add(cells_of(candidate, asked));
  return table.text(style, "  ");
}

}  // namespace roofcast::cli
