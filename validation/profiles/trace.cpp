#include "validation/profiles/trace.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "hw_specs/loader.hpp"
#include "validation/profiles/operator_of.hpp"
#include "validation/profiles/trace_events.hpp"

namespace roofcast::validation {
namespace {

using Json = nlohmann::json;
constexpr double kMicrosecond = 1e-6;

// Parses the lines of JSON that `lines` (trace_events.cpp) joined.
template <std::size_t kCount>
std::array<Json, kCount> members(const std::string& text) {
  std::array<Json, kCount> found;
  std::size_t begin = 0;
  for (Json& member : found) {
    const std::size_t end = text.find('\n', begin);
    if (end == text.npos) break;
    if (end > begin) {
      member = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                           text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    }
    begin = end + 1;
  }
  return found;
}

std::optional<std::vector<std::int64_t>> numbers(const Json& list) {
  std::vector<std::int64_t> found;
  if (!list.is_array()) return found;
  for (const Json& one : list) {
    if (!one.is_number_integer()) return std::nullopt;  // a list of tensors
    found.push_back(one.get<std::int64_t>());
  }
  return found;
}

const Json& at(const Json& list, std::size_t i) {
  static const Json none;
  return list.is_array() && i < list.size() ? list[i] : none;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

// Every tensor of a list becomes an input.
void add_input(TracedCall& call, std::size_t argument, const Json& dims, const Json& strides,
               const std::string& type, int depth = 0) {
  if (auto plain = numbers(dims)) {
    call.inputs.push_back({std::move(*plain),
                           numbers(strides).value_or(std::vector<std::int64_t>{}), type, argument});
    return;
  }
  constexpr int kDeepest = 2;
  if (depth == kDeepest) return;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    add_input(call, argument, dims[i], at(strides, i), type, depth + 1);
  }
}

TracedCall call_of(const std::string& name, const std::string& inputs) {
  TracedCall call;
  call.name = name;
  call.by_operator = true;
  const auto [dims, strides, types, values] = members<std::size(kInputMembers)>(inputs);
  for (std::size_t i = 0; dims.is_array() && i < dims.size(); ++i) {
    add_input(call, i, dims[i], at(strides, i), text_of(at(types, i)));
  }
  for (std::size_t i = 0; values.is_array() && i < values.size(); ++i) {
    call.values.push_back(text_of(values[i]));
  }
  return call;
}

std::int64_t at_most(const Json& value, std::int64_t fallback) {
  return value.is_number_integer() ? value.get<std::int64_t>() : fallback;
}

ProfiledKernel kernel_of(const std::string& name, const std::string& launch_text) {
  ProfiledKernel kernel;
  kernel.name = name;
  const auto [grid, block, registers, shared, occupancy] =
      members<std::size(kLaunchMembers)>(launch_text);
  const auto blocks = numbers(grid), threads = numbers(block);
  if (blocks && threads && blocks->size() == 3 && threads->size() == 3) {
    Launch launch;
    std::copy(blocks->begin(), blocks->end(), launch.grid.begin());
    std::copy(threads->begin(), threads->end(), launch.block.begin());
    launch.registers = at_most(registers, 0);
    launch.shared_bytes = at_most(shared, 0);
    kernel.launch = launch;
  }
  constexpr double kPercent = 0.01;
  // The profiler's estimate ignores clusters; a kernel that ran cannot have an occupancy of 0.
  if (occupancy.is_number() && occupancy.get<double>() > 0) {
    kernel.achieved_occupancy = kPercent * occupancy.get<double>();
  }
  return kernel;
}

/// Groups kernels by the operator that launched them, and calls by name and inputs.
class Assembler {
 public:
  explicit Assembler(const TraceEvents& events) : events_(events), operators_(events) {}

