#pragma once
// Reads the tasks of a model from options and from query lines, by one table for both.
#include <string>
#include <string_view>

#include "cli/input/options.hpp"
#include "cli/input/query.hpp"
#include "model/transformer/task.hpp"

namespace roofcast::cli {

/// The shipped configuration of that name. InputError, with the nearest name, for another.
transformer::Architecture shipped_model(std::string_view name);
/// The configuration of a shipped name or of the path of a config.json.
transformer::Architecture model_named(const std::string& name_or_path);

/// --train, --prefill or --decode, --batch and the others.
std::vector<Option> task_options();
/// One task for each combination of the values given (lists and ranges as in a sweep), the last key
/// fastest. UsageError unless one phase is given, for unknown words and for options of a service;
/// InputError for an unknown type and as check_given.
std::vector<transformer::Task> read_tasks(const Options& options);

/// Reads a member of a query line: "phase", "batch", … Throws InputError for another key, number or
/// type, UsageError for an unknown word.
void read_task_field(const QueryField& field, transformer::Task& task);

/// Throws InputError where a decode step has no context or a key does not go with the phase.
void check_given(const transformer::Task& task);

}  // namespace roofcast::cli
