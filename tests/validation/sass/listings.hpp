#pragma once
// The stored listings, and reports of their kernels.
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "validation/sass/kernel_report.hpp"

namespace roofcast::sass::testing {

/// "hopper": what the tools printed of samples.cu or blackwell.cu.
inline std::string listing(const std::string& name) {
  std::ifstream file(ROOFCAST_SASS_LISTINGS "/" + name + ".sass");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<KernelReport> reports_of(const std::string& text) {
  std::vector<KernelReport> reports;
  ResourceReader resources;
  ListingReader reader([](const FunctionName&) { return true; },
                       [&](const Function& function) { reports.push_back(report_of(function)); });
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    resources.line(line);
    reader.line(line);
  }
  reader.finish();
  for (KernelReport& report : reports)
    report.resources = resources_of(report.name, resources.table());
  return reports;
}

/// The kernel of a stored listing whose title begins so.
inline KernelReport report(const std::string& file, std::string_view title) {
  for (KernelReport& one : reports_of(listing(file))) {
    if (one.title.starts_with(title)) return std::move(one);
  }
  throw std::runtime_error(file + ".sass has no kernel " + std::string(title));
}

/// A function of these instructions, each "opcode operands", 16 B apart from address 0.
inline std::vector<Instruction> code_of(const std::vector<std::string>& lines) {
  std::vector<Instruction> code;
  std::size_t address = 0;
  for (const std::string& line : lines) {
    std::ostringstream text;
    text << "/*" << std::hex << address << "*/ " << line << " ;";
    code.push_back(*parse_instruction(text.str()));
    address += 16;
  }
  return code;
}

}  // namespace roofcast::sass::testing
