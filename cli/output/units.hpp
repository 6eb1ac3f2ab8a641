#pragma once
// Numbers for people: four significant digits and a prefix. Everything inside is SI base units.
#include <string>
#include <string_view>

namespace roofcast::cli {

/// "137.4 GFLOP": decimal prefixes from n to E.
std::string with_prefix(double value, std::string_view unit);
/// "48 KiB": for memories built in powers of two.
std::string binary_bytes(double bytes);
/// "71.3%"
std::string percent(double share);
/// At most four significant digits, no prefix.
std::string plain_number(double value);

}  // namespace roofcast::cli
