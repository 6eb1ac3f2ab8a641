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

/// Cost and energy of one call; a figure is absent where the price or the power limit is unknown.
struct Expense {
  std::optional<double> cost;           ///< price × expected time, in the currency of the price
  std::optional<double> most_energy_j;  ///< power limit × expected time, an upper bound (J)
};

/// A row of an answer: a forecast, or the reason why there is none.
struct Candidate {
  KernelRef kernel;
  Problem problem;
  const Gpu* gpu;
  std::optional<Prediction> prediction;
  std::string refusal;
  std::optional<Expense> expense{};
};

/// Writes each parameter and the type as members of the open object.
void write_parameters(JsonWriter& json, const KernelRef& kernel, const Problem& problem);

/// The JSON contract: these keys in this order.
void write_json(JsonWriter& json, const Answer& answer);
/// The same, or the refusal; "variants" at the end is the array of the variants, if there are any.
void write_json(JsonWriter& json, const Candidate& candidate,
                std::span<const Candidate> variants = {});
/// {"error":{…},"kernel":…,"gpu":…,"problem":{…}}: the answer where there is no forecast.
void write_refusal(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                   const Gpu& gpu, std::string_view why);

/// Every figure of one answer as text.
std::string answer_text(const Answer& answer, const Style& style);

/// The notes of a forecast, a line each: "  note: …".
std::string notes_text(std::span<const std::string> notes, const Style& style);

/// A text table with a row for each candidate; it has columns of cost and energy if a row has them.
std::string candidates_text(std::span<const Candidate> candidates, bool with_gpu,
                            const Style& style);

/// The exit code for `count` rows without a forecast; warns if there are any.
ExitCode refusals_reported(std::size_t count);

/// Writes forecasts as CSV. `parameters`, those of all kernels asked about, are columns; a
/// parameter that a kernel lacks stays empty.
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

/// A CSV field, quoted where it has to be (RFC 4180); other control characters than line ends and
/// tabs are shown as escapes.
std::string csv_field(std::string_view text);
/// A row of such fields with its line end.
std::string csv_line(std::span<const std::string> fields);

}  // namespace roofcast::cli
