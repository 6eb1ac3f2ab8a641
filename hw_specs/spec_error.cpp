#include <nlohmann/json.hpp>

#include "hw_specs/loader.hpp"

namespace roofcast::specs {
namespace {

/// The pointer, not cut as by printable(): one must be able to look it up. Control characters are
/// escaped.
std::string place(const std::string& pointer) {
  if (pointer.empty()) return "the top level";
  const std::string quoted =
      nlohmann::json(pointer).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

SpecError::SpecError(const std::string& file, std::string pointer, const std::string& expected,
                     const std::string& mend)
    : InputError(file + ": at " + place(pointer) + ": expected " + expected + ". Mend: " + mend +
                 "."),
      pointer_(std::move(pointer)) {}

}  // namespace roofcast::specs
