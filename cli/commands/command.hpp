#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"

namespace roofcast::cli {

/// Arguments after the name of the program or of a subcommand.
using Arguments = std::vector<std::string>;

/// What a shell offers at the cursor.
enum class Offer : unsigned char {
  nothing,
  files,
  some_words,  ///< those of an option's value
  kernels,
  gpus,
  kernels_or_gpus,
  measured_gpus,
  types,
  models,
  commands,
  shells
};

struct Manual;

struct Command {
  std::string_view name;
  std::string_view summary;
  ExitCode (*run)(const Arguments&);
  Manual (*manual)();
  Offer words;  ///< for its words: arguments that are neither options nor values
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
/// `solve model`, without these two words.
ExitCode run_solve_model(const Arguments& arguments);
ExitCode run_explain(const Arguments& arguments);
ExitCode run_roofline(const Arguments& arguments);
ExitCode run_import(const Arguments& arguments);
ExitCode run_inspect(const Arguments& arguments);
ExitCode run_occupancy(const Arguments& arguments);
ExitCode run_validate(const Arguments& arguments);
ExitCode run_calibrate(const Arguments& arguments);
ExitCode run_compare(const Arguments& arguments);
ExitCode run_check(const Arguments& arguments);
ExitCode run_merge(const Arguments& arguments);
ExitCode run_report(const Arguments& arguments);
ExitCode run_explore(const Arguments& arguments);
ExitCode run_gpus(const Arguments& arguments);
ExitCode run_kernels(const Arguments& arguments);
ExitCode run_model(const Arguments& arguments);
ExitCode run_show(const Arguments& arguments);
ExitCode run_completion(const Arguments& arguments);
ExitCode run_man(const Arguments& arguments);

/// The help page and options that `COMMAND --help` shows where no kernel is named.
Manual manual_predict();
Manual manual_sweep();
Manual manual_advise();
Manual manual_solve();
Manual manual_explain();
Manual manual_roofline();
Manual manual_import();
Manual manual_inspect();
Manual manual_occupancy();
Manual manual_validate();
Manual manual_calibrate();
Manual manual_compare();
Manual manual_check();
Manual manual_merge();
Manual manual_report();
Manual manual_explore();
Manual manual_gpus();
Manual manual_kernels();
Manual manual_model();
Manual manual_show();
Manual manual_completion();
Manual manual_man();

}  // namespace roofcast::cli
