#include "validation/profiles/read_profile.hpp"

#include <algorithm>
#include <array>

#include "hw_specs/loader.hpp"
#include "validation/profiles/ncu.hpp"

namespace roofcast::validation {
namespace {

constexpr std::size_t kMostTable = std::size_t{1} << 31U;

bool is_json(const std::string& path) {
  std::array<char, 4096> begin{};
  const std::size_t size = open_bytes(path)->read(begin.data(), begin.size());
  const auto* first = std::find_if(begin.begin(), begin.begin() + size, [](char c) {
    return c != ' ' && c != '\n' && c != '\r' && c != '\t';
  });
  if (first == begin.begin() + size) {
    throw specs::SpecError(path, "", "a trace of torch.profiler or a table of ncu, not nothing",
                           "export the profile again");
  }
  return *first == '{' || *first == '[';
}

}  // namespace

Trace read_profile(const std::vector<std::string>& paths, std::optional<int> device) {
  std::vector<NcuText> tables;
  for (const std::string& path : paths) {
    if (!is_json(path)) {
      tables.push_back({path, read_all(*open_bytes(path), path, kMostTable)});
    } else if (paths.size() == 1) {
      return read_trace(path, device);
    } else {
      throw specs::SpecError(path, "", "one trace, or tables of ncu alone",
                             "import each trace in turn");
    }
  }
  return read_ncu(std::move(tables), device);
}

}  // namespace roofcast::validation
