#include "cli/output/chart_output.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/exit_code.hpp"
#include "cli/output/files.hpp"
#include "cli/output/signals.hpp"
#include "reports/chart.hpp"

namespace roofcast::cli {
namespace {

std::string extension(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

}  // namespace

bool is_picture(const std::string& path) {
  const std::string end = extension(path);
  return end == ".html" || end == ".svg" || end == ".png";
}

void write_chart(const std::string& title, const std::string& chart,
                 const std::optional<std::string>& path,
                 const std::function<std::string()>& narrow) {
  if (!path || *path == "-" || extension(*path) == ".json") {
    return write_output(path, chart + "\n");
  }
  if (!is_picture(*path)) {
    throw UsageError("-o {}: name a file that ends in .html, .svg, .png or .json", *path);
  }
  const std::string format = extension(*path).substr(1);
  write_output(path, format == "html" ? reports::chart_page(title, chart, narrow())
                                      : reports::render(chart, format, stop_if_interrupted));
}

}  // namespace roofcast::cli
