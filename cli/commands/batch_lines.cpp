#include "cli/commands/batch_lines.hpp"

#include <algorithm>
#include <deque>
#include <span>
#include <thread>
#include <vector>

#include "cli/input/kernel_options.hpp"
#include "cli/input/query_lines.hpp"
#include "cli/output/files.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/terminal.hpp"

namespace roofcast::cli {
namespace {

/// Lines that one thread answers, and their answers.
struct Part {
  std::string text;
  std::vector<std::size_t> ends;
  std::int64_t first_number = 0;
  fmt::memory_buffer answers;
  std::int64_t failed = 0;

  /// Empties the part; the buffers keep their memory.
  void restart(std::int64_t number) {
    text.clear();
    ends.clear();
    answers.clear();
    first_number = number;
    failed = 0;
  }
  void add(std::string_view line) {
    text += line;
    ends.push_back(text.size());
  }
  void answer(Batch& batch) {
    std::size_t begin = 0;
    std::int64_t number = first_number;
    for (const std::size_t end : ends) {
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      if (!batch.answer(line, number++, answers)) ++failed;
      begin = end;
    }
  }
};

// Fills part after part, each up to 256 lines or 1 MiB, with the lines available without waiting;
// waits for the first line only. Returns the filled parts.
std::span<Part> next_parts(std::vector<Part>& parts, QueryLines& lines, std::int64_t& number) {
  constexpr std::size_t kLinesOfPart = 256;
  constexpr std::size_t kBytesOfPart = std::size_t{1} << 20;
  std::size_t used = 0;
  for (Part& part : parts) {
    part.restart(number + 1);
    while (part.ends.size() < kLinesOfPart && part.text.size() < kBytesOfPart) {
      const bool waits = lines.needs_read() && (used > 0 || !part.ends.empty());
      if (waits) break;
      const auto line = lines.next();
      if (!line) break;
      part.add(*line);
      ++number;
    }
    if (part.ends.empty()) break;
    ++used;
  }
  return std::span(parts).first(used);
}

}  // namespace

std::vector<Option> with_batch_options(std::vector<Option> options) {
  return joined(
      {std::move(options),
       {{"queries", "FILE|-", "answer a JSON object a line, one a line; without KERNEL"},
        {"kernel-file", "FILE",
         "with --queries: a kernel file that lines name by its path or its \"name\" (repeatable)",
         true},
        {"jobs", "N", "with --queries: answer on N threads (default: 0, all cores)"}}});
}

void refuse_batch_option(const SplitArguments& split) {
  const auto is_batch = [](const std::string& argument) {
    return argument == "--batch" || argument.starts_with("--batch=");
  };
  if (!split.words.empty()) return;
  if (std::none_of(split.options.begin(), split.options.end(), is_batch)) return;
  throw UsageError(
      "--batch is a parameter of kernels, and no kernel is named: name one, or give a file of "
      "queries as --queries FILE");
}

bool wants_batch(const Options& options, const Arguments& kernels) {
  if (options.has("queries")) {
    if (kernels.empty()) return true;
    throw UsageError("--queries goes without a kernel, since each line names one: leave out '{}'",
                     kernels.front());
  }
  for (const char* option : {"jobs", "kernel-file"}) {
    if (!options.has(option)) continue;
    throw UsageError("--{} goes with --queries: add --queries FILE", option);
  }
  return false;
}

BatchDefaults read_batch_defaults(const Options& options) {
  BatchDefaults defaults;
  defaults.device = read_device_options(options);
  if (options.has("gpu")) defaults.gpu = read_device_name(options);
  if (const auto dtype = options.find("dtype")) {
    defaults.dtype = parse_dtype(*dtype);
    if (!defaults.dtype) throw UsageError("there is no element type '{}'", *dtype);
  }
  defaults.assumptions = read_assumptions(options);
  defaults.kernel_files = options.all("kernel-file");
  for (const char* other : {"sort", "price"}) {
    if (!options.has(other)) continue;
    throw UsageError("--{} orders several GPUs: it does not go with --queries", other);
  }
  if (options.get("format", "json") != "json") {
    throw UsageError("--queries answers in JSON, one object a line: leave --format out");
  }
  return defaults;
}

std::size_t read_jobs(const Options& options) {
  constexpr std::int64_t kMost = 1024;
  const std::int64_t jobs = parse_whole("--jobs", options.get("jobs", "0"));
  if (jobs < 0 || jobs > kMost) {
    throw UsageError("--jobs takes 0 (all cores) to {}, found {}", kMost, jobs);
  }
  if (jobs > 0) return static_cast<std::size_t>(jobs);
  return std::max(1U, std::thread::hardware_concurrency());
}

ExitCode answer_lines(const std::string& input, const std::optional<std::string>& output_path,
                      std::size_t jobs, const std::function<Batch()>& make) {
  std::deque<Batch> batches;  // bad options are refused before anything is read
  batches.push_back(make());
  static_assert(QueryLines::kLongestLine > Query::kLongest);
  QueryLines lines(input);
  Output output(output_path);
  std::vector<Part> buffers(jobs);
  std::int64_t number = 0;
  std::int64_t failed = 0;
  while (true) {
    // A program that writes a line and waits for its answer must get it.
    if (lines.needs_read()) output.flush();
    const std::span<Part> parts = next_parts(buffers, lines, number);
    if (parts.empty()) break;
    while (batches.size() < parts.size()) batches.push_back(make());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < parts.size(); ++i) {
        threads.emplace_back([&part = parts[i], &batch = batches[i]] { part.answer(batch); });
      }
      parts.front().answer(batches.front());
    }
    for (const Part& part : parts) {
      output.write({part.answers.data(), part.answers.size()});
      failed += part.failed;
    }
    output.flush_if_large();
    stop_if_interrupted();
  }
  output.commit();
  if (failed == 0) return ExitCode::done;
  warn(fmt::format("{} of {} lines could not be answered", failed, number));
  return ExitCode::bad_input;
}

}  // namespace roofcast::cli
