#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "cli/commands/opening.hpp"
#include "cli/input/cuda_tools.hpp"
#include "cli/input/device.hpp"
#include "cli/output/files.hpp"
#include "cli/output/inspection.hpp"
#include "cli/output/kernel_file_text.hpp"
#include "cli/output/visible_text.hpp"
#include "hw_specs/kernel_file.hpp"

namespace roofcast::cli {

Manual manual_inspect() {
  return {
      .examples =
          "  roofcast inspect examples/listings/hopper.sass\n"
          "  roofcast inspect examples/listings/hopper.sass --kernel copy16 -o copy16.json && \\\n"
          "    roofcast predict copy16.json --blocks 4096 --threads 256 --repeats_1 16 \\\n"
          "      --read_bytes 268435456 --write_bytes 268435456 --gpu h100-sxm5\n",
      .usage = "roofcast inspect FILE [options]",
      .about =
          R"(Reads the CUDA machine code of a cubin, an object, a program or a library, with
cuobjdump and nvdisasm of the CUDA Toolkit; or what `cuobjdump -sass -res-usage`
printed, from a file or '-'. Of each kernel it says the registers and memories, the
widths of accesses, the instructions by pipe of the whole and of each loop (a loop
inside is counted apart), and what share of each pipe's peak it can reach at best: no
latency, no misses, as many warps as it takes. With -o it writes one kernel as a kernel
file for predict. Its parameters stand for what code does not tell: blocks, threads,
passes of each loop, bytes of memory.)",
      .options = {{"kernel", "NAME", "kernels of that name, or whose C++ name has it as a part"},
                  {"arch", "NAME", "code for that architecture alone: sm_90a"},
                  {"gpu", "NAME|PATH", "whose pipes (default: one that runs the code)"},
                  {"format", "text|json", "output format (default: text); json: one object"},
                  {"output,o", "FILE", "also write one kernel as a kernel file"},
                  {"help,h", "", "this text"}}};
}

namespace {

/// The kernels that --kernel and --arch select.
struct Selection {
  std::optional<std::string> kernel, architecture;

  bool fits(const sass::FunctionName& name) const {
    if (architecture && name.architecture != *architecture) return false;
    if (!kernel || name.symbol == *kernel) return true;
    return sass::readable(name.symbol).find(*kernel) != std::string::npos;
  }
  bool is_exact(const sass::KernelReport& report) const {
    return report.name.symbol == *kernel || report.title == *kernel ||
           report.title.starts_with(*kernel + "(");
  }
};

/// "a, b, c and 12 more", for messages.
std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count++ == most) break;
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  }
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

/// Whether the file is text, as a listing is: a binary has a zero byte among its first 4096.
bool is_text(const std::string& file) {
  if (file == "-") return true;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 4096> begin{};
  stream.read(begin.data(), begin.size());
  const auto end = begin.begin() + stream.gcount();
  return stream.gcount() > 0 && std::find(begin.begin(), end, '\0') == end;
}

/// Calls `line` with each line of a listing, or of what cuobjdump prints for a binary.
void for_each_line(const std::string& file, const std::function<void(std::string_view)>& line) {
  if (!is_text(file)) {
    const std::string path = std::filesystem::absolute(file).string();
    run_tool(find_cuobjdump(), {"-sass", "-res-usage", path}, line);
    return;
  }
  const std::string text = read_file(file);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    line(one);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
}

/// Reads a file line by line into reports of the selected kernels; the instructions are not kept.
class Inspection {
 public:
  explicit Inspection(Selection selection) : selection_(std::move(selection)) {}

  std::vector<sass::KernelReport> read(const std::string& file) {
    sass::ResourceReader resources;
    sass::ListingReader listing(
        [this](const sass::FunctionName& name) {
          seen_.insert(sass::readable(name.symbol) + "  " + name.architecture);
          return selection_.fits(name);
        },
        [this](const sass::Function& function) { reports_.push_back(report_of(function)); });
    for_each_line(file, [&](std::string_view line) {
      resources.line(line);
      listing.line(line);
    });
    listing.finish();
    for (sass::KernelReport& report : reports_) {
      report.resources = resources_of(report.name, resources.table());
    }
    check(file);
    return std::move(reports_);
  }

