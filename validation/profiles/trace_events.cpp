#include "validation/profiles/trace_events.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <iterator>

#include "hw_specs/loader.hpp"
#include "validation/profiles/trace_parts.hpp"

namespace roofcast::validation {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(kReadableBehind >= simdjson::SIMDJSON_PADDING);

enum class Category : unsigned char { other, operation, launch, kernel };

Category category_of(std::string_view text) {
  if (text == "cpu_op") return Category::operation;
  if (text == "kernel" || text == "gpu_memset" || text == "gpu_memcpy") return Category::kernel;
  if (text == "cuda_runtime" || text == "cuda_driver") return Category::launch;
  return Category::other;
}

/// The members of an event's args, of any kind of event.
struct Arguments {
  std::int64_t external_id = kNoId, correlation = kNoId, sequence = kNoId;
  std::int64_t device = 0;
  double bytes = 0;
  std::array<std::string_view, std::size(kInputMembers)> inputs{};
  std::array<std::string_view, std::size(kLaunchMembers)> launch{};
};

template <std::size_t kCount>
std::string_view* slot(std::array<std::string_view, kCount>& values,
                       const std::string_view (&names)[kCount], std::string_view key) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == key) return &values[i];
  }
  return nullptr;
}

// False for a missing member or one of another type; throws any other error, after which the
// document must not be read on.
bool is_there(simdjson::error_code error) {
  if (error == simdjson::SUCCESS) return true;
  const bool other = error == simdjson::INCORRECT_TYPE || error == simdjson::NO_SUCH_FIELD ||
                     error == simdjson::NUMBER_ERROR;
  if (!other) throw simdjson::simdjson_error(error);
  return false;
}

std::string_view raw(ondemand::value value) {
  ondemand::array list;
  if (is_there(value.get_array().get(list))) return list.raw_json();
  return value.raw_json_token();
}

// Leaves `number` unchanged if the value is no such number.
template <class Value>
void take_number(std::int64_t& number, Value&& value) {
  std::int64_t found = 0;
  if (is_there(value.get_int64().get(found))) number = found;
}
template <class Value>
void take_number(double& number, Value&& value) {
  double found = 0;
  if (is_there(value.get_double().get(found))) number = found;
}

Arguments read_arguments(ondemand::object object) {
  Arguments found;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    ondemand::value value = field.value();
    if (key == "External id") {
      take_number(found.external_id, value);
    } else if (key == "correlation") {
      take_number(found.correlation, value);
    } else if (key == "Sequence number") {
      take_number(found.sequence, value);
    } else if (key == "device") {
      take_number(found.device, value);
    } else if (key == "bytes") {
      take_number(found.bytes, value);
    } else if (std::string_view* input = slot(found.inputs, kInputMembers, key)) {
      *input = raw(value);
    } else if (std::string_view* launch = slot(found.launch, kLaunchMembers, key)) {
      *launch = raw(value);
    }
  }
  return found;
}

template <std::size_t kCount>
std::string lines(const std::array<std::string_view, kCount>& values) {
  std::string text;
  for (const std::string_view value : values) {
    for (const char c : value) {
      if (c != '\n') text.push_back(c);
    }
    text.push_back('\n');
  }
  return text;
}

/// Thrown for an event that lacks something.
struct Unusable {
  std::string_view expected;
};

class EventReader {
 public:
  void take(std::string_view text) {
    ondemand::document document = parser_.iterate(simdjson::padded_string_view(
        text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING));
    ondemand::object event = document.get_object();
    auto category_field = event["cat"];
    if (category_field.error() == simdjson::NO_SUCH_FIELD)
      return;  // metadata such as names of processes
    const Category category = category_of(category_field.get_string().value());
    if (category == Category::other) return;
    const std::uint32_t name = found_.texts.number_of(event["name"].get_string().value());
    const std::uint32_t thread = thread_of(event);
    const double begin_us = event["ts"].get_double().value();
    const double time_us = time_of(event, category);
    ondemand::object object;
    Arguments arguments;
    if (is_there(event["args"].get_object().get(object))) {
      arguments = read_arguments(object);
    }
    if (category == Category::operation) {
      found_.operators.push_back({arguments.external_id, arguments.sequence, begin_us,
                                  begin_us + time_us, name, thread,
                                  found_.texts.number_of(lines(arguments.inputs))});
    } else if (category == Category::launch) {
      if (arguments.correlation == kNoId) return;
      found_.launches.push_back({arguments.correlation, arguments.external_id, begin_us, thread});
    } else {
      found_.kernels.push_back(
          {arguments.correlation, arguments.external_id, begin_us, time_us, arguments.bytes, name,
           found_.texts.number_of(lines(arguments.launch)), static_cast<int>(arguments.device)});
    }
  }

  void take_devices(std::string_view text) {
    ondemand::document document = parser_.iterate(simdjson::padded_string_view(
        text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING));
    int position = 0;
    for (ondemand::object device : document.get_array()) {
      std::int64_t id = position++;
      take_number(id, device["id"]);
      std::string_view name;
      TracedDevice& found = found_.devices[static_cast<int>(id)];
      if (is_there(device["name"].get_string().get(name))) found.name = name;
      std::int64_t major = 0, minor = 0;
      take_number(major, device["computeMajor"]);
      take_number(minor, device["computeMinor"]);
      if (major > 0) found.compute_capability = fmt::format("{}.{}", major, minor);
    }
  }

  TraceEvents finish() { return std::move(found_); }

 private:
  // Duration in µs: 0 for an operator still running when the trace ended; a kernel must have one.
  static double time_of(ondemand::object& event, Category category) {
    constexpr double kMost_us = 1e15;  // thirty years
    double time_us = -1;
    take_number(time_us, event["dur"]);
    const bool usable = time_us >= 0 && time_us <= kMost_us;
    if (!usable && category == Category::kernel)
      throw Unusable{"a kernel's time in \"dur\", in µs"};
    return usable ? time_us : 0;
  }

  // The thread id may be a number or a text.
  std::uint32_t thread_of(ondemand::object& event) {
    ondemand::value tid;
    if (!is_there(event["tid"].get(tid))) return 0;
    return found_.texts.number_of(tid.raw_json_token());
  }

  ondemand::parser parser_;
  TraceEvents found_;
};

}  // namespace

std::uint32_t Texts::number_of(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(kept_.size());
  kept_.emplace_back(text);
  numbers_.emplace(kept_.back(), number);
  return number;
}

TraceEvents read_events(ByteStream& stream, const std::string& file) {
  EventReader reader;
  std::size_t events = 0;
  const auto refuse = [&](const std::string& expected) {
    throw specs::SpecError(file, "/traceEvents/" + std::to_string(events), expected,
                           "export the trace again with export_chrome_trace");
  };
  const auto checked = [&](const auto& work) {
    try {
      work();
    } catch (const simdjson::simdjson_error& error) {
      refuse(fmt::format("an event as torch.profiler writes it ({})", error.what()));
    } catch (const Unusable& event) {
      refuse(std::string(event.expected));
    }
  };
  split_trace(stream, file,
              {[&](std::string_view text) {
                 checked([&] { reader.take(text); });
                 ++events;
               },
               [&](std::string_view text) { checked([&] { reader.take_devices(text); }); }});
  return reader.finish();
}

}  // namespace roofcast::validation
