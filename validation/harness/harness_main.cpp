// A harness without the command line, for work on the harness itself:
// harness_main SUITE|FILE.json OUTPUT [--no-counters] [--build TEXT] [--shard i/n]
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "validation/harness/harness.hpp"

namespace {

using namespace roofcast;

validation::Suite suite_of(const std::string& text) {
  if (!text.ends_with(".json")) return validation::find_suite(text);
  std::ifstream in(text);
  std::ostringstream all;
  all << in.rdbuf();
  return validation::parse_suite(text, all.str());
}

int run(const std::vector<std::string>& arguments) {
  validation::HarnessOptions options;
  const validation::Suite suite = suite_of(arguments.at(0));
  options.output = arguments.at(1);
  options.build = "dev";
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (arguments[i] == "--no-counters") options.counters = false;
    if (arguments[i] == "--build") options.build = arguments.at(++i);
    if (arguments[i] == "--shard") options.shard = validation::parse_shard(arguments.at(++i));
  }
  options.progress = [](const validation::Progress& progress) {
    std::fprintf(stderr, "%zu/%zu %s (%.0f s left)\n", progress.done, progress.total,
                 progress.label.c_str(), progress.remaining_s.value_or(-1));
  };
  options.notice = [](const std::string& text) {
    std::fprintf(stderr, "note: %s\n", text.c_str());
  };
  Gpu gpu;
  gpu.name = "h200-sxm";
  const validation::HarnessResult result = validation::run_suite(suite, gpu, options);
  std::fprintf(stderr, "measured %zu, resumed %zu, failed %zu%s\n", result.measured, result.resumed,
               result.run.failures.size(), result.interrupted ? ", interrupted" : "");
  return result.interrupted ? 130 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
