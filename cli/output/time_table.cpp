#include "cli/output/time_table.hpp"

#include <optional>

#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

/// The resource with the part's name, if it takes any time by itself.
std::optional<Resource> resource_of(const ByResource& terms, Part part) {
  for (std::size_t i = 0; i < kResources; ++i) {
    const auto resource = static_cast<Resource>(i);
    if (terms[resource] > 0 && name(resource) == name(part)) return resource;
  }
  return std::nullopt;
}

}  // namespace

std::string time_table(const Forecast& time, const Style& style) {
  TextTable table({{"time"},
                   {"adds", Align::right},
                   {"of expected", Align::right},
                   {"alone", Align::right},
                   {"of expected", Align::right},
                   {""}});
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto part = static_cast<Part>(i);
    const double adds_s = time.waterfall[part];
    const auto resource = resource_of(time.terms, part);
    const double alone_s = resource ? time.terms[*resource] : 0;
    const bool adds = adds_s >= time.expected_s / 1000;
    if (!adds && !resource) continue;
    const bool binds = resource == binding(time.terms);
    table.add({std::string(name(part)), adds ? si_text(adds_s, "s") : "",
               adds ? percent(adds_s / time.expected_s) : "", resource ? si_text(alone_s, "s") : "",
               resource ? percent(alone_s / time.expected_s) : "", binds ? "◄ binding" : ""},
              binds);
  }
  return table.text(style, "  ");
}

}  // namespace roofcast::cli
