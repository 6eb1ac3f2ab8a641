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
  /// A leaf of the specification or the calibration, by enough of its path's end to be unique:
  /// "sm_count", "memory/l2_bytes", "clocks.max_hz", "sustained/sm_clock_hz".
  std::string key;
  std::string value;                  ///< JSON text of the new value: "144"
  std::string_view option = "--set";  ///< that gave it, as errors name it
};

/// The texts and options from which load() builds a device. `file` names `text` in errors.
struct Source {
  std::string file;
  std::string text;
  std::string overlay_file;  ///< with overlay_text, a calibration; empty for none
  std::string overlay_text;
  std::vector<Override> overrides;
  bool datasheet_only = false;  ///< no relative's values in place of missing sustained values
  /// The measured GPU whose values replace missing ones (relative.hpp); empty: the nearest.
  std::string relative{};
};

/// Checks the text against schema.json and the rules that a schema cannot express, unless it is
/// compiled into the program, and builds the device. A measured relative supplies the sustained
/// values that neither the calibration nor an override gives, except if these contain all three
/// half-widths of the interval: then the calibration is a complete fit. Throws SpecError.
Gpu load(const Source& source);

/// Loads one source with many sets of overrides: its files are read and checked once.
class Loader {
 public:
  explicit Loader(const Source& source);
  /// The device with these overrides instead of the source's own. Throws SpecError.
  Gpu load(const std::vector<Override>& overrides) const;

 private:
  struct Files;
  std::shared_ptr<const Files> files_;
};

/// A specification compiled into the program.
struct Embedded {
  std::string_view name;
  std::string_view text;
  std::string_view overlay_text;  ///< the calibration shipped for it; empty: none
};
std::span<const Embedded> embedded();
/// Finds a specification by name, upper or lower case: "h200-sxm", "H200-SXM". Null if unknown.
const Embedded* find_embedded(std::string_view name);
std::string_view schema_text();
std::string_view overlay_schema_text();
/// relatives.json: the factors by which the interval widens with a relative's values, and the runs
/// behind them.
std::string_view relatives_text();

/// The specification with the calibration shipped for it.
Source shipped_source(const Embedded& one);
/// The shipped specification of that name. Throws InputError if there is none.
Source shipped_source(std::string_view name);

/// One value and its source, for `roofcast gpus NAME`.
struct SourcedValue {
  std::string pointer;  ///< "/memory/l2_bytes"
  std::string value;    ///< JSON text
  std::string source;  ///< title and address, "measured: …", "unverified", "of GPU, scaled …" …
};
std::vector<SourcedValue> values_with_sources(const Source& source);
/// The value that the override's key names. Throws SpecError if the key names no leaf or several,
/// InputError if the device has no such value.
SourcedValue value_named(const Source& source, const Override& asked);

}  // namespace roofcast::specs
