#include <limits>

#include "cli/output/answer.hpp"
#include "model/traffic_ladder.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// NaN, which is printed as null, where `under` is not positive.
double ratio(double over, double under) {
  return under > 0 ? over / under : kNone;
}

void write_problem(JsonWriter& json, const KernelRef& kernel, const Problem& problem) {
  json.begin_object("problem");
  write_parameters(json, kernel, problem);
  json.end_object();
}

void write_work(JsonWriter& json, const Prediction& prediction) {
  const Work& work = prediction.work;
  json.begin_object("work");
  json.member("flops", work.flops());
  json.member("compulsory_bytes", work.compulsory.total_bytes());
  json.member("dram_read_bytes", work.dram.read_bytes);
  json.member("dram_write_bytes", work.dram.write_bytes);
  json.member("l2_bytes", work.l2.total_bytes());
  json.member("shared_bytes", work.shared_bytes);
  json.end_object();
  json.begin_object("arithmetic_intensity");
  json.member("compulsory", ratio(work.flops(), work.compulsory.total_bytes()));
  json.member("dram", ratio(work.flops(), work.dram.total_bytes()));
  json.end_object();
  json.begin_object("io");
  json.word_member("complexity", prediction.io.formula);
  json.member("lower_bound_bytes", prediction.io.lower_bound_bytes);
  json.member("on_chip_bytes", prediction.io.on_chip_bytes);
  json.end_object();
  if (prediction.footprint_bytes) json.member("footprint_bytes", *prediction.footprint_bytes);
}

void write_traffic(JsonWriter& json, const Prediction& prediction) {
  json.objects("traffic", traffic_ladder(prediction), [&](const Rung& rung) {
    json.word_member("level", name(rung.level));
    json.member("read_bytes", rung.traffic.read_bytes);
    json.member("write_bytes", rung.traffic.write_bytes);
    json.member("reason", rung.reason);
  });
}

void write_extent(JsonWriter& json, std::string_view name,
                  const std::array<std::int64_t, 3>& extent) {
  json.array(name, extent, [&](const std::int64_t size) { json.number(size); });
}

void write_launch(JsonWriter& json, const std::optional<Launch>& launch) {
  json.key("launch");
  if (!launch) return json.null();
  json.begin_object();
  write_extent(json, "grid", launch->grid);
  write_extent(json, "block", launch->block);
  write_extent(json, "cluster", launch->cluster);
  json.member("registers", launch->registers);
  json.member("shared_bytes", launch->shared_bytes);
  json.end_object();
}

void write_occupancy(JsonWriter& json, const std::optional<Occupancy>& occupancy) {
  json.key("occupancy");
  if (!occupancy) return json.null();
  json.begin_object();
  json.member("blocks_per_sm", occupancy->blocks_per_sm);
  json.member("warps_per_sm", occupancy->warps_per_sm);
  json.word_member("limited_by", name(occupancy->limited_by));
  json.end_object();
}

void write_waves(JsonWriter& json, const std::optional<Waves>& waves) {
  json.key("waves");
  if (!waves) return json.null();
  json.begin_object();
  json.member("count", waves->count);
  json.member("full", waves->full);
  json.member("tail_utilization", waves->tail_utilization);
  json.member("efficiency", waves->efficiency);
  json.member("active_sms", waves->active_sms);
  json.end_object();
}

void write_time(JsonWriter& json, const std::optional<Forecast>& time) {
  json.key("time");
  if (!time) return json.null();
  json.begin_object();
  json.member("expected_s", time->expected_s);
  json.member("low_s", time->low_s);
  json.member("high_s", time->high_s);
  json.word_member("bound", name(binding(time->terms)));
  json.begin_array("terms");
  for (std::size_t i = 0; i < kResources; ++i) {
    if (time->terms.at(i) <= 0) continue;
    json.begin_object();
    json.word_member("name", name(static_cast<Resource>(i)));
    json.member("time_s", time->terms.at(i));
    json.end_object();
  }
  json.end_array();
  json.member("sm_cycles", time->sm_cycles);
  json.member("sm_clock_hz", time->sm_clock_hz);
  json.end_object();
}

/// The parts of the expected time, which add up to it.
void write_waterfall(JsonWriter& json, const std::optional<Forecast>& time) {
  json.key("waterfall");
  if (!time) return json.null();
  json.begin_array();
  for (std::size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    if (time->waterfall[part] <= 0) continue;
    json.begin_object();
    json.word_member("name", name(part));
    json.member("time_s", time->waterfall[part]);
    json.end_object();
  }
  json.end_array();
}

