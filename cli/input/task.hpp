#pragma once
// What is asked of a model, from options and from query lines: one table for both.
#include <string>
#include <string_view>

#include "cli/input/options.hpp"
#include "cli/input/query.hpp"
#include "model/transformer/task.hpp"

namespace roofcast::cli {

/// A configuration by a shipped name. InputError with the nearest name for another.
transformer::Architecture shipped_model(std::string_view name);
/// The same, or a path to a config.json.
transformer::Architecture model_named(const std::string& name_or_path);

/// --train, --prefill or --decode, --batch and the others.
std::vector<Option> task_options();
/// One task for each combination of the values given (lists and ranges as in a sweep), the last key
/// fastest. UsageError for a missing phase and for words that are none.
std::vector<transformer::Task> read_tasks(const Options& options);

/// A member of a query line: "phase", "batch", … Throws InputError for another key or value.
void read_task_field(const QueryField& field, transformer::Task& task);

/// What a task needs and its keys do not say: a decode step its context. Throws InputError.
void check_given(const transformer::Task& task);

}  // namespace roofcast::cli
