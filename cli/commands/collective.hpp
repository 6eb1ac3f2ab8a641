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

/// The collectives as lists show them: names, summaries and parameters. They have no plans, so
/// predict() must not be called with them.
const KernelFamily& collective_family();
/// The family for "collective", else one of its collectives. UsageError as collective_named.
KernelRef collective_ref(std::string_view name);

/// "collective.all_reduce"
std::string full_name(transformer::Collective collective);

/// Whether the name asks for a collective: "collective" or "collective.…".
bool is_collective(std::string_view name);
/// The collective with that full name. UsageError, with the names of all, for another name.
transformer::Collective collective_named(std::string_view name);

/// Reads "bytes" or "gpus" of a query line. Throws InputError for another key and for a value that
/// is no whole number.
void read_collective_field(const QueryField& field, transformer::Transfer& question);

/// Writes the forecast as a JSON object without an end of line. Throws InputError.
void write_json(JsonWriter& json, const transformer::Transfer& question, const Gpu& gpu);

/// `roofcast predict collective.…`: the arguments of predict.
ExitCode run_collective(const Arguments& arguments);

}  // namespace roofcast::cli
