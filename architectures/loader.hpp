#pragma once
// Architectures from the config.json of Hugging Face. Pure: no file is opened here.
#include <span>
#include <string>
#include <string_view>

#include "model/transformer/architecture.hpp"

namespace roofcast::architectures {

/// Reads the text of a config.json; `file` names it in errors. Throws specs::SpecError (an
/// InputError) naming the key for an unknown model_type, a missing or impossible value, and heads
/// that do not divide.
transformer::Architecture load(const std::string& file, std::string_view text);

/// A configuration compiled into the program.
struct Embedded {
  std::string_view name;
  std::string_view text;
};
std::span<const Embedded> embedded();
/// Null where there is none of that name.
const Embedded* find_embedded(std::string_view name);

}  // namespace roofcast::architectures
