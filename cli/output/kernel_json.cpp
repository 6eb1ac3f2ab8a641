#include "cli/output/kernel_json.hpp"

#include "cli/output/answer.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

/// Writes minimum and maximum of a number, choices of a named value, or maximum_bytes of a text.
void write_range(JsonWriter& json, const Parameter& parameter) {
  if (parameter.is_text) {
    json.member("maximum_bytes", static_cast<std::int64_t>(Text::kMaxBytes));
    if (parameter.fallback) json.member("default", fallback_text(parameter));
  } else if (is_named(parameter)) {
    json.strings("choices", parameter.choices);
    if (parameter.fallback) json.member("default", fallback_text(parameter));
  } else {
    json.member("minimum", parameter.minimum);
    json.member("maximum", parameter.maximum);
    if (parameter.fallback) json.member("default", *parameter.fallback);
  }
}

}  // namespace

std::string_view summary(const KernelRef& kernel) {
  return kernel.kernel != nullptr ? kernel.kernel->summary : kernel.family->summary;
}

void write_kernel(JsonWriter& json, const KernelRef& kernel) {
  json.begin_object();
  json.member("name", kernel.name());
  json.member("summary", summary(kernel));
  json.array("dtypes", kernel.dtypes(), [&](const DType type) { json.string(name(type)); });
  json.objects("parameters", kernel.parameters(), [&](const Parameter& parameter) {
    json.member("name", parameter.name);
    json.member("meaning", parameter.meaning);
    write_range(json, parameter);
  });
  if (kernel.kernel == nullptr) {
    json.begin_array("variants");
    for (const KernelModel& variant : kernel.family->variants) {
      write_kernel(json, {kernel.family, &variant});
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace roofcast::cli
