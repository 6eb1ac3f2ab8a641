#pragma once
// What the explorer's page asks: JSON in, JSON out. Pure: no file, no stream, no clock.
#include <string>
#include <string_view>

#include "cli/explorer/read_query.hpp"

namespace roofcast::cli {

/// {"kernels":[…],"gpus":[…],"models":[…]}: names, types, parameters with their ranges.
std::string explorer_catalog();

/// {"values":[{"key":"sm_count","value":132},…]} of a specification, for overriding: a shipped
/// name, or the text of a specification.
std::string explorer_values(std::string_view gpu);

/// What a pasted or dropped text is: {"kind":"kernel"|"gpu"|"model","name":…,"content":{…}} and of
/// a kernel file its parameters as in the catalog. Throws InputError where it is none of the three,
/// or breaks the rules of its kind.
std::string explorer_identify(std::string_view text);

/// {"queries":[{"kernel":…,"gpu":…,"m":…,"set":{key:value}},…],"width":620}: {"answers":[…]}, each
/// as `predict --format json` has it or {"error":{"kind","message"}}, and
/// {"charts":[{"id","spec"}]} of those that have a forecast: "roofline-1" (one a device), "parts",
/// "waves", "traffic". A query with "model" in place of "kernel" asks for a step of a model. Throws
/// InputError for what is no such request.
std::string explorer_answer(std::string_view request, ExplorerDevices& devices);

}  // namespace roofcast::cli
