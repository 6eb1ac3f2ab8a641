#pragma once
// What the explorer's page asks: JSON in, JSON out. Pure: no file, no stream, no clock.
#include <string>
#include <string_view>

namespace roofcast::cli {

/// {"kernels":[…],"gpus":[…]}: names, types, parameters with their ranges.
std::string explorer_catalog();

/// {"values":[{"key":"sm_count","value":132},…]} of a specification, for overriding.
std::string explorer_values(std::string_view gpu);

/// {"queries":[{"kernel":…,"gpu":…,"m":…,"set":{key:value}},…],"width":620}: {"answers":[…]}, each as
/// `predict --format json` has it or {"error":{"kind","message"}}, and {"charts":[{"id","spec"}]} of
/// those that have a forecast: "roofline" (one a GPU), "parts", "traffic". Throws InputError for what is
/// no such request.
std::string explorer_answer(std::string_view request);

}  // namespace roofcast::cli
