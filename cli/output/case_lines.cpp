#include "cli/output/case_lines.hpp"

#include "cli/output/json_writer.hpp"
#include "model/catalog.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

void write_case(JsonWriter& json, const validation::SuiteCase& item, std::string_view gpu) {
  json.begin_object();
  json.member("kernel", item.kernel);
  if (!gpu.empty()) json.member("gpu", gpu);
  std::size_t i = 0;
  for (const Parameter& parameter : find_kernel(item.kernel).parameters()) {
    if (is_named(parameter)) {
      json.member(parameter.name, named_value(parameter, item.problem, i));
    } else {
      json.member(parameter.name, item.problem[i]);
    }
    ++i;
  }
  json.member("dtype", name(item.problem.dtype));
  if (item.cache) json.member("cache", name(*item.cache));
  json.end_object();
  json.newline();
}

}  // namespace

std::string case_lines(const validation::Suite& suite, const validation::Shard& shard,
                       std::string_view gpu) {
  fmt::memory_buffer out;
  JsonWriter json(out);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (shard.holds(i)) write_case(json, suite.cases[i], gpu);
  }
  return fmt::to_string(out);
}

}  // namespace roofcast::cli
