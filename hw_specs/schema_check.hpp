#pragma once
#include <string>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

enum class DocumentKind : unsigned char { specification, overlay, kernel };

/// Checks a document against schema.json, overlay.schema.json or kernel.schema.json. Throws
/// SpecError at the most deeply nested value that breaks it, with the schema's description of it.
void check_schema(const Json& document, DocumentKind kind, const std::string& file);

}  // namespace roofcast::specs
