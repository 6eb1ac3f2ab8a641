#pragma once
// Collectives among GPUs, asked for by the names of kernels: `predict collective.all_reduce`.
#include <string>
#include <string_view>

#include "cli/commands/command.hpp"
#include "cli/input/query.hpp"
#include "cli/output/json_writer.hpp"
#include "model/catalog.hpp"
#include "model/transformer/collective.hpp"

namespace roofcast::cli {

/// What lists show of them: names, summaries and parameters; no plans, so nothing asks it for a
/// forecast.
const KernelFamily& collective_family();
/// The family, or one of its collectives.
KernelRef collective_ref(std::string_view name);

/// "collective.all_reduce"
std::string full_name(transformer::Collective collective);

/// Whether the name asks for a collective: "collective" or "collective.…".
bool is_collective(std::string_view name);
/// UsageError naming them all for one that is none.
transformer::Collective collective_named(std::string_view name);

/// A member of a query line. Throws InputError for another key and for another kind of value.
void read_collective_field(const QueryField& field, transformer::Transfer& question);

/// The answer, a JSON object without an end of line. Throws InputError.
void write_json(JsonWriter& json, const transformer::Transfer& question, const Gpu& gpu);

/// `roofcast predict collective.…`: the arguments of predict.
ExitCode run_collective(const Arguments& arguments);

}  // namespace roofcast::cli