  Trace finish() {
    // Kernels of other streams may lie between those of one call.
    std::unordered_map<std::size_t, std::size_t> open;  // operator → position in the sequence
    double first = 0, last = 0;
    for (const KernelEvent& kernel : events_.kernels) {
      const OperatorOf found = operators_.find(kernel);
      const double begin_s = kernel.begin_us * kMicrosecond, time_s = kernel.time_us * kMicrosecond;
      const auto known = found.launched_by ? open.find(*found.launched_by) : open.end();
      std::size_t place = trace_.sequence.size();
      if (known == open.end()) {
        const std::size_t call = call_number(found, kernel);
        trace_.sequence.push_back({call, begin_s, 0});
        ++trace_.calls[call].count;
        if (found.launched_by) open[*found.launched_by] = place;
      } else {
        place = known->second;
      }
      trace_.sequence[place].time_s += time_s;
      add(trace_.calls[trace_.sequence[place].call], kernel, time_s);
      if (trace_.kernels++ == 0) first = begin_s;
      trace_.busy_s += time_s;
      first = std::min(first, begin_s);
      last = std::max(last, begin_s + time_s);
    }
    trace_.span_s = last - first;
    std::stable_sort(trace_.sequence.begin(), trace_.sequence.end(),
                     [](const auto& a, const auto& b) { return a.begin_s < b.begin_s; });
    return std::move(trace_);
  }

 private:
  static std::uint64_t both(std::uint32_t a, std::uint32_t b) {
    return (std::uint64_t{a} << 32U) | b;
  }

  std::size_t call_number(const OperatorOf& found, const KernelEvent& kernel) {
    const bool known = found.name.has_value();
    // Without an operator, calls are grouped by kernel name and launch configuration.
    const std::uint64_t key =
        known ? both(*found.name, found.inputs) : both(kernel.name, kernel.launch);
    const auto [place, is_new] =
        (known ? of_operators_ : of_kernels_).emplace(key, trace_.calls.size());
    if (is_new) {
      TracedCall call;
      if (known) {
        call = call_of(events_.texts[*found.name], events_.texts[found.inputs]);
      } else {
        call.name = events_.texts[kernel.name];
      }
      trace_.calls.push_back(std::move(call));
      kernels_.emplace_back();
    }
    return place->second;
  }

  void add(TracedCall& call, const KernelEvent& kernel, double time_s) {
    auto& places = kernels_[static_cast<std::size_t>(&call - trace_.calls.data())];
    const auto [place, is_new] =
        places.emplace(both(kernel.name, kernel.launch), call.kernels.size());
    if (is_new) {
      call.kernels.push_back(kernel_of(events_.texts[kernel.name], events_.texts[kernel.launch]));
      if (kernel.moved_bytes > 0) call.kernels.back().moved_bytes = kernel.moved_bytes;
    }
    ProfiledKernel& one = call.kernels[place->second];
    ++one.calls;
    one.time_s += time_s;
    call.kernels_s += time_s;
  }

  const TraceEvents& events_;
  OperatorFinder operators_;
  Trace trace_;
  std::unordered_map<std::uint64_t, std::size_t> of_operators_, of_kernels_;
  std::vector<std::unordered_map<std::uint64_t, std::size_t>> kernels_;  // by call
};

// Keeps the kernels of one device. Throws SpecError for several devices if none is chosen, and if
// no kernels are left.
void keep_device(TraceEvents& events, const std::string& file, std::optional<int> device) {
  std::set<int> devices;
  for (const KernelEvent& kernel : events.kernels) devices.insert(kernel.device);
  if (device) {
    std::erase_if(events.kernels, [&](const auto& kernel) { return kernel.device != *device; });
  } else if (devices.size() > 1) {
    const auto number = [](int one) { return std::to_string(one); };
    throw specs::SpecError(file, "/traceEvents",
                           "kernels of one device, not of " + listed(devices, number),
                           "choose one with --device");
  }
  if (!events.kernels.empty()) return;
  throw specs::SpecError(
      file, "/traceEvents",
      device ? "kernels of device " + std::to_string(*device) : "kernels of a GPU (cat \"kernel\")",
      device ? "choose another with --device"
             : "profile with ProfilerActivity.CUDA among the activities");
}

}  // namespace

Trace read_trace(ByteStream& stream, const std::string& file, std::optional<int> device) {
  TraceEvents events = read_events(stream, file);
  keep_device(events, file, device);
  const auto known = events.devices.find(events.kernels.front().device);
  Trace trace = Assembler(events).finish();
  if (known != events.devices.end()) {
    trace.device = known->second.name;
    trace.compute_capability = known->second.compute_capability;
  }
  return trace;
}

Trace read_trace(const std::string& path, std::optional<int> device) {
  const auto stream = open_bytes(path);
  return read_trace(*stream, path, device);
}

}  // namespace roofcast::validation
