#pragma once
// Splits a trace's JSON into its events, without keeping the whole file in memory.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "validation/profiles/byte_stream.hpp"

namespace roofcast::validation {

/// Bytes behind each text that may be read, as vectorized parsers do.
inline constexpr std::size_t kReadableBehind = 64;

struct TakeTrace {
  std::function<void(std::string_view)> event;              ///< an object of traceEvents
  std::function<void(std::string_view)> device_properties;  ///< the list of this name
};

/// Hands on each event and the device properties without checking their contents. A bare list is
/// taken as traceEvents. Throws SpecError if brackets do not match or are nested too deep, if the
/// file ends before its last bracket (with the number of events read), or if an event is longer
/// than 64 MiB.
void split_trace(ByteStream& stream, const std::string& file, const TakeTrace& take);

}  // namespace roofcast::validation
