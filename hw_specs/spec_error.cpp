#include "hw_specs/loader.hpp"

namespace roofcast::specs {

SpecError::SpecError(const std::string& file, std::string pointer, const std::string& expected,
                     const std::string& mend)
    : InputError(file + ": at " + (pointer.empty() ? "/" : pointer) + ": expected " + expected +
                 ". Mend: " + mend + "."),
      pointer_(std::move(pointer)) {}

}  // namespace roofcast::specs
