#pragma once
// Reads the output of `cuobjdump -sass -res-usage` line by line; only one function is in memory.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

/// Identifies a function: several binaries of a file may have the same symbol.
struct FunctionName {
  std::int64_t binary = 0;   ///< position among the file's machine-code binaries; 0 for a cubin
  std::string architecture;  ///< "sm_90a"
  std::string symbol;        ///< mangled name

  auto operator<=>(const FunctionName&) const = default;
};

struct Function {
  FunctionName name;
  std::vector<Instruction> code;  ///< by ascending address, without padding at the end
};

class ListingReader {
 public:
  using Wanted = std::function<bool(const FunctionName&)>;
  using Sink = std::function<void(Function)>;

  /// Passes each function for which `wanted` is true to `sink` when it is complete.
  ListingReader(Wanted wanted, Sink sink) : wanted_(std::move(wanted)), sink_(std::move(sink)) {}

  /// Takes one line without its line end. Throws InputError, naming the line, for code outside of a
  /// function, addresses that do not ascend, and an address without an instruction.
  void line(std::string_view text);
  /// Must be called after the last line.
  void finish();

 private:
  void begin_function(std::string_view symbol);
  void add(Instruction instruction);
  [[noreturn]] void fail(const std::string& what) const;

  Wanted wanted_;
  Sink sink_;
  std::int64_t lines_ = 0;
  std::int64_t binaries_ = 0;  ///< binary headers seen; a cubin has none
  std::string architecture_;
  Function function_;
  bool open_ = false;
  bool kept_ = false;
};

}  // namespace roofcast::sass
