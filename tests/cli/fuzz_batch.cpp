// Any line of a batch is answered by one line, which holds one JSON object.
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/commands/batch.hpp"

namespace {

void answer(roofcast::cli::Batch& batch, std::string_view line, std::int64_t number) {
  fmt::memory_buffer out;
  const bool answered = batch.answer(line, number, out);
  const std::string_view text(out.data(), out.size());
  if (text.empty() || text.find('\n') != text.size() - 1) std::abort();
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object() || object.contains("error") == answered) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static roofcast::cli::Batch batch({});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::int64_t number = 0;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    answer(batch, rest.substr(0, end), ++number);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return 0;
}
