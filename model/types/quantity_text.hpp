#pragma once
// Numbers for people: the one place that rounds them and chooses their prefix.
#include <string>
#include <string_view>

namespace roofcast {

/// `digits` significant digits, without trailing zeros and with every digit before the point: 1.5,
/// 0.25, 12346; "–" for a value that is not finite.
std::string figure_text(double value, int digits = 4);

/// A quantity in SI base units, with the prefix that makes its rounded number 1 to below 1000:
/// 137.4 GFLOP, 999.6 B, 1 kB for 999.96 B.
std::string si_text(double value, std::string_view unit, int digits = 4);

/// A share with one decimal: "6.3%"; with a sign: "+6.3%", "−6.3%".
std::string percent(double share);
std::string signed_percent(double share);

}  // namespace roofcast
