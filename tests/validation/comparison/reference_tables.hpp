#pragma once
// Published tables, which are no part of the project.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace roofcast::validation {

/// A table of ROOFCAST_REFERENCE_DIR, else of ../shared/reference; empty where there is none.
inline std::string reference_text(const char* file) {
  const char* folder = std::getenv("ROOFCAST_REFERENCE_DIR");
  std::ifstream in(
      std::filesystem::path(folder != nullptr ? folder : ROOFCAST_DEFAULT_REFERENCE_DIR) / file);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

}  // namespace roofcast::validation
