#include "hw_specs/schema_check.hpp"

#include <optional>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "hw_specs/kernel_file.hpp"
#include "hw_specs/loader.hpp"
#include "hw_specs/violation.hpp"

namespace roofcast::specs {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

struct CompiledSchema {
  explicit CompiledSchema(std::string_view text) : json(Json::parse(text)) {
    const NlohmannJsonAdapter adapter(json);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(adapter, schema);
  }

  Json json;
  valijson::Schema schema;
};

// Compiled once: compiling takes longer than a check.
const CompiledSchema& compiled(DocumentKind kind) {
  if (kind == DocumentKind::specification) {
    static const CompiledSchema specification(schema_text());
    return specification;
  }
  if (kind == DocumentKind::kernel) {
    static const CompiledSchema kernel(kernel_schema_text());
    return kernel;
  }
  static const CompiledSchema overlay(overlay_schema_text());
  return overlay;
}

/// valijson names a place "<root>", "[memory]", "[l2_bytes]".
std::string pointer_of(const std::vector<std::string>& context) {
  std::string pointer;
  for (std::size_t i = 1; i < context.size(); ++i) {
    pointer = child(pointer, std::string_view(context[i]).substr(1, context[i].size() - 2));
  }
  return pointer;
}

/// The first of the most deeply nested errors: every enclosing object repeats an error.
std::optional<Violation> innermost(const valijson::ValidationResults& results) {
  const valijson::ValidationResults::Error* deepest = nullptr;
  for (const auto& error : results) {
    if (deepest == nullptr || error.context.size() > deepest->context.size()) deepest = &error;
  }
  if (deepest == nullptr) return std::nullopt;
  return Violation{pointer_of(deepest->context), deepest->description};
}

}  // namespace

void check_schema(const Json& document, DocumentKind kind, const std::string& file) {
  const CompiledSchema& schema = compiled(kind);
  const NlohmannJsonAdapter adapter(document);
  valijson::Validator validator;
  if (validator.validate(schema.schema, adapter, nullptr)) return;

  valijson::ValidationResults results;
  validator.validate(schema.schema, adapter, &results);
  const Violation violation = innermost(results).value_or(Violation{"", "the schema's rules"});
  throw_violation(document, schema.json, violation, file);
}

}  // namespace roofcast::specs
