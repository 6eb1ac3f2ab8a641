#include "validation/runs/run_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "hw_specs/text_file.hpp"
#include "validation/runs/replacement.hpp"

namespace roofcast::validation {
namespace {

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(descriptor, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category());
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string text_of(const std::optional<double>& value, double unit, std::string_view name) {
  return value ? fmt::format("{} {}", *value / unit, name) : "unknown";
}

}  // namespace

std::optional<Run> read_run(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return parse_run(path, specs::read_text(path));
}

void write_run(const std::string& path, const Run& run) {
  try {
    Replacement file(path);
    write_all(file.descriptor(), to_json(run));
    // Without it a crash could leave an empty file under the target's name.
    if (::fsync(file.descriptor()) != 0) throw std::system_error(errno, std::generic_category());
    file.commit();
  } catch (const std::system_error& error) {
    throw InputError(
        fmt::format("{}: cannot be written: {}. Mend: choose a file in a directory that exists, "
                    "has room and lets you write.",
                    path, error.code().message()));
  }
}

std::optional<Difference> difference(const Run& a, const Run& b) {
  constexpr double kMega = 1e6;
  std::vector<Difference> pairs;
  const auto add = [&](const char* what, auto text) { pairs.push_back({what, text(a), text(b)}); };
  add("suite", [](const Run& run) { return run.suite; });
  add("seed", [](const Run& run) { return run.seed ? std::to_string(*run.seed) : "none"; });
  add("number of cases of the suite", [](const Run& run) {
    return run.suite_cases ? std::to_string(*run.suite_cases) : "unknown";
  });
  add("build", [](const Run& run) { return run.build; });
  add("GPU", [](const Run& run) { return run.device.gpu; });
  add("device", [](const Run& run) { return run.device.device; });
  add("driver", [](const Run& run) { return run.device.driver; });
  add("CUDA runtime", [](const Run& run) { return run.device.cuda_runtime; });
  add("power limit", [](const Run& run) { return text_of(run.device.power_limit_w, 1, "W"); });
  add("SM clock limit",
      [](const Run& run) { return text_of(run.device.max_sm_clock_hz, kMega, "MHz"); });
  add("memory clock",
      [](const Run& run) { return text_of(run.device.memory_clock_hz, kMega, "MHz"); });
  for (const Difference& pair : pairs) {
    if (pair.a != pair.b) return pair;
  }
  return std::nullopt;
}

Run resume_run(const std::string& path, const Run& fresh) {
  std::optional<Run> found = read_run(path);
  if (!found) return fresh;
  auto differs = difference(*found, fresh);
  if (!differs && found->shard != fresh.shard) {
    differs = {"shard", text_of(found->shard), text_of(fresh.shard)};
  }
  if (differs) {
    throw InputError(
        fmt::format("{}: holds a run of {} \"{}\", this one is of \"{}\". Mend: write to another "
                    "file, or delete that one to measure afresh.",
                    path, differs->what, differs->a, differs->b));
  }
  return std::move(*found);
}

Case* find_case(Run& run, const SuiteCase& wanted) {
  const auto found = std::find_if(run.cases.begin(), run.cases.end(), [&](const Case& item) {
    return item.kernel == wanted.kernel && item.problem == wanted.problem &&
           (!wanted.cache || item.cache == *wanted.cache);
  });
  return found == run.cases.end() ? nullptr : &*found;
}

bool failed(const Run& run, const SuiteCase& wanted) {
  return std::any_of(run.failures.begin(), run.failures.end(), [&](const Failure& failure) {
    return failure.kernel == wanted.kernel && failure.problem == wanted.problem &&
           failure.position.value_or(wanted.position) == wanted.position;
  });
}

}  // namespace roofcast::validation
