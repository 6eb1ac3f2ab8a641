#include "validation/runs/run_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>
#include <tuple>

#include "validation/runs/problem_text.hpp"

namespace roofcast::validation {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw InputError(
      fmt::format("{}: cannot be written: {}. Mend: choose a file in a directory that exists, has "
                  "room and lets "
                  "you write.",
                  path, why));
}

std::string last_error() {
  return std::generic_category().message(errno);
}

/// Flushed to the disk before the rename: otherwise a crash could leave an empty file of that name.
void write_synced(const std::string& path, const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             &std::fclose);
  if (!file) cannot_write(path, last_error());
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0 || ::fsync(::fileno(file.get())) != 0) {
    cannot_write(path, last_error());
  }
}

/// What must agree for two sets of cases to stand in one run: name, value here, value there.
struct Difference {
  const char* what;
  const std::string& a;
  const std::string& b;
};

std::optional<Difference> difference(const Run& a, const Run& b) {
  const Difference pairs[] = {{"suite", a.suite, b.suite},
                              {"build", a.build, b.build},
                              {"GPU", a.device.gpu, b.device.gpu},
                              {"device", a.device.device, b.device.device},
                              {"driver", a.device.driver, b.device.driver},
                              {"CUDA runtime", a.device.cuda_runtime, b.device.cuda_runtime}};
  for (const Difference& pair : pairs) {
    if (pair.a != pair.b) return pair;
  }
  return std::nullopt;
}

using Key = std::tuple<std::string, CacheState, std::string>;

Key key_of(const Case& item) {
  return {item.kernel, item.cache, problem_text(item.kernel, item.problem)};
}

}  // namespace

std::optional<Run> read_run(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || fs::is_directory(path, error)) {
    throw InputError(
        fmt::format("{}: cannot be read. Mend: name a run file that you may read.", path));
  }
  return parse_run(path, text.str());
}

void write_run(const std::string& path, const Run& run) {
  const std::string beside = path + ".tmp";
  std::error_code error;
  try {
    write_synced(beside, to_json(run));
    fs::rename(beside, path, error);
    if (error) cannot_write(path, error.message());
  } catch (...) {
    if (fs::is_regular_file(beside, error)) fs::remove(beside, error);
    throw;
  }
}

Run resume_run(const std::string& path, const Run& fresh) {
  std::optional<Run> found = read_run(path);
  if (!found) return fresh;
  if (const auto differs = difference(*found, fresh)) {
    throw InputError(
        fmt::format("{}: holds a run of {} \"{}\", this one is of \"{}\". Mend: write to another "
                    "file, or delete "
                    "that one to measure afresh.",
                    path, differs->what, differs->a, differs->b));
  }
  return std::move(*found);
}

bool holds(const Run& run, const SuiteCase& wanted) {
  return std::any_of(run.cases.begin(), run.cases.end(), [&](const Case& item) {
    return item.kernel == wanted.kernel && item.problem == wanted.problem &&
           (!wanted.cache || item.cache == *wanted.cache);
  });
}

Run merge(const std::vector<NamedRun>& runs) {
  if (runs.empty()) throw InputError("there is no run to merge. Mend: name the run files.");
  Run out = runs.front().run;
  out.cases.clear();
  out.failures.clear();
  std::map<Key, std::string> from;
  for (const auto& [file, run] : runs) {
    if (const auto differs = difference(out, run)) {
      throw InputError(fmt::format(
          "{} and {}: differ in the {}: \"{}\" and \"{}\". Mend: merge shards of one run only.",
          runs.front().file, file, differs->what, differs->a, differs->b));
    }
    out.date = std::min(out.date, run.date);
    for (const Case& item : run.cases) {
      const auto [place, added] = from.emplace(key_of(item), file);
      if (!added) {
        throw InputError(
            fmt::format("{} and {}: both hold {} {} ({}). Mend: give each shard its own i/n, and "
                        "each file once.",
                        place->second, file, item.kernel, problem_text(item.kernel, item.problem),
                        name(item.cache)));
      }
      out.cases.push_back(item);
    }
    out.failures.insert(out.failures.end(), run.failures.begin(), run.failures.end());
  }
  return out;
}

}  // namespace roofcast::validation
