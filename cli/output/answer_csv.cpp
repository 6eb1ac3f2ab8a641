#include "cli/output/answer.hpp"
#include "cli/output/figures.hpp"
#include "cli/output/visible_text.hpp"
#include "hw_specs/calibration_words.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

void append(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string shown = visible(text, "\t\r\n");
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_line(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != fields.data()) line += ',';
    line += csv_field(field);
  }
  return line + '\n';
}

CsvWriter::CsvWriter(fmt::memory_buffer& out, std::vector<std::string> parameters)
    : out_(out), parameters_(std::move(parameters)) {}

void CsvWriter::header() {
  append(out_, "kernel,gpu");
  for (const std::string& parameter : parameters_) {
    out_.push_back(',');
    append(out_, parameter);
  }
  append(out_, ",dtype");
  for (const Figure& figure : figures()) {
    out_.push_back(',');
    append(out_, figure.title);
  }
  append(out_, ",limited_by,limit_bound,bound,calibration,notes,error\n");
}

void CsvWriter::question(const KernelRef& kernel, const Problem& problem, const Gpu& gpu) {
  append(out_, kernel.name());
  out_.push_back(',');
  append(out_, csv_field(gpu.name));
  const auto known = kernel.parameters();
  for (const std::string& parameter : parameters_) {
    out_.push_back(',');
    const auto position = position_named(known, parameter);
    if (!position) continue;
    if (is_named(known[*position])) {
      append(out_, csv_field(named_value(known[*position], problem, *position)));
    } else {
      fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), problem[*position]);
    }
  }
  out_.push_back(',');
  append(out_, name(problem.dtype));
}

void CsvWriter::row(const Answer& answer) {
  const Prediction& prediction = answer.prediction;
  question(answer.kernel, answer.prediction.problem, answer.gpu);
  for (const Figure& figure : figures()) {
    out_.push_back(',');
    const double value = figure.value(prediction);
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), value);
  }
  out_.push_back(',');
  if (prediction.occupancy) append(out_, name(prediction.occupancy->limited_by));
  out_.push_back(',');
  append(out_, name(binding(prediction.limit.terms)));
  out_.push_back(',');
  if (prediction.time) append(out_, name(binding(prediction.time->terms)));
  out_.push_back(',');
  append(out_, csv_field(specs::calibration_word(answer.gpu)));
  out_.push_back(',');
  append(out_, csv_field(fmt::format("{}", fmt::join(prediction.notes, "; "))));
  append(out_, ",\n");
}

void CsvWriter::refused(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                        std::string_view why) {
  constexpr std::size_t kTextsBefore = 4;
  question(kernel, problem, gpu);
  for (std::size_t i = 0; i < figures().size() + kTextsBefore; ++i) out_.push_back(',');
  append(out_, csv_field(specs::calibration_word(gpu)));
  append(out_, ",,");
  append(out_, csv_field(why));
  out_.push_back('\n');
}

void CsvWriter::row(const Candidate& candidate) {
  const auto& [kernel, problem, gpu, prediction, refusal, expense] = candidate;
  if (prediction) return row({kernel, *gpu, *prediction});
  refused(kernel, problem, *gpu, refusal);
}

}  // namespace roofcast::cli
