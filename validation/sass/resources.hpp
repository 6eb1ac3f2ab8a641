#pragma once
// Reads the output of `cuobjdump -res-usage`: the resources of each function.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace roofcast::sass {

/// Counts and bytes as the tool prints them.
struct Resources {
  std::int64_t registers = 0;       ///< per thread
  std::int64_t shared_bytes = 0;    ///< static, per block; from sm_90 on with the system's share
  std::int64_t stack_bytes = 0;     ///< per thread, in local memory
  std::int64_t local_bytes = 0;     ///< per thread, besides the stack
  std::int64_t constant_bytes = 0;  ///< size of the bank with the parameters

  bool operator==(const Resources&) const = default;
};

/// Static shared memory of the kernel's own variables (B per block). From sm_90 on the tool
/// includes the KiB that the system takes of a block with shared memory; `ptxas -v` does not.
std::int64_t own_shared_bytes(const Resources& resources, std::string_view architecture);

/// Resources by position of the binary and symbol, as in FunctionName.
using ResourceTable = std::map<std::pair<std::int64_t, std::string>, Resources>;

/// Reads the lines of resource usage in the tool's output and skips all others.
class ResourceReader {
 public:
  /// Takes one line without its line end. Throws InputError, naming the line, for values that are
  /// no numbers and values without a function.
  void line(std::string_view text);
  const ResourceTable& table() const { return table_; }

 private:
  ResourceTable table_;
  std::string symbol_;
  std::int64_t lines_ = 0;
  std::int64_t binaries_ = 0;
};

}  // namespace roofcast::sass
