#pragma once
// What the machine code of one kernel says.
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
  std::optional<std::size_t> parent;  ///< of KernelReport::loops
  std::size_t depth = 1;
  Mix own;  ///< one pass, loops inside left out
};

struct KernelReport {
  FunctionName name;
  std::string title;                   ///< as C++ writes it; the symbol where it is no C++ name
  std::optional<Resources> resources;  ///< absent: the tool names none
  Mix whole;                           ///< each instruction once
  Mix outside;                         ///< of all loops
  std::int64_t main_way = 0;           ///< instructions: main_way.hpp
  std::vector<LoopReport> loops;
};

/// "sample::tiled<float>(…)" of "_ZN6sample5tiledIf…"; the symbol itself where it is no C++ name.
std::string readable(const std::string& symbol);

/// Without resources, which may stand after the code.
KernelReport report_of(const Function& function);

/// The resources of the kernel of that name; nothing where the table has none.
std::optional<Resources> resources_of(const FunctionName& name, const ResourceTable& table);

}  // namespace roofcast::sass
