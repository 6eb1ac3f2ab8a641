#include "cli/commands/collective.hpp"

#include "cli/input/options.hpp"
#include "cli/output/answer.hpp"

namespace roofcast::cli {
namespace {

using transformer::CollectiveForecast;

constexpr std::string_view kFamily = "collective";

}  // namespace

std::string full_name(transformer::Collective collective) {
  return fmt::format("{}.{}", kFamily, name(collective));
}

bool is_collective(std::string_view name) {
  return name == kFamily || (name.starts_with(kFamily) && name[kFamily.size()] == '.');
}

transformer::Collective collective_named(std::string_view name) {
  std::vector<std::string> names;
  for (const transformer::Collective one : transformer::kCollectives) {
    names.push_back(full_name(one));
    if (names.back() == name) return one;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw UsageError(fmt::format("a collective is one of {}, not '{}'.{}", fmt::join(names, ", "),
                               name, did_you_mean(name, known)));
}

void read_collective_field(const QueryField& field, CollectiveQuestion& question) {
  if (field.key != "bytes" && field.key != "gpus") {
    constexpr std::array<std::string_view, 4> known = {"kernel", "gpu", "bytes", "gpus"};
    throw InputError(fmt::format("collectives have no parameter '{}'.{}", field.key,
                                 did_you_mean(field.key, known)));
  }
  if (field.kind != QueryField::Kind::whole) {
    throw InputError(fmt::format("'{}' takes a whole number", field.key));
  }
  (field.key == "bytes" ? question.bytes : question.gpus) = field.real;
}

void write_json(JsonWriter& json, const CollectiveQuestion& question, const Gpu& gpu) {
  const CollectiveForecast time =
      predict_collective(question.collective, question.bytes, question.gpus, gpu);
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("kernel", full_name(question.collective));
  json.member("gpu", gpu.name);
  json.key("problem");
  json.begin_object();
  json.member("bytes", question.bytes);
  json.member("gpus", question.gpus);
  json.end_object();
  json.key("limit");
  json.begin_object();
  json.member("time_s", time.limit_s);
  json.word_member("bound", "link");
  json.end_object();
  const double bytes_s = time.expected_s - time.start_s;
  json.key("time");
  json.begin_object();
  json.member("expected_s", time.expected_s);
  json.member("low_s", time.low_s);
  json.member("high_s", time.high_s);
  json.word_member("bound", bytes_s > time.start_s ? "link" : "start");
  json.end_object();
  json.key("waterfall");
  json.begin_array();
  for (const auto& [part, time_s] :
       {std::pair{"start", time.start_s}, std::pair{"link", bytes_s}}) {
    json.begin_object();
    json.word_member("name", part);
    json.member("time_s", time_s);
    json.end_object();
  }
  json.end_array();
  json.key("notes");
  json.begin_array();
  json.end_array();
  json.end_object();
}

}  // namespace roofcast::cli
