#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <vector>

#include "reports/chart.hpp"

extern char** environ;

namespace roofcast::reports {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMend = "SVG and PNG need Node 20.19 or newer and its packages";

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A temporary file without a name, which closing deletes.
File scratch() {
  File file(std::tmpfile(), &std::fclose);
  if (!file)
    throw std::system_error(errno, std::generic_category(), "cannot create a scratch file");
  return file;
}

std::string contents(std::FILE* file) {
  std::string text;
  std::array<char, 65536> buffer{};
  std::rewind(file);
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), n);
  }
  return text;
}

/// The folder of render.mjs with its packages: ROOFCAST_REPORTS_DIR if set, else the first found of
/// this program's installation and the build, source and install folders of its build.
fs::path scripts() {
  std::vector<fs::path> places;
  if (const char* told = std::getenv("ROOFCAST_REPORTS_DIR"); told != nullptr && *told != '\0') {
    places = {told};
  } else {
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    if (program.is_absolute()) {
      places.push_back(program.parent_path().parent_path() / "share/roofcast/reports");
    }
    for (const char* place :
         {ROOFCAST_REPORTS_BUILD_DIR, ROOFCAST_REPORTS_SOURCE_DIR, ROOFCAST_REPORTS_INSTALL_DIR}) {
      places.emplace_back(place);
    }
  }
  std::string looked_in;
  const fs::path* without_packages = nullptr;
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::exists(place / "render.mjs", ignored)) {
      if (fs::exists(place / "node_modules/vega-lite", ignored)) return place;
      if (without_packages == nullptr) without_packages = &place;
    }
    looked_in += (looked_in.empty() ? "" : ", ") + place.string();
  }
  if (without_packages != nullptr) {
    throw InputError(fmt::format("{}: run npm ci in {}", kMend, without_packages->string()));
  }
  throw InputError(fmt::format(
      "{}: render.mjs is in none of {}; set ROOFCAST_REPORTS_DIR to the folder that holds it",
      kMend, looked_in));
}

/// Waits for the child to end and returns its status. Calls `stop` at each signal; if that throws,
/// kills the child.
int status_of(pid_t child, const std::function<void()>& stop) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waiting for node");
    try {
      stop();
    } catch (...) {
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
      throw;
    }
  }
  return status;
}

/// Runs the script with `input` as its standard input; returns its standard output.
std::string run(const fs::path& script, const std::string& format, const std::string& input,
                const std::function<void()>& stop) {
  const File in = scratch();
  const File out = scratch();
  const File errors = scratch();
  if (std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() ||
      std::fflush(in.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot write a scratch file");
  }
  std::rewind(in.get());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(errors.get()), STDERR_FILENO);
  std::vector<std::string> words = {"node", script.string(), format};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "node", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw InputError(
        fmt::format("{}: cannot start node ({})", kMend, std::generic_category().message(failed)));
  }
  const int status = status_of(child, stop);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::string reason = contents(errors.get());
    while (!reason.empty() && reason.back() == '\n') reason.pop_back();
    if (WIFSIGNALED(status)) reason += fmt::format("ended by signal {}", WTERMSIG(status));
    throw InputError(
        fmt::format("cannot draw the chart: {} ({}; {} ran)", reason, kMend, script.string()));
  }
  return contents(out.get());
}

}  // namespace

std::string render(const std::string& vega_lite_json, const std::string& format,
                   const std::function<void()>& stop) {
  if (format != "svg" && format != "png") {
    throw InputError(fmt::format("{}: pictures are svg or png", format));
  }
  return run(scripts() / "render.mjs", format, vega_lite_json, stop);
}

}  // namespace roofcast::reports