/// The source of the sustained values.
void write_calibration(JsonWriter& json, const Gpu& gpu) {
  const Sustained& known = gpu.sustained;
  json.begin_object("calibration");
  const CalibrationKind kind = calibration_kind(known);
  json.word_member("kind", name(kind));
  json.key("from");
  if (kind == CalibrationKind::none) {
    json.null();
  } else {
    json.string(kind == CalibrationKind::relative ? known.relative : known.source);
  }
  json.end_object();
}

/// Rates by the expected time; where there is none, as for a family, by the limit.
void write_rate(JsonWriter& json, const Prediction& prediction) {
  const Work& work = prediction.work;
  const auto& time = prediction.time;
  const double seconds = time ? time->expected_s : prediction.limit.time_s;
  const double dram = time ? work.dram.total_bytes() : work.compulsory.total_bytes();
  json.begin_object("rate");
  json.member("flops_per_s", ratio(prediction.useful_flops, seconds));
  json.member("dram_bytes_per_s", ratio(dram, seconds));
  json.member("fraction_of_limit", ratio(prediction.limit.time_s, seconds));
  json.end_object();
}

void write_refusal_members(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                           const Gpu& gpu, std::string_view why) {
  json.begin_object("error");
  json.word_member("kind", "bad_input");
  json.member("message", why);
  json.end_object();
  json.word_member("kernel", kernel.name());
  json.member("gpu", gpu.name);
  write_problem(json, kernel, problem);
}

void write_members(JsonWriter& json, const Answer& answer) {
  const Prediction& prediction = answer.prediction;
  json.member("schema_version", kSchemaVersion);
  json.word_member("kernel", answer.kernel.name());
  json.member("gpu", answer.gpu.name);
  write_problem(json, answer.kernel, answer.prediction.problem);
  write_work(json, prediction);
  if (answer.kernel.kernel != nullptr) {
    write_traffic(json, prediction);
    write_launch(json, prediction.launch);
    write_occupancy(json, prediction.occupancy);
    write_waves(json, prediction.waves);
  }
  json.begin_object("limit");
  json.member("time_s", prediction.limit.time_s);
  json.word_member("bound", name(binding(prediction.limit.terms)));
  json.end_object();
  if (answer.kernel.kernel != nullptr) write_time(json, prediction.time);
  write_rate(json, prediction);
  if (answer.kernel.kernel != nullptr) write_waterfall(json, prediction.time);
  write_calibration(json, answer.gpu);
  json.begin_array("notes");
  for (const std::string& note : prediction.notes) json.string(note);
  if (prediction.work.dram.total_bytes() <= 0) {
    json.string("no DRAM traffic is forecast here, so the intensity there is not defined");
  }
  json.end_array();
}

}  // namespace

void write_parameters(JsonWriter& json, const KernelRef& kernel, const Problem& problem) {
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (is_named(parameters[i])) {
      json.member(parameters[i].name, named_value(parameters[i], problem, i));
    } else {
      json.member(parameters[i].name, problem[i]);
    }
  }
  json.word_member("dtype", name(problem.dtype));
}

void write_refusal(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                   const Gpu& gpu, std::string_view why) {
  json.begin_object();
  write_refusal_members(json, kernel, problem, gpu, why);
  json.end_object();
}

void write_json(JsonWriter& json, const Answer& answer) {
  json.begin_object();
  write_members(json, answer);
  json.end_object();
}

void write_json(JsonWriter& json, const Candidate& candidate, std::span<const Candidate> variants) {
  const auto& [kernel, problem, gpu, prediction, refusal, expense] = candidate;
  json.begin_object();
  if (prediction) {
    write_members(json, {kernel, *gpu, *prediction});
  } else {
    write_refusal_members(json, kernel, problem, *gpu, refusal);
  }
  if (expense) {
    if (expense->cost) json.member("cost", *expense->cost);
    if (expense->most_energy_j) json.member("most_energy_j", *expense->most_energy_j);
  }
  if (!variants.empty()) {
    json.array("variants", variants, [&](const Candidate& variant) { write_json(json, variant); });
  }
  json.end_object();
}

}  // namespace roofcast::cli
