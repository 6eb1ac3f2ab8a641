#include "hw_specs/loader.hpp"

namespace roofcast::specs {

SpecError::SpecError(std::string file, std::string pointer, std::string expected, std::string mend)
    : InputError(file + ": at " + (pointer.empty() ? "/" : pointer) + ": expected " + expected +
                 ". Mend: " + mend + "."),
      pointer_(std::move(pointer)) {}

}  // namespace roofcast::specs
