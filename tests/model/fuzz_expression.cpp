// libFuzzer: any bytes as an expression. What is read prints as a text that is read as the same,
// and folding and sharing leave it one that prints.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/expression/expression.hpp"
#include "model/types/problem.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofcast::expression;
  Expression read;
  try {
    read = parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const roofcast::InputError&) {  // the only exception allowed to leave
    return 0;
  }
  const std::string text = print(read);
  // The printed text may be longer than parse() takes.
  if (text.size() <= roofcast::Text::kMaxBytes && parse(text) != read) std::abort();
  // Where results have names, a shared node prints as the name that has it.
  if (read.statements.size() == 1 && print(share(read)) != text) std::abort();
  (void)print(share(fold(read)));
  return 0;
}
