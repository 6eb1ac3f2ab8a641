#pragma once
// The overlay file of a device (hw_specs/overlay.schema.json), as microbenchmarks and fits write
// it.
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::validation {

/// One value of /sustained; `key` is its path there: "sm_clock_hz", "vector_flop_per_clk/fp32".
struct OverlayValue {
  std::string key;
  double value = 0;
  std::string source;  ///< a key of the sources
  std::string note;    ///< empty: none
};

struct OverlaySource {
  std::string key;
  std::string title;
  std::string date;  ///< YYYY-MM-DD
};

struct OverlayProvenance {
  std::string run;  ///< file that the values come from
  std::string date;
  std::string device;
  std::string driver;
  std::string cuda;  ///< empty: not known
  std::string note;  ///< empty: none
};

struct Overlay {
  std::string gpu;
  OverlayProvenance provenance;
  std::vector<OverlaySource> sources;
  std::vector<OverlayValue> values;

  const OverlayValue* find(std::string_view key) const;
};

/// Prefix of the source keys of values that a microbenchmark measured and no fit changed.
inline constexpr std::string_view kMicrobenchmark = "MB:";
bool measured_directly(const OverlayValue& value);

/// JSON text, without sources that no value names.
std::string to_json(const Overlay& overlay);

/// Throws InputError for text that is no overlay. The rules of hw_specs are not checked here.
Overlay parse_overlay(const std::string& file, const std::string& text);

/// Adds the values that `overlay` lacks and `kept` has, with their sources; a source of the same
/// key and another title is renamed. Returns how many were added.
std::size_t keep_missing(Overlay& overlay, const Overlay& kept);

}  // namespace roofcast::validation
