#include <fmt/format.h>

#include "cli/output/answer.hpp"
#include "cli/output/profile_output.hpp"
#include "validation/profiles/words.hpp"

namespace roofcast::cli {
namespace {

using validation::CallGroup;
using validation::Mend;
using validation::Profile;

double share_of(double part_s, const Profile& profile) {
  return profile.trace.busy_s > 0 ? part_s / profile.trace.busy_s : 0;
}

void write_launch(JsonWriter& json, const CallGroup& group) {
  const auto& kernel = group.longest_kernel();
  if (kernel.launch) {
    json.array("grid", kernel.launch->grid, [&](const std::int64_t one) { json.number(one); });
    json.member("threads", kernel.launch->threads());
  }
  if (group.occupancy) json.member("blocks_per_sm", group.occupancy->blocks_per_sm);
  if (kernel.achieved_occupancy) json.member("occupancy", *kernel.achieved_occupancy);
  if (group.waves) json.member("waves", group.waves->count);
}

void write_place(JsonWriter& json, const CallGroup& group) {
  if (!group.place) return;
  const double call_s = group.measured_s() / static_cast<double>(group.count());
  json.begin_object("roofline");
  json.member("flops", group.place->flops);
  json.member("dram_bytes", group.place->dram_bytes);
  if (group.place->dram_bytes > 0) {
    json.member("intensity", group.place->flops / group.place->dram_bytes);
    json.member("dram_bytes_per_s", group.place->dram_bytes / call_s);
  }
  json.member("flops_per_s", group.place->flops / call_s);
  json.word_member("from", group.place->counted ? "counters" : "shapes");
  json.end_object();
}

void write_optional(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.key(key);
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void write_group(JsonWriter& json, const CallGroup& group, const Profile& profile) {
  json.begin_object();
  json.member("name", group.call.name);
  json.member("shapes", shape_text(group));
  json.member("calls", group.count());
  json.member("time_s", group.measured_s());
  json.member("share", share_of(group.measured_s(), profile));
  json.boolean("recognized", group.does != validation::Does::unknown);
  json.word_member("does", name(group.does));
  json.word_member("library", group.library);
  if (group.recognized) {
    json.member("kernel", group.recognized->kernel.kernel->name);
  }
  write_optional(json, "limit_s", group.limit_s);
  write_optional(json, "expected_s", group.expected_s);
  if (group.forecast) {
    json.word_member("bound", bound_name(group));
  } else {
    json.null("bound");
  }
  if (group.lacks != validation::Lacks::nothing) json.word_member("lacks", bound_text(group));
  if (group.impossible()) {
    json.boolean("faster_than_limit", true);
  }
  write_launch(json, group);
  write_place(json, group);
  if (group.call.by_operator) {
    json.array("launched", group.call.kernels,
               [&](const auto& kernel) { json.string(kernel.name); });
  }
  json.end_object();
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string profile_json(const ProfileAnswer& answer) {
  const Profile& profile = answer.profile;
  return json_text([&](JsonWriter& json) {
    json.begin_object();
    json.member("schema_version", kSchemaVersion);
    json.member("gpu", answer.gpu.name);
    json.member("device", profile.trace.device);
    json.word_member("cache", profile.trace.counted ? "cold" : "warm");
    json.member("total_s", profile.trace.busy_s);
    json.member("span_s", profile.trace.span_s);
    json.member("launches", profile.trace.kernels);
    json.member("recognized_share", share_of(profile.recognized_s, profile));
    json.member("compared_share", share_of(profile.compared_s, profile));
    json.member("no_shape_share", share_of(profile.no_shape_s, profile));
    json.member("compared_s", profile.compared_s);
    json.member("expected_s", profile.expected_s);
    json.member("ignored_lines", profile.trace.ignored_lines);
    json.objects("mends", profile.mends, [&](const Mend& mend) {
      json.member("what", mend.what);
      json.member("gain_s", mend.saved_s);
      json.member("total_after_s", mend.total_after_s);
      json.member("calls", mend.calls);
      json.word_member("of", mend.saves_waiting ? "span" : "kernels");
    });
    json.array("kernels", profile.groups,
               [&](const CallGroup& group) { write_group(json, group, profile); });
    json.end_object();
    json.newline();
  });
}

std::string profile_csv(const ProfileAnswer& answer) {
  std::string text =
      "name,shapes,calls,time_s,share,recognized,limit_s,expected_s,bound,occupancy,waves,flops,"
      "dram_bytes\n";
  for (const CallGroup& group : answer.profile.groups) {
    const auto& place = group.place;
    const std::vector<std::string> cells = {
        group.call.name,
        shape_text(group),
        fmt::to_string(group.count()),
        csv_number(group.measured_s()),
        csv_number(share_of(group.measured_s(), answer.profile)),
        group.does == validation::Does::unknown ? "false" : "true",
        csv_number(group.limit_s),
        csv_number(group.expected_s),
        std::string(bound_text(group)),
        csv_number(group.longest_kernel().achieved_occupancy),
        group.waves ? csv_number(group.waves->count) : "",
        place ? csv_number(place->flops) : "",
        place ? csv_number(place->dram_bytes) : ""};
    text += csv_line(cells);
  }
  return text;
}

}  // namespace roofcast::cli