 private:
  void check(const std::string& file) {
    if (seen_.empty()) {
      throw InputError(file +
                       " holds no CUDA machine code: compile with code for a GPU, as nvcc "
                       "-arch=sm_90a (PTX alone is not enough)");
    }
    if (reports_.empty()) {
      throw InputError(
          fmt::format("no kernel of {} fits --kernel and --arch. It has {}", file, some_of(seen_)));
    }
    const auto exact = [this](const auto& report) { return selection_.is_exact(report); };
    if (!selection_.kernel || std::none_of(reports_.begin(), reports_.end(), exact)) return;
    std::erase_if(reports_, [&](const auto& report) { return !exact(report); });
  }

  Selection selection_;
  std::set<std::string> seen_;
  std::vector<sass::KernelReport> reports_;
};

/// The first shipped GPU whose compute capability is that of the architecture, "sm_90a".
std::optional<Gpu> gpu_of(const std::string& architecture) {
  std::string digits = architecture.substr(std::min<std::size_t>(3, architecture.size()));
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  if (!architecture.starts_with("sm_") || digits.size() < 2) return std::nullopt;
  const std::string capability = digits.insert(digits.size() - 1, ".");
  for (const std::string_view name : device_names()) {
    Gpu gpu = load_device(std::string(name), {});
    if (gpu.compute_capability && text(*gpu.compute_capability) == capability) return gpu;
  }
  return std::nullopt;
}

std::vector<InspectedKernel> with_gpus(std::vector<sass::KernelReport> reports,
                                       const std::optional<std::string>& gpu) {
  std::optional<Gpu> given;
  if (gpu) given = load_device(*gpu, {});
  std::map<std::string, std::optional<Gpu>, std::less<>> by_architecture;
  std::vector<InspectedKernel> kernels;
  kernels.reserve(reports.size());
  for (sass::KernelReport& report : reports) {
    const std::string& architecture = report.name.architecture;
    if (!given && !by_architecture.contains(architecture)) {
      by_architecture[architecture] = gpu_of(architecture);
    }
    const std::optional<Gpu>& runs = given ? given : by_architecture[architecture];
    kernels.push_back({std::move(report), runs});
  }
  return kernels;
}

void write_report(const std::vector<InspectedKernel>& kernels, const std::string& file,
                  bool as_json) {
  Output output(std::nullopt);
  if (as_json) {
    JsonWriter json(output.buffer());
    json.begin_object();
    json.member("file", file);
    json.begin_array("kernels");
    for (const InspectedKernel& kernel : kernels) {
      write_inspection(json, kernel);
      output.flush_if_large();
    }
    json.end_array();
    json.end_object();
    json.newline();
  } else {
    const Style style = Style::of_standard_output();
    for (const InspectedKernel& kernel : kernels) {
      if (&kernel != &kernels.front()) output.write("\n");
      output.write(inspection_text(kernel, style));
    }
  }
  output.commit();
}

/// The text of the kernel file, which is loaded once here: a file that does not load is an error.
std::string checked_kernel_file(const std::vector<InspectedKernel>& kernels,
                                const std::string& file) {
  if (kernels.size() != 1) {
    std::set<std::string> names;
    for (const InspectedKernel& kernel : kernels) {
      names.insert(kernel.report.title + "  " + kernel.report.name.architecture);
    }
    throw InputError(
        fmt::format("-o writes one kernel, and {} fit: name one with --kernel, and with --arch "
                    "where the file has several. It has {}",
                    kernels.size(), some_of(names)));
  }
  std::string text =
      kernel_file_text(kernels.front().report, std::filesystem::path(file).filename().string());
  specs::load_kernel("the kernel file", text);
  return text;
}

}  // namespace

ExitCode run_inspect(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_inspect());
  if (words.size() != 1) {
    throw UsageError("which file? For example: roofcast inspect kernels.cubin");
  }
  const std::string& file = words.front();
  constexpr std::array<std::string_view, 2> formats = {"text", "json"};
  const bool as_json = one_of("--format", options.get("format", "text"), formats) == "json";
  std::error_code ignored;
  if (file != "-" && !std::filesystem::is_regular_file(file, ignored)) {
    throw InputError(file + " is no file: name a cubin, an object, a program or a library");
  }
  Inspection inspection({options.find("kernel"), options.find("arch")});
  const std::vector<InspectedKernel> kernels =
      with_gpus(inspection.read(file), options.find("gpu"));
  const auto path = options.find("output");
  const std::string kernel_file = path ? checked_kernel_file(kernels, file) : std::string();
  if (path != "-") write_report(kernels, file, as_json);
  if (path) write_output(path, kernel_file);
  return ExitCode::done;
}

}  // namespace roofcast::cli
