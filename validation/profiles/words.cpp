#include "validation/profiles/words.hpp"

#include <fmt/format.h>

namespace roofcast::validation {

std::string shape_text(const CallGroup& group) {
  std::string text;
  constexpr std::size_t kMost = 40;
  for (const TensorShape& input : group.call.inputs) {
    if (input.dims.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", fmt::join(input.dims, "x"));
    if (text.size() > kMost) return text;
  }
  const auto& launch = group.longest_kernel().launch;
  if (!text.empty() || !launch) return text;
  return fmt::format("grid {} block {}", fmt::join(launch->grid, "x"),
                     fmt::join(launch->block, "x"));
}

std::string name_text(const CallGroup& group) {
  if (!group.call.by_operator) return brief_kernel_name(group.call.name);
  // Shortened, since Inductor's names list all fused operators.
  constexpr std::size_t kMost = 60;
  const std::string& name = group.call.name;
  return name.size() > kMost ? name.substr(0, kMost - 20) + "…" + name.substr(name.size() - 19)
                             : name;
}

std::string_view bound_name(const CallGroup& group) {
  if (!group.forecast) return "";
  const ByResource& terms =
      group.expected_s ? group.forecast->time->terms : group.forecast->limit.terms;
  return name(binding(terms));
}

std::string_view bound_text(const CallGroup& group) {
  switch (group.lacks) {
    case Lacks::nothing:
      return bound_name(group);
    case Lacks::shape:
      return "no shape";
    case Lacks::law:
      return "no law";
    case Lacks::name:
      return "not recognized";
  }
  return "";
}

}  // namespace roofcast::validation
