#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"

namespace roofcast::cli {

/// What follows the subcommand.
using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  ExitCode (*run)(const Arguments&);
};

std::span<const Command> commands();

/// The whole program: `arguments` without the program's name. Errors go to standard error.
ExitCode run(const Arguments& arguments);

/// Runs the work; an exception becomes a message on standard error and its exit code.
ExitCode with_errors_reported(const std::function<ExitCode()>& work);

ExitCode run_predict(const Arguments& arguments);
ExitCode run_sweep(const Arguments& arguments);
ExitCode run_advise(const Arguments& arguments);
/// `advise linear`, without these two words.
ExitCode run_advise_linear(const Arguments& arguments);
ExitCode run_solve(const Arguments& arguments);
ExitCode run_explain(const Arguments& arguments);
ExitCode run_roofline(const Arguments& arguments);
ExitCode run_import(const Arguments& arguments);
ExitCode run_inspect(const Arguments& arguments);
ExitCode run_occupancy(const Arguments& arguments);
ExitCode run_validate(const Arguments& arguments);
ExitCode run_calibrate(const Arguments& arguments);
ExitCode run_compare(const Arguments& arguments);
ExitCode run_merge(const Arguments& arguments);
ExitCode run_report(const Arguments& arguments);
ExitCode run_explore(const Arguments& arguments);
ExitCode run_gpus(const Arguments& arguments);
ExitCode run_kernels(const Arguments& arguments);
ExitCode run_model(const Arguments& arguments);
ExitCode run_show(const Arguments& arguments);

}  // namespace roofcast::cli
