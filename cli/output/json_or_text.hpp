#pragma once
#include "cli/input/options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/json_writer.hpp"
#include "cli/output/terminal.hpp"

namespace roofcast::cli {

/// Writes an answer to --output, as --format says: what `json` writes to a JsonWriter, or the text
/// that `text` makes in a Style.
template <class Json, class Text>
void write_json_or_text(const Options& options, const Json& json, const Text& text) {
  const bool as_json = read_format(options, {"table", "json"}) == "json";
  const auto path = options.find("output");
  write_output(path, as_json ? json_text(json) : text(Style::of_output(path)));
}

}  // namespace roofcast::cli
