#pragma once
// Specification files and calibration overlays: JSON text in, Gpu out. Pure: no file is opened
// here.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/problem.hpp"

namespace roofcast::specs {

/// A specification or overlay that breaks a rule. what() reads
/// "FILE: at /json/pointer: expected …, found …. Mend: …".
class SpecError : public InputError {
 public:
  SpecError(const std::string& file, std::string pointer, const std::string& expected,
            const std::string& mend);
  const std::string& pointer() const { return pointer_; }

 private:
  std::string pointer_;
};

struct Override {
  /// A leaf of the specification or the calibration, with as much of its path as makes it unique:
  /// "sm_count", "memory/l2_bytes", "clocks.max_hz", "sustained/sm_clock_hz".
  std::string key;
  std::string value;  ///< JSON text of the new value: "144"
};

/// What a specification is built from. `file` names the text in errors.
struct Source {
  std::string file;
  std::string text;
  std::string overlay_file;  ///< with overlay_text, a calibration; empty for none
  std::string overlay_text;
  std::vector<Override> overrides;
  bool datasheet_only = false;  ///< what has no calibration stays as the datasheet says
  /// The measured GPU that gives what the calibration lacks (relative.hpp); empty: the nearest.
  std::string relative{};
};

/// Checks the text against schema.json and the rules a schema cannot say, and builds the device.
/// Sustained values that neither the calibration nor an override gives are those of a measured
/// relative, but where the calibration was fitted as a whole, half-widths of the interval and all.
/// Throws SpecError.
Gpu load(const Source& source);

/// The same of one source with many overrides: its files are read and checked once.
class Loader {
 public:
  explicit Loader(const Source& source);
  /// The device with these overrides, not those of the source. Throws SpecError.
  Gpu load(const std::vector<Override>& overrides) const;

 private:
  struct Files;
  std::shared_ptr<const Files> files_;
};

/// A specification compiled into the program.
struct Embedded {
  std::string_view name;
  std::string_view text;
  std::string_view overlay_text;  ///< the calibration shipped for it; empty where none is
};
std::span<const Embedded> embedded();
/// By its name in any case of letters: "h200-sxm", "H200-SXM". Null for any other.
const Embedded* find_embedded(std::string_view name);
std::string_view schema_text();
std::string_view overlay_schema_text();
/// How much wider the interval of a relative's forecast is, with the runs that told:
/// relatives.json.
std::string_view relatives_text();

/// The specification with the calibration shipped for it.
Source shipped_source(const Embedded& one);
/// The same of that name. Throws InputError where no specification has it.
Source shipped_source(std::string_view name);

/// One value with where it came from, for `roofcast gpus NAME`.
struct SourcedValue {
  std::string pointer;  ///< "/memory/l2_bytes"
  std::string value;    ///< JSON text
  std::string source;   ///< title and address, "measured …", "unverified" or "of GPU, scaled …"
};
std::vector<SourcedValue> values_with_sources(const Source& source);
/// The one that a key of an override names. Throws SpecError where it names none or several,
/// InputError where the device has no such value.
SourcedValue value_named(const Source& source, const std::string& key);

}  // namespace roofcast::specs
