#pragma once
// What `cuobjdump -sass -res-usage` prints, line by line: a function at a time, however long the
// whole is.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

/// A function's place: the same name may stand in several binaries of one file.
struct FunctionName {
  std::int64_t binary = 0;   ///< of the file's machine-code binaries, in order; a cubin is binary 0
  std::string architecture;  ///< "sm_90a"
  std::string symbol;        ///< as the linker knows it

  auto operator<=>(const FunctionName&) const = default;
};

struct Function {
  FunctionName name;
  std::vector<Instruction> code;  ///< addresses ascend; padding at the end is left out
};

class ListingReader {
 public:
  using Wanted = std::function<bool(const FunctionName&)>;
  using Sink = std::function<void(Function)>;

  /// Gives each function that is wanted to the sink once it is whole.
  ListingReader(Wanted wanted, Sink sink) : wanted_(std::move(wanted)), sink_(std::move(sink)) {}

  /// One line without its end. Throws InputError, naming the line, for code outside of a function,
  /// addresses that do not ascend, and an address without an instruction.
  void line(std::string_view text);
  /// After the last line.
  void finish();

 private:
  void begin_function(std::string_view symbol);
  void add(Instruction instruction);
  [[noreturn]] void fail(const std::string& what) const;

  Wanted wanted_;
  Sink sink_;
  std::int64_t lines_ = 0;
  std::int64_t binaries_ = 0;  ///< headers of binaries seen; a cubin has none
  std::string architecture_;
  Function function_;
  bool open_ = false;
  bool kept_ = false;
};

}  // namespace roofcast::sass
