#include "hw_specs/loader.hpp"

#include <algorithm>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/fields.hpp"
#include "hw_specs/overrides.hpp"
#include "hw_specs/relative.hpp"
#include "hw_specs/rules.hpp"
#include "hw_specs/schema_check.hpp"
#include "hw_specs/what_if.hpp"

namespace roofcast::specs {
namespace {

struct Documents {
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

// Whether the texts are those compiled into the program: the tests check them, not each start.
bool is_shipped(const Source& source) {
  const auto all = embedded();
  return std::any_of(all.begin(), all.end(), [&](const Embedded& one) {
    return source.text == one.text &&
           (source.overlay_text.empty() || source.overlay_text == one.overlay_text);
  });
}

Documents read_files(const Source& source) {
  Documents files{parse_checked(source.file, source.text), nullptr};
  if (!source.overlay_file.empty()) {
    files.overlay = parse_checked(source.overlay_file, source.overlay_text);
    if (files.overlay.is_null()) {
      throw SpecError(source.overlay_file, "", "an object, found null", "give a calibration file");
    }
  }
  if (!is_shipped(source)) check(files, Stage::file, source.file, source.overlay_file);
  return files;
}

/// Applies the overrides and checks the result again: the files passed before, so an error now is
/// the overrides'.
Documents with_overrides(Documents documents, const std::vector<Override>& overrides) {
  if (overrides.empty()) return documents;
  apply(overrides, documents.specification, documents.overlay);
  const std::string options = option_text(overrides);
  check(documents, Stage::overridden, options, options);
  return documents;
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

// A complete fit has all half-widths of the interval, for exactly its values: none is added.
bool fitted_as_a_whole(const Sustained& sustained) {
  return sustained.spread_launch_bound && sustained.spread_memory && sustained.spread_compute;
}

/// The device with the sustained values of its calibration; a relative's values fill the gaps.
Gpu calibrated(const Documents& documents, const Source& source) {
  Gpu gpu = to_gpu(documents.specification);
  const auto lay_own_over = [&] {
    if (!documents.overlay.is_null()) lay_over(documents.overlay, gpu);
  };
  lay_own_over();
  if (!source.datasheet_only && !fitted_as_a_whole(gpu.sustained)) {
    take_from_relative(gpu, source.relative);
    lay_own_over();
  }
  if (source.overlay_file.empty())
    gpu.sustained.source.clear();  // the overlay holds overrides only
  return gpu;
}

/// The device of the overridden documents; `measured` is the device of the files as they are.
Gpu overridden(const Gpu& measured, const Documents& asked, const Source& source) {
  Gpu gpu = calibrated(asked, source);
  carry_over(measured, gpu);
  return gpu;
}

}  // namespace

struct Loader::Files {
  explicit Files(const Source& of)
      : source(of), documents(read_files(source)), gpu(calibrated(documents, source)) {}

  Source source;
  Documents documents;
  Gpu gpu;
};

Loader::Loader(const Source& source) : files_(std::make_shared<Files>(source)) {}

Gpu Loader::load(const std::vector<Override>& overrides) const {
  if (overrides.empty()) return files_->gpu;
  return overridden(files_->gpu, with_overrides(files_->documents, overrides), files_->source);
}

Gpu load(const Source& source) {
  return Loader(source).load(source.overrides);
}

const Embedded* find_embedded(std::string_view name) {
  const auto lower = [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  for (const Embedded& one : embedded()) {
    if (std::equal(name.begin(), name.end(), one.name.begin(), one.name.end(),
                   [&](char typed, char known) { return lower(typed) == known; })) {
      return &one;
    }
  }
  return nullptr;
}

Source shipped_source(const Embedded& one) {
  const std::string name(one.name);
  Source source;
  source.file = name + ".json";
  source.text = one.text;
  source.overlay_file = one.overlay_text.empty() ? "" : name + " calibration";
  source.overlay_text = one.overlay_text;
  return source;
}

Source shipped_source(std::string_view name) {
  if (const Embedded* one = find_embedded(name)) return shipped_source(*one);
  throw InputError("no GPU is named '" + std::string(name) + "'");
}

std::vector<SourcedValue> values_with_sources(const Source& source) {
  const Documents files = read_files(source);
  const Documents asked = with_overrides(files, source.overrides);
  std::vector<SourcedValue> values;
  append_values(asked.specification, quantity_leaves(), values);
  if (!asked.overlay.is_null()) append_values(asked.overlay, sustained_leaves(), values);
  const Gpu measured = calibrated(files, source);
  const Sustained sustained =
      (source.overrides.empty() ? measured : overridden(measured, asked, source)).sustained;
  for (const auto& [pointer, value] : sustained_values(sustained)) {
    if (find(asked.overlay, pointer) != nullptr) continue;
    values.push_back(
        {pointer, Json(value).dump(), "of " + sustained.relative + ", scaled by the datasheets"});
  }
  return values;
}

SourcedValue value_named(const Source& source, const Override& asked) {
  const std::string leaf = leaf_named(asked);
  for (SourcedValue& value : values_with_sources(source)) {
    if (value.pointer == leaf) return std::move(value);
  }
  throw InputError(source.file + " says nothing of " + leaf.substr(1));
}

}  // namespace roofcast::specs
