#pragma once
// The events of a trace's JSON one after the other: of the file no more than one is in memory.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "validation/profiles/byte_stream.hpp"

namespace roofcast::validation {

/// Bytes that may be read behind each text, as a vectorized parser does.
inline constexpr std::size_t kReadableBehind = 64;

struct TakeTrace {
  std::function<void(std::string_view)> event;              ///< an object of traceEvents
  std::function<void(std::string_view)> device_properties;  ///< that list
};

/// Finds where events begin and end; what stands in them is not checked. A bare list is one of
/// events. Throws SpecError where brackets do not match, the file ends before its last bracket
/// (with how many events it held), or one event is longer than 64 MiB.
void split_trace(ByteStream& stream, const std::string& file, const TakeTrace& take);

}  // namespace roofcast::validation
