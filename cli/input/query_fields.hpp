#pragma once
// Reads one member of a query: a parameter of the kernel, or an assumption.
#include <span>
#include <string>
#include <vector>

#include "cli/input/query.hpp"
#include "hw_specs/loader.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// Takes the value of the parameter of that name and marks its bit in `given`; false where there is
/// no such parameter. Throws InputError for a value that the parameter does not take.
bool read_parameter(const QueryField& field, std::span<const Parameter> parameters,
                    Problem& problem, unsigned& given);

/// Takes cache, launch, sm_clock_hz or worked_s; false for another member. Throws InputError or
/// UsageError for an invalid value.
bool read_assumption(const QueryField& field, Assumptions& assumptions);

/// The members of "set" as overrides of the specification.
std::vector<specs::Override> overrides_of(const QueryFields& set);

/// Throws InputError, with the nearest name of a parameter or of another member of a query.
[[noreturn]] void refuse_unknown(const KernelRef& kernel, const std::string& key);

}  // namespace roofcast::cli
