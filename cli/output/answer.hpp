#pragma once
// One question with its forecast, and the ways to print it.
#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/json_writer.hpp"
#include "cli/output/terminal.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

inline constexpr std::int64_t kSchemaVersion = 1;

struct Answer {
  const KernelRef& kernel;
  const Problem& problem;
  const Gpu& gpu;
  const Prediction& prediction;
};

std::string_view kernel_name(const KernelRef& kernel);

/// "m=4096 n=4096 k=4096 bf16"
std::string problem_text(const KernelRef& kernel, const Problem& problem);

/// The JSON contract: these keys in this order.
void write_json(JsonWriter& json, const Answer& answer);
/// {"error":{…},"kernel":…,"gpu":…,"problem":{…}}: a point of a sweep without a forecast.
void write_refusal(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                   const Gpu& gpu, std::string_view why);

/// For people: every figure of one answer.
std::string answer_text(const Answer& answer, const Style& style);

/// One row of a comparison of several answers; `refusal` says why there is no prediction.
struct Candidate {
  std::string kernel;
  std::string gpu;
  Prediction prediction;
  std::string refusal;
};
std::string candidates_text(std::span<const Candidate> candidates, bool with_gpu,
                            const Style& style);

/// A table of values for programs. The parameters are columns of their own: those of all kernels
/// asked about.
class CsvWriter {
 public:
  CsvWriter(fmt::memory_buffer& out, std::vector<std::string> parameters);
  void header();
  void row(const Answer& answer);
  void refused(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
               std::string_view why);

 private:
  void question(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

  fmt::memory_buffer& out_;
  std::vector<std::string> parameters_;
};

/// A field of a CSV file, quoted where it has to be (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace roofcast::cli
