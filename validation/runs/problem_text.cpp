#include "validation/runs/problem_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"
#include "validation/runs/problem_json.hpp"

namespace roofcast::validation {

std::string problem_text(std::string_view kernel, const Problem& problem) {
  std::string text;
  std::size_t i = 0;
  for (const Parameter& parameter : find_kernel(kernel).parameters()) {
    const std::size_t position = i++;
    const bool shown = parameter.is_text ? !problem.text.empty() || !parameter.fallback
                                         : parameter.fallback != problem[position];
    if (!shown) continue;
    text += fmt::format("{}={} ", parameter.name, quoted_value_text(parameter, problem, position));
  }
  return text.append(name(problem.dtype));
}

std::string family_of(std::string_view kernel) {
  return std::string(kernel.substr(0, kernel.find('.')));
}

KernelRef kernel_from_json(const JsonNode& node) {
  const std::string wanted = node.text();
  try {
    const KernelRef found = find_kernel(wanted);
    if (found.kernel != nullptr) return found;
  } catch (const InputError& error) {
    node.refuse("a kernel of the catalog", error.what());
  }
  node.refuse("a variant, not a family", "name one, as in \"gemm.tiled\"");
}

nlohmann::json problem_to_json(const KernelRef& kernel, const Problem& problem) {
  nlohmann::json object = nlohmann::json::object();
  std::size_t i = 0;
  for (const Parameter& parameter : kernel.parameters()) {
    nlohmann::json& value = object[std::string(parameter.name)];
    if (is_named(parameter)) {
      value = named_value(parameter, problem, i);
    } else {
      value = problem[i];
    }
    ++i;
  }
  object["dtype"] = name(problem.dtype);
  return object;
}

DType dtype_from_json(const JsonNode& node) {
  const std::string text = node.text();
  if (const auto dtype = parse_dtype(text)) return *dtype;
  node.refuse("an element type", "write fp64, fp32, tf32, fp16, bf16, fp8, int8 or fp4");
}

void value_from_json(const Parameter& parameter, const JsonNode& node, Problem& problem,
                     std::size_t position) {
  if (!is_named(parameter)) {
    problem[position] = node.integer();
    return;
  }
  if (!node.value().is_string()) {
    node.refuse(allowed_text(parameter), "put it in quotation marks");
  }
  try {
    set_named_value(parameter, problem, position, node.text());
  } catch (const InputError& error) {
    node.refuse(allowed_text(parameter), error.what());
  }
}

Problem problem_from_json(const KernelRef& kernel, const JsonNode& node) {
  node.expect_object();
  Problem problem;
  problem.dtype = dtype_from_json(node.at("dtype"));
  unsigned given = 0;
  std::size_t known = 1;
  std::size_t i = 0;
  for (const Parameter& parameter : kernel.parameters()) {
    if (const auto value = node.find(parameter.name)) {
      value_from_json(parameter, *value, problem, i);
      given |= 1U << i;
      ++known;
    }
    ++i;
  }
  if (known != node.value().size()) {
    for (const auto& [key, unused] : node.value().items()) {
      bool found = key == "dtype";
      for (const Parameter& parameter : kernel.parameters()) found |= parameter.name == key;
      if (!found) {
        node.refuse(fmt::format("the parameters of {}", kernel.kernel->name),
                    fmt::format("remove \"{}\", which it does not take", key));
      }
    }
  }
  try {
    check(kernel, problem, given);
  } catch (const InputError& error) {
    node.refuse(fmt::format("a problem {} takes", kernel.kernel->name), error.what());
  }
  return problem;
}

}  // namespace roofcast::validation
