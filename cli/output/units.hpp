#pragma once
#include <string>

#include "model/types/quantity_text.hpp"

namespace roofcast::cli {

/// Bytes with a binary prefix, "48 KiB", for memories built in powers of two.
std::string binary_bytes(double bytes);

}  // namespace roofcast::cli
