// Whatever stands in a listing, each kernel read from it adds up, prints as JSON, and makes a
// kernel file that loads.
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/input/device.hpp"
#include "cli/output/inspection.hpp"
#include "cli/output/kernel_file_text.hpp"
#include "hw_specs/kernel_file.hpp"
#include "model/types/problem.hpp"

namespace {

using namespace roofcast;

void check(const sass::KernelReport& report) {
  static const Gpu gpu = cli::load_device("h100-sxm5", {});
  std::int64_t instructions = report.outside.instructions;
  for (std::size_t i = 0; i < report.loops.size(); ++i) {
    const sass::LoopReport& loop = report.loops[i];
    if (loop.parent && (*loop.parent >= report.loops.size() || *loop.parent == i)) std::abort();
    instructions += loop.own.instructions;
  }
  if (instructions != report.whole.instructions) std::abort();
  fmt::memory_buffer out;
  cli::JsonWriter json(out);
  cli::write_inspection(json, {report, gpu});
  if (!nlohmann::json::accept(std::string_view(out.data(), out.size()))) std::abort();
  (void)cli::inspection_text({report, gpu}, cli::Style(false));
  specs::load_kernel("fuzz", cli::kernel_file_text(report, "fuzz"));
}

/// Throws InputError for a listing that is none.
std::vector<sass::KernelReport> reports_of(std::string_view text) {
  std::vector<sass::KernelReport> reports;
  sass::ResourceReader resources;
  sass::ListingReader listing(
      [](const sass::FunctionName&) { return true; },
      [&](const sass::Function& function) { reports.push_back(sass::report_of(function)); });
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    resources.line(line);
    listing.line(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  listing.finish();
  for (sass::KernelReport& report : reports) {
    report.resources = sass::resources_of(report.name, resources.table());
  }
  return reports;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<sass::KernelReport> reports;
  try {
    reports = reports_of(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const InputError&) {
    return 0;
  }
  for (const sass::KernelReport& report : reports) check(report);
  return 0;
}
