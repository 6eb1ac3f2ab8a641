#include "cli/commands/collective.hpp"

#include <array>

#include "cli/input/options.hpp"
#include "cli/output/answer.hpp"

namespace roofcast::cli {
namespace {

using transformer::CollectiveForecast;

constexpr std::string_view kFamily = "collective";

constexpr std::array kParameters = {
    Parameter{"bytes", "of a rank's input, of all_gather its result", 1, 1'000'000'000'000'000},
    Parameter{"gpus", "2 to 8 of one NVLink switch, or full machines of 8", 2, 4096}};

constexpr std::array kListed = {
    KernelModel{"collective.all_reduce", "sums of all ranks on each", kParameters, {}, nullptr},
    KernelModel{"collective.all_gather", "a part of each rank on all", kParameters, {}, nullptr},
    KernelModel{
        "collective.reduce_scatter", "a part of the sums on each rank", kParameters, {}, nullptr},
    KernelModel{"collective.alltoall", "a part of each rank on each", kParameters, {}, nullptr},
    KernelModel{"collective.send_recv",
                "each rank to the next one, point to point",
                kParameters,
                {},
                nullptr}};
static_assert(kListed.size() == transformer::kCollectives.size());

constexpr KernelFamily kListedFamily = {.name = kFamily,
                                        .summary = "transfers among GPUs by NCCL",
                                        .parameters = kParameters,
                                        .dtypes = {},
                                        .variants = kListed};

}  // namespace

const KernelFamily& collective_family() {
  return kListedFamily;
}

KernelRef collective_ref(std::string_view name) {
  if (name == kFamily) return {&kListedFamily, nullptr};
  return {&kListedFamily, &kListed.at(static_cast<std::size_t>(collective_named(name)))};
}

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
  throw UsageError("a collective is one of {}, not '{}'.{}", fmt::join(names, ", "), name,
                   did_you_mean(name, known));
}

void read_collective_field(const QueryField& field, transformer::Transfer& question) {
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

void write_json(JsonWriter& json, const transformer::Transfer& question, const Gpu& gpu) {
  const CollectiveForecast time = predict_collective(question, gpu);
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("kernel", full_name(question.kind));
  json.member("gpu", gpu.name);
  json.begin_object("problem");
  json.member("bytes", question.bytes);
  json.member("gpus", question.gpus);
  json.end_object();
  json.begin_object("limit");
  json.member("time_s", time.limit_s);
  json.word_member("bound", "link");
  json.end_object();
  const double bytes_s = time.expected_s - time.start_s;
  json.begin_object("time");
  json.member("expected_s", time.expected_s);
  json.member("low_s", time.low_s);
  json.member("high_s", time.high_s);
  json.word_member("bound", bytes_s > time.start_s ? "link" : "start");
  json.end_object();
  json.begin_array("waterfall");
  for (const auto& [part, time_s] :
       {std::pair{"start", time.start_s}, std::pair{"link", bytes_s}}) {
    json.begin_object();
    json.word_member("name", part);
    json.member("time_s", time_s);
    json.end_object();
  }
  json.end_array();
  json.begin_array("notes");
  if (const auto note = transformer::link_note(gpu); !note.empty()) json.string(note);
  json.end_array();
  json.end_object();
}

}  // namespace roofcast::cli
