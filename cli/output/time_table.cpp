#include "cli/output/time_table.hpp"

#include <algorithm>
#include <optional>

#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

/// The term of the resource with the part's name: its time alone.
std::optional<Term> term_of(const Terms& terms, Part part) {
  const auto* const found = std::find_if(terms.begin(), terms.end(), [part](const Term& term) {
    return name(term.resource) == name(part);
  });
  return found == terms.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::string time_table(const Forecast& time, const Style& style) {
  const Resource binding = time.terms.binding().resource;
  TextTable table({{"time"},
                   {"adds", Align::right},
                   {"of expected", Align::right},
                   {"alone", Align::right},
                   {"of expected", Align::right},
                   {""}});
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto part = static_cast<Part>(i);
    const double adds_s = time.waterfall[part];
    const auto term = term_of(time.terms, part);
    const bool adds = adds_s >= time.expected_s / 1000;
    if (!adds && !term) continue;
    const bool binds = term && term->resource == binding;
    table.add(
        {std::string(name(part)), adds ? si_text(adds_s, "s") : "",
         adds ? percent(adds_s / time.expected_s) : "", term ? si_text(term->time_s, "s") : "",
         term ? percent(term->time_s / time.expected_s) : "", binds ? "◄ binding" : ""},
        binds);
  }
  return table.text(style, "  ");
}

}  // namespace roofcast::cli
