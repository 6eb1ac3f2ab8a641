#include "validation/sass/kernel_report.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "validation/sass/main_way.hpp"

namespace roofcast::sass {

std::string readable(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

KernelReport report_of(const Function& function) {
  KernelReport report;
  report.name = function.name;
  report.title = readable(function.name.symbol);
  std::vector<bool> looped(function.code.size(), false);
  const std::vector<Loop> loops = loops_of(function.code);
  report.main_way = main_way_instructions(function.code, loops);
  for (const Loop& loop : loops) {
    LoopReport one{loop.first, loop.last, loop.parent, loop.depth, {}};
    for (const std::size_t i : loop.own) {
      one.own.add(function.code[i]);
      looped[i] = true;
    }
    report.loops.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    report.whole.add(function.code[i]);
    if (!looped[i]) report.outside.add(function.code[i]);
  }
  return report;
}

std::optional<Resources> resources_of(const FunctionName& name, const ResourceTable& table) {
  const auto found = table.find({name.binary, name.symbol});
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace roofcast::sass
