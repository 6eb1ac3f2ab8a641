#include "cli/output/step_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/json_writer.hpp"
#include "model/transformer/step.hpp"

namespace roofcast::cli {
namespace {

using transformer::Section;
using transformer::TimelineEvent;

constexpr std::int64_t kLayers = 1, kOperations = 2, kTransfers = 3;
constexpr double kMicroseconds = 1e6;

std::string place_of(const TimelineEvent& event) {
  const std::string_view direction =
      transformer::kDirections[static_cast<std::size_t>(event.direction)];
  switch (event.section) {
    case Section::begin:
      return fmt::format("embedding {}", direction);
    case Section::end:
      return fmt::format("head {}", direction);
    case Section::once:
      return event.part;
    default:
      return fmt::format("layer {} {}", event.layer, direction);
  }
}

class Trace {
 public:
  Trace() : json_(out_) {
    json_.begin_object();
    json_.word_member("displayTimeUnit", "ns");
    json_.begin_array("traceEvents");
  }

  void name(std::string_view what, std::int64_t track, std::string_view text) {
    json_.begin_object();
    json_.word_member("name", what);
    json_.word_member("ph", "M");
    json_.member("pid", std::int64_t{0});
    json_.member("tid", track);
    json_.begin_object("args");
    json_.member("name", text);
    json_.end_object();
    json_.end_object();
  }

  void slice(std::string_view name, std::int64_t track, double start_s, double duration_s,
             const TimelineEvent* event = nullptr) {
    json_.begin_object();
    json_.member("name", name);
    json_.word_member("ph", "X");
    json_.member("pid", std::int64_t{0});
    json_.member("tid", track);
    json_.member("ts", start_s * kMicroseconds);
    json_.member("dur", duration_s * kMicroseconds);
    if (event != nullptr) {
      json_.begin_object("args");
      json_.member("kernel", event->what);
      json_.member("bound by", event->bound);
      json_.end_object();
    }
    json_.end_object();
  }

  std::string text() {
    json_.end_array();
    json_.end_object();
    json_.newline();
    return fmt::to_string(out_);
  }

 private:
  fmt::memory_buffer out_;
  JsonWriter json_;
};

}  // namespace

std::string step_trace(const StepAnswer& answer) {
  if (!answer.step) throw InputError(answer.refusal);
  const auto events = timeline(*answer.step, answer.task);
  Trace trace;
  trace.name("process_name", kLayers, fmt::format("{} on {}", answer.model, answer.gpu));
  trace.name("thread_name", kLayers, "layers");
  trace.name("thread_name", kOperations, "operations");
  std::string place;
  double start_s = 0, end_s = 0;
  if (std::any_of(events.begin(), events.end(), [](const auto& one) { return one.transfer; })) {
    trace.name("thread_name", kTransfers, "transfers");
  }
  for (const TimelineEvent& event : events) {
    if (event.transfer) {
      trace.slice(event.part, kTransfers, event.start_s, event.duration_s, &event);
    }
    if (event.beside) continue;
    const std::string here = place_of(event);
    if (here != place) {
      if (!place.empty()) trace.slice(place, kLayers, start_s, end_s - start_s);
      place = here;
      start_s = event.start_s;
    }
    end_s = event.start_s + event.duration_s;
    if (event.transfer) continue;
    trace.slice(event.part, kOperations, event.start_s, event.duration_s, &event);
  }
  if (!place.empty()) trace.slice(place, kLayers, start_s, end_s - start_s);
  return trace.text();
}

}  // namespace roofcast::cli
