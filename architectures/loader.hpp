#pragma once
// Reads model architectures from Hugging Face's config.json. Pure: no file is opened here.
#include <span>
#include <string>
#include <string_view>

#include "model/transformer/architecture.hpp"

namespace roofcast::architectures {

/// Reads the text of a config.json; `file` names it in errors. Throws specs::SpecError (an
/// InputError) that names the key: for an unknown model_type, a missing or impossible value, a head
/// count that does not divide the width, and key-value heads that do not divide the heads.
transformer::Architecture load(const std::string& file, std::string_view text);

/// A configuration compiled into the program.
struct Embedded {
  std::string_view name;
  std::string_view text;
};
std::span<const Embedded> embedded();
/// The configuration of that name; null if there is none.
const Embedded* find_embedded(std::string_view name);

}  // namespace roofcast::architectures
