#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/commands/command.hpp"
#include "cli/input/options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/terminal.hpp"
#include "cli/revision.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

constexpr std::array kCommands = {
    Command{"predict", "limit and expected time of a kernel on a GPU", run_predict, manual_predict,
            Offer::kernels},
    Command{"sweep", "forecasts over ranges of shapes, as CSV or JSON", run_sweep, manual_sweep,
            Offer::kernels},
    Command{"advise", "shapes and settings near a problem's that run faster, or for nothing",
            run_advise, manual_advise, Offer::kernels},
    Command{"explain", "why a forecast is what it is, by parts, rates and sources", run_explain,
            manual_explain, Offer::kernels},
    Command{"solve", "for which values a forecast fulfils a condition", run_solve, manual_solve,
            Offer::kernels},
    Command{"model", "time, memory and parts of a whole model's step", run_model, manual_model,
            Offer::models},
    Command{"roofline", "a roofline chart with kernels on it", run_roofline, manual_roofline,
            Offer::nothing},
    Command{"explore", "the model in one page that runs in a browser, offline", run_explore,
            manual_explore, Offer::nothing},
    Command{"import", "a profile: each operator beside its forecast, and what to change first",
            run_import, manual_import, Offer::files},
    Command{"inspect", "what a CUDA binary's machine code says: registers, accesses, loops by pipe",
            run_inspect, manual_inspect, Offer::files},
    Command{"occupancy", "blocks and warps that fit an SM, and what limits them", run_occupancy,
            manual_occupancy, Offer::nothing},
    Command{"validate", "measure kernels on this machine's GPU", run_validate, manual_validate,
            Offer::nothing},
    Command{"calibrate", "measure what this machine's GPU keeps up", run_calibrate,
            manual_calibrate, Offer::nothing},
    Command{"compare", "predicted against measured", run_compare, manual_compare, Offer::files},
    Command{"check", "rows of a table that no hardware can have measured", run_check, manual_check,
            Offer::files},
    Command{"merge", "join the files of a sharded validation or sweep", run_merge, manual_merge,
            Offer::files},
    Command{"report", "a page with the comparison of a run", run_report, manual_report,
            Offer::files},
    Command{"gpus", "the devices and their specifications", run_gpus, manual_gpus, Offer::gpus},
    Command{"kernels", "the kernels and what they take", run_kernels, manual_kernels,
            Offer::kernels},
    Command{"show", "one kernel, one device, or the laws' constants", run_show, manual_show,
            Offer::kernels_or_gpus},
    Command{"completion", "what completes commands and options in a shell", run_completion,
            manual_completion, Offer::shells},
    Command{"man", "a manual page, as man reads it", run_man, manual_man, Offer::commands}};

std::string program_help() {
  std::string text =
      "Examples:\n"
      "  roofcast predict gemm --m 4096 --n 4096 --k 4096 --dtype fp32 --gpu h100-sxm5\n"
      "  roofcast predict gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm --format json\n"
      "  roofcast sweep gemm.tiled --m 256:8192:256 --n =m --k =m --gpu a100-sxm4-80gb -o "
      "sweep.csv\n"
      "  roofcast compare run.json\n"
      "\nUsage: roofcast COMMAND [options]\n\n"
      "Forecasts where a GPU kernel lands under the roofline, and checks the forecast.\n\n"
      "Commands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  }
  text +=
      "\n`roofcast COMMAND --help` explains one of them.\n"
      "Exit codes: 0 done, 1 a comparison out of tolerance, 2 usage, 3 bad input or "
      "specification,\n"
      "4 no usable GPU, 5 internal, 130 interrupted, 141 the output's reader went away, 143 "
      "terminated.\n";
  return text;
}

ExitCode dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    write_error_stream(program_help());
    return ExitCode::usage;
  }
  const std::string& first = arguments.front();
  if (first == "help" && arguments.size() > 1) {
    Arguments asked(arguments.begin() + 1, arguments.end());
    asked.emplace_back("--help");
    return dispatch(asked);
  }
  if (first == "help" || first == "--help" || first == "-h") {
    write_output(std::nullopt, program_help());
    return ExitCode::done;
  }
  if (first == "--version") {
    write_output(std::nullopt, fmt::format("roofcast {}\n", version_text()));
    return ExitCode::done;
  }
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (command.name == first) return command.run({arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  throw UsageError("there is no command '{}'.{} `roofcast --help` lists them", first,
                   did_you_mean(first, names));
}

ExitCode fail(ExitCode code, std::string_view message) {
  tell(fmt::format("roofcast: {}", message));
  return code;
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

ExitCode run(const Arguments& arguments) {
  return with_errors_reported([&arguments] { return dispatch(arguments); });
}

ExitCode with_errors_reported(const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const HelpShown&) {
    return ExitCode::done;
  } catch (const UsageError& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const InputError& error) {
    return fail(ExitCode::bad_input, error.what());
  } catch (const NoGpuError& error) {
    return fail(ExitCode::no_gpu, error.what());
  } catch (const WriteError& error) {
    // `roofcast … | head` is no fault: no message.
    if (reader_went_away()) return ExitCode::broken_pipe;
    return fail(ExitCode::bad_input, error.what());
  } catch (const Interrupted&) {
    const ExitCode code = signal_exit_code();
    return fail(code, code == ExitCode::interrupted ? "interrupted" : "terminated");
  } catch (const std::exception& error) {
    return fail(
        ExitCode::internal,
        fmt::format("internal error: {}. Please report it with the command line", error.what()));
  }
}

}  // namespace roofcast::cli
