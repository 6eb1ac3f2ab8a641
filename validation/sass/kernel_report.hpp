#pragma once
// Summarizes the machine code of one kernel.
#include <optional>
#include <string>
#include <vector>

#include "validation/sass/listing.hpp"
#include "validation/sass/loops.hpp"
#include "validation/sass/mix.hpp"
#include "validation/sass/resources.hpp"

namespace roofcast::sass {

struct LoopReport {
  std::uint64_t first = 0, last = 0;
  std::optional<std::size_t> parent;  ///< position in KernelReport::loops
  std::size_t depth = 1;
  Mix own;  ///< one iteration, without inner loops
};

struct KernelReport {
  FunctionName name;
  std::string title;                   ///< demangled; the symbol if it is no C++ name
  std::optional<Resources> resources;  ///< absent: not in the tool's output
  Mix whole;                           ///< each instruction counted once
  Mix outside;                         ///< instructions outside all loops
  std::int64_t main_way = 0;           ///< number of instructions, see main_way.hpp
  std::vector<LoopReport> loops;
};

/// "sample::tiled<float>(…)" of "_ZN6sample5tiledIf…"; the symbol itself if it is no C++ name.
std::string readable(const std::string& symbol);

/// The report without resources, which the tool may print after the code.
KernelReport report_of(const Function& function);

/// The resources of that kernel; nothing if the table has none.
std::optional<Resources> resources_of(const FunctionName& name, const ResourceTable& table);

}  // namespace roofcast::sass
