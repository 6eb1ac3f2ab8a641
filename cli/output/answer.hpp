#pragma once
// One question with its forecast, and the ways to print it.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/output/json_writer.hpp"
#include "cli/output/terminal.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

inline constexpr std::int64_t kSchemaVersion = 1;

struct Answer {
  const KernelRef& kernel;
  const Gpu& gpu;
  const Prediction& prediction;  ///< of the problem with the settings that the model chose
};

/// "m=4096 n=4096 k=4096 bf16"
std::string problem_text(const KernelRef& kernel, const Problem& problem);

/// What one call costs and takes, where it is asked.
struct Expense {
  std::optional<double> cost;           ///< price × expected time, in the currency of the price
  std::optional<double> most_energy_j;  ///< power limit × expected time: it takes no more
};

/// A row of an answer: a forecast, or why there is none.
struct Candidate {
  KernelRef kernel;
  Problem problem;
  const Gpu* gpu;
  std::optional<Prediction> prediction;
  std::string refusal;
  std::optional<Expense> expense{};
};

/// Members of an open object: each parameter and the type.
void write_parameters(JsonWriter& json, const KernelRef& kernel, const Problem& problem);

/// The JSON contract: these keys in this order.
void write_json(JsonWriter& json, const Answer& answer);
/// The same, or the refusal; with variants, an array of theirs under "variants" at the end.
void write_json(JsonWriter& json, const Candidate& candidate,
                std::span<const Candidate> variants = {});
/// {"error":{…},"kernel":…,"gpu":…,"problem":{…}}: a point of a sweep without a forecast.
void write_refusal(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                   const Gpu& gpu, std::string_view why);

/// For people: every figure of one answer.
std::string answer_text(const Answer& answer, const Style& style);

/// One row each, side by side; with what a call costs and takes where a row says so.
std::string candidates_text(std::span<const Candidate> candidates, bool with_gpu,
                            const Style& style);

/// The exit code for so many rows without a forecast, with a warning if there are any.
ExitCode refusals_reported(std::size_t count);

/// A table of values for programs. The parameters are columns of their own: those of all kernels
/// asked about.
class CsvWriter {
 public:
  CsvWriter(fmt::memory_buffer& out, std::vector<std::string> parameters);
  void header();
  void row(const Answer& answer);
  void refused(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
               std::string_view why);
  void row(const Candidate& candidate);

 private:
  void question(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

  fmt::memory_buffer& out_;
  std::vector<std::string> parameters_;
};

/// A field of a CSV file, quoted where it has to be (RFC 4180); control characters other than line
/// ends and tabs, which the format does not have, are shown as escapes.
std::string csv_field(std::string_view text);
/// A row of such fields, with its end.
std::string csv_line(std::span<const std::string> fields);

}  // namespace roofcast::cli
