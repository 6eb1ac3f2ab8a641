#include "cli/output/units.hpp"

namespace roofcast::cli {

std::string binary_bytes(double bytes) {
  constexpr double kKibi = 1024;
  if (bytes >= kKibi * kKibi * kKibi) {
    return figure_text(bytes / (kKibi * kKibi * kKibi)) + " GiB";
  }
  if (bytes >= kKibi * kKibi) return figure_text(bytes / (kKibi * kKibi)) + " MiB";
  if (bytes >= kKibi) return figure_text(bytes / kKibi) + " KiB";
  return figure_text(bytes) + " B";
}

}  // namespace roofcast::cli
