#pragma once
// The relevant events of a trace in compact form: each distinct text is kept once.
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "validation/profiles/byte_stream.hpp"

namespace roofcast::validation {

/// Distinct texts, each with a number.
class Texts {
 public:
  std::uint32_t number_of(std::string_view text);
  const std::string& operator[](std::uint32_t number) const { return kept_[number]; }
  std::size_t size() const { return kept_.size(); }

 private:
  std::deque<std::string> kept_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

inline constexpr std::int64_t kNoId = -1;

struct OperatorEvent {
  std::int64_t external_id = kNoId;
  std::int64_t sequence = kNoId;  ///< autograd's, the same in forward and backward pass
  double begin_us = 0, end_us = 0;
  std::uint32_t name = 0, thread = 0;
  std::uint32_t inputs = 0;  ///< number of a text with a line of JSON for each of kInputMembers
};

/// A call of the CUDA runtime or driver.
struct LaunchEvent {
  std::int64_t correlation = kNoId, external_id = kNoId;
  double begin_us = 0;
  std::uint32_t thread = 0;
};

struct KernelEvent {
  std::int64_t correlation = kNoId, external_id = kNoId;
  double begin_us = 0, time_us = 0;
  double moved_bytes = 0;  ///< by a memset or copy
  std::uint32_t name = 0;
  std::uint32_t launch = 0;  ///< number of a text with a line of JSON for each of kLaunchMembers
  int device = 0;
};

inline constexpr std::string_view kInputMembers[] = {"Input Dims", "Input Strides", "Input type",
                                                     "Concrete Inputs"};
inline constexpr std::string_view kLaunchMembers[] = {"grid", "block", "registers per thread",
                                                      "shared memory", "est. achieved occupancy %"};

struct TracedDevice {
  std::string name, compute_capability;  ///< "9.0"; empty: unknown
};

struct TraceEvents {
  Texts texts;
  std::vector<OperatorEvent> operators;
  std::vector<LaunchEvent> launches;
  std::vector<KernelEvent> kernels;
  std::map<int, TracedDevice> devices;  ///< by number
};

/// Throws SpecError as split_trace does, and for an event that torch.profiler does not write, with
/// its number.
TraceEvents read_events(ByteStream& stream, const std::string& file);

}  // namespace roofcast::validation
