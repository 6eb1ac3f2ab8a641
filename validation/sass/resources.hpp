#pragma once
// What `cuobjdump -res-usage` prints: what each function holds.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace roofcast::sass {

/// Counts and bytes as the tool prints them.
struct Resources {
  std::int64_t registers = 0;     ///< of a thread
  std::int64_t shared_bytes = 0;  ///< static, of a block, with what the system takes from sm_90 on
  std::int64_t stack_bytes = 0;   ///< of a thread, in local memory
  std::int64_t local_bytes = 0;   ///< of a thread, besides the stack
  std::int64_t constant_bytes = 0;  ///< of the bank with the parameters

  bool operator==(const Resources&) const = default;
};

/// Shared memory that the kernel's own variables take. From sm_90 on the tool counts the kibibyte
/// that the system takes of a block with shared memory; `ptxas -v` does not.
std::int64_t own_shared_bytes(const Resources& resources, std::string_view architecture);

/// By the binary's place in the file and the function's symbol, as listings have them.
using ResourceTable = std::map<std::pair<std::int64_t, std::string>, Resources>;

/// Picks the lines of resource usage out of the tool's output; others are passed over.
class ResourceReader {
 public:
  /// One line without its end. Throws InputError, naming the line, for values that are no numbers
  /// and values without a function.
  void line(std::string_view text);
  const ResourceTable& table() const { return table_; }

 private:
  ResourceTable table_;
  std::string symbol_;
  std::int64_t lines_ = 0;
  std::int64_t binaries_ = 0;
};

}  // namespace roofcast::sass
