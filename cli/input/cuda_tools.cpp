#include "cli/input/cuda_tools.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cli/input/options.hpp"
#include "cli/output/signals.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

constexpr const char* kToolkit = "/usr/local/cuda/bin";

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr || *path == '\0' ? kToolkit : fmt::format("{}:{}", path, kToolkit);
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  for (const std::string& folder : split_list(search_path(), ':')) {
    if (folder.empty()) continue;
    std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return std::nullopt;
}

/// This process's environment with the toolkit's folder at the end of PATH, where cuobjdump looks
/// for nvdisasm.
std::vector<std::string> environment_with_toolkit() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("PATH=")) variables.emplace_back(*variable);
  }
  variables.push_back("PATH=" + search_path());
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// Both ends of a pipe; programs that are started inherit neither.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw InputError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe& operator=(Pipe&&) = delete;

  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// A running program; killed if the object is destroyed before wait().
class Child {
 public:
  Child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
        const Pipe& out, const Pipe& err) {
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environment_with_toolkit();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.writing(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.writing(), STDERR_FILENO);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int failed = posix_spawn(&process_, program.c_str(), &actions, &attributes,
                                   pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed == 0) return;
    process_ = -1;
    throw InputError(fmt::format("cannot start {}: {}", program.string(), std::strerror(failed)));
  }
  ~Child() {
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(const Child&) = delete;
  Child& operator=(Child&&) = delete;

  /// Waits for the end; returns the exit code, or 128 + the signal that ended the program.
  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t process_ = -1;
};

/// Splits output that arrives in pieces into lines.
class Lines {
 public:
  Lines(const std::function<void(std::string_view)>& line, const ToolLimits& limits)
      : line_(line), limits_(limits) {}

  void add(std::string_view piece) {
    read_ += piece.size();
    if (read_ > limits_.output_bytes) {
      throw InputError(fmt::format("the disassembly is longer than {} bytes: give a smaller file",
                                   limits_.output_bytes));
    }
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      rest_ += piece.substr(0, end);
      if (rest_.size() > limits_.line_bytes) {
        throw InputError(
            fmt::format("a line of the disassembly is longer than {} bytes", limits_.line_bytes));
      }
      if (end == std::string_view::npos) return;
      line_(rest_);
      rest_.clear();
      piece.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (!rest_.empty()) line_(rest_);
  }

 private:
  const std::function<void(std::string_view)>& line_;
  const ToolLimits& limits_;
  std::string rest_;
  std::size_t read_ = 0;
};

/// Passes one read from the descriptor to `take`; false at the end.
template <typename Take>
bool take_piece(int descriptor, const Take& take) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  return count > 0;
}

void drain(const Pipe& out, const Pipe& err, Lines& lines, std::string& said) {
  constexpr std::size_t most_said = 4096;
  std::array<pollfd, 2> open = {pollfd{out.reading(), POLLIN, 0}, pollfd{err.reading(), POLLIN, 0}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    stop_if_interrupted();
    if (poll(open.data(), open.size(), -1) < 0) continue;
    if (open[0].revents != 0 &&
        !take_piece(open[0].fd, [&](std::string_view piece) { lines.add(piece); })) {
      open[0].fd = -1;
    }
    if (open[1].revents != 0 && !take_piece(open[1].fd, [&](std::string_view piece) {
          said += piece.substr(0, most_said - std::min(most_said, said.size()));
        })) {
      open[1].fd = -1;
    }
  }
}

}  // namespace

std::filesystem::path find_cuobjdump() {
  constexpr std::string_view packages =
      "install NVIDIA's packages cuda-cuobjdump and cuda-nvdisasm (with the version behind, as "
      "cuda-cuobjdump-13-0), or Debian's nvidia-cuda-toolkit";
  auto program = find_program("cuobjdump");
  for (const char* name : {"cuobjdump", "nvdisasm"}) {
    if (find_program(name)) continue;
    throw InputError(fmt::format("{} of the CUDA Toolkit was found neither in PATH nor in {}: {}",
                                 name, kToolkit, packages));
  }
  return *program;
}

void run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
              const std::function<void(std::string_view)>& line, const ToolLimits& limits) {
  Pipe out;
  Pipe err;
  Child child(program, arguments, out, err);
  out.close_end(1);
  err.close_end(1);
  Lines lines(line, limits);
  std::string said;
  drain(out, err, lines, said);
  lines.finish();
  const int code = child.wait();
  if (code == 0) return;
  said.erase(std::find(said.begin(), said.end(), '\n'), said.end());
  const bool too_new = said.find("Cannot decode architecture") != std::string::npos;
  throw InputError(fmt::format("{} ended with {}: {}{}", program.filename().string(), code,
                               said.empty() ? "it said nothing" : said,
                               too_new ? ". A newer CUDA Toolkit knows newer code" : ""));
}

}  // namespace roofcast::cli
