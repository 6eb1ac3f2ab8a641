#pragma once
// The functions that the explorer's page calls: JSON in, JSON out. No file, no stream, no clock.
#include <string>
#include <string_view>

#include "cli/explorer/read_query.hpp"

namespace roofcast::cli {

/// {"kernels":[…],"gpus":[…],"models":[…]}: names, types, parameters with their ranges.
std::string explorer_catalog();

/// {"values":[{"key":"sm_count","value":132},…]}: the numbers of a specification that the page may
/// override. `gpu` is a shipped name or the text of a specification.
std::string explorer_values(std::string_view gpu);

/// The kind of a pasted or dropped text: {"kind":"kernel"|"gpu"|"model","name":…,"content":{…}},
/// for a kernel file also "entry", its entry as in the catalog. Throws InputError where the text is
/// none of the three or breaks the rules of its kind.
std::string explorer_identify(std::string_view text);

/// Answers {"queries":[{"kernel":…,"gpu":…,"m":…,"set":{key:value}},…],"width":620} with
/// {"answers":[…],"charts":[{"id","spec"}]}. An answer is as `predict --format json` writes it, or
/// {"error":{"kind","message"}}. The charts show the answered kernels: "roofline-1" (one a device),
/// "parts", "waves", "traffic". A query with "model" in place of "kernel" asks for a step of a
/// model. Throws InputError for another request and for more than four queries.
std::string explorer_answer(std::string_view request, ExplorerDevices& devices);

}  // namespace roofcast::cli
