#include "hw_specs/loader.hpp"

#include "hw_specs/checked_json.hpp"
#include "hw_specs/fields.hpp"
#include "hw_specs/overrides.hpp"
#include "hw_specs/relative.hpp"
#include "hw_specs/rules.hpp"
#include "hw_specs/schema_check.hpp"
#include "hw_specs/what_if.hpp"

namespace roofcast::specs {
namespace {

/// The checked documents of a source, overrides applied.
struct Documents {
  explicit Documents(const Source& source);

  Json specification;
  Json overlay;  ///< null where there is none
};

void check(const Documents& documents, Stage stage, const std::string& file,
           const std::string& overlay_file) {
  check_schema(documents.specification, DocumentKind::specification, file);
  check_rules(documents.specification, stage, file);
  if (documents.overlay.is_null()) return;
  check_schema(documents.overlay, DocumentKind::overlay, overlay_file);
  check_overlay_rules(documents.overlay,
                      documents.specification["name"].get_ref<const std::string&>(), stage,
                      overlay_file);
}

// Checked twice where there are overrides, so that an error names the file or the override at
// fault.
Documents::Documents(const Source& source)
    : specification(parse_checked(source.file, source.text)) {
  if (!source.overlay_file.empty()) {
    overlay = parse_checked(source.overlay_file, source.overlay_text);
    if (overlay.is_null()) {
      throw SpecError(source.overlay_file, "", "an object, found null", "give a calibration file");
    }
  }
  check(*this, Stage::file, source.file, source.overlay_file);
  if (source.overrides.empty()) return;

  apply(source.overrides, specification, overlay);
  const std::string options = option_text(source.overrides);
  check(*this, Stage::overridden, options, options);
}

std::string source_text(const Json& document, const Json& quantity) {
  std::string text = quantity["source"].get<std::string>();
  if (text == kOverrideSource) return "set by hand";
  if (const Json* entry = find(document, child("/sources", text))) {
    text = entry->at("title").get<std::string>();
    for (const char* key : {"address", "date"}) {
      if (entry->contains(key)) text += ", " + entry->at(key).get<std::string>();
    }
  }
  if (quantity.contains("note")) text += " (" + quantity["note"].get<std::string>() + ")";
  return text;
}

void append_values(const Json& document, const std::vector<std::string>& leaves,
                   std::vector<SourcedValue>& values) {
  for (const std::string& leaf : leaves) {
    if (const Json* quantity = find(document, leaf)) {
      values.push_back({leaf, quantity->at("value").dump(), source_text(document, *quantity)});
    }
  }
}

// A fit ends with the half-widths of the interval, which hold for the values as they are.
bool fitted_as_a_whole(const Sustained& sustained) {
  return sustained.spread_launch_bound && sustained.spread_memory && sustained.spread_compute;
}

}  // namespace

Gpu load(const Source& source) {
  const Documents documents(source);
  Gpu gpu = to_gpu(documents.specification);
  const auto lay_own_over = [&] {
    if (!documents.overlay.is_null()) lay_over(documents.overlay, gpu);
  };
  lay_own_over();
  if (!source.datasheet_only && !fitted_as_a_whole(gpu.sustained)) {
    take_from_relative(gpu, source.relative);
    lay_own_over();
  }
  if (source.overlay_file.empty()) gpu.sustained.source.clear();  // values set by hand alone
  if (!source.overrides.empty()) {
    Source as_filed = source;
    as_filed.overrides.clear();
    carry_over(load(as_filed), gpu);
  }
  return gpu;
}

const Embedded* find_embedded(std::string_view name) {
  for (const Embedded& one : embedded()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::vector<SourcedValue> values_with_sources(const Source& source) {
  const Documents documents(source);
  std::vector<SourcedValue> values;
  append_values(documents.specification, quantity_leaves(), values);
  if (!documents.overlay.is_null()) append_values(documents.overlay, sustained_leaves(), values);
  const Sustained sustained = load(source).sustained;
  for (const auto& [pointer, value] : sustained_values(sustained)) {
    if (find(documents.overlay, pointer) != nullptr) continue;
    values.push_back(
        {pointer, Json(value).dump(), "of " + sustained.relative + ", scaled by the datasheets"});
  }
  return values;
}

}  // namespace roofcast::specs
