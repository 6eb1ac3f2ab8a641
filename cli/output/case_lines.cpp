#include "cli/output/case_lines.hpp"

#include "cli/output/answer.hpp"

namespace roofcast::cli {
namespace {

void write_case(JsonWriter& json, const validation::SuiteCase& item, std::string_view gpu) {
  json.begin_object();
  json.member("kernel", item.kernel);
  if (!gpu.empty()) json.member("gpu", gpu);
  write_parameters(json, find_kernel(item.kernel), item.problem);
  if (item.cache) json.member("cache", name(*item.cache));
  json.end_object();
  json.newline();
}

}  // namespace

std::string case_lines(const validation::Suite& suite, const validation::Shard& shard,
                       std::string_view gpu) {
  return json_text([&](JsonWriter& json) {
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
      if (shard.holds(i)) write_case(json, suite.cases[i], gpu);
    }
  });
}

}  // namespace roofcast::cli
