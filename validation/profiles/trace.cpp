#include "validation/profiles/trace.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

using Json = nlohmann::json;

// zlib hands on what is not compressed as it is.
std::string read_whole(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw specs::SpecError(path, "", "a file that can be read", "check the path");
  std::string text;
  constexpr std::size_t kChunk = std::size_t{1} << 20U;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kChunk);
    const int got = gzread(file.get(), text.data() + before, kChunk);
    if (got < 0) {
      throw specs::SpecError(path, "", "a whole gzip file", "copy the trace again: it was cut off");
    }
    text.resize(before + static_cast<std::size_t>(got));
    if (got == 0) return text;
  }
}

std::vector<std::int64_t> numbers(const Json& list) {
  std::vector<std::int64_t> found;
  if (!list.is_array()) return found;
  for (const Json& one : list) {
    if (!one.is_number_integer()) return {};  // a list of tensors
    found.push_back(one.get<std::int64_t>());
  }
  return found;
}

const Json& member(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

TracedCall call_of(const Json& event) {
  TracedCall call;
  call.name = event.value("name", "");
  const Json& args = member(event, "args");
  const Json &dims = member(args, "Input Dims"), &strides = member(args, "Input Strides"),
             &types = member(args, "Input type"), &values = member(args, "Concrete Inputs");
  for (std::size_t i = 0; dims.is_array() && i < dims.size(); ++i) {
    TensorShape input{numbers(dims[i]), {}, ""};
    if (strides.is_array() && i < strides.size()) input.strides = numbers(strides[i]);
    if (types.is_array() && i < types.size() && types[i].is_string()) {
      input.type = types[i].get<std::string>();
    }
    call.inputs.push_back(std::move(input));
  }
  for (std::size_t i = 0; values.is_array() && i < values.size(); ++i) {
    call.values.push_back(values[i].is_string() ? values[i].get<std::string>() : "");
  }
  return call;
}

/// Takes the events one after the other; none is kept.
class Reader {
 public:
  void take(const Json& event) {
    const std::string category = event.value("cat", "");
    if (category == "cpu_op") {
      const Json& id = member(member(event, "args"), "External id");
      if (id.is_number_integer()) operators_[id.get<std::int64_t>()] = call_of(event);
    } else if (category == "kernel") {
      take_kernel(event);
    }
  }
  void take_device(const Json& properties) {
    if (properties.is_object()) trace_.device = properties.value("name", "");
  }

  Trace finish() {
    double first = 0, last = 0;
    for (Launched& one : launched_) {
      const bool is_new = !calls_.contains(one.operator_id) || one.operator_id < 0;
      if (is_new) {
        const auto found = operators_.find(one.operator_id);
        TracedCall call =
            found == operators_.end() ? TracedCall{one.name, {}, {}, {}} : std::move(found->second);
        call.begin_s = one.begin_s;
        calls_[one.operator_id] = trace_.calls.size();
        trace_.calls.push_back(std::move(call));
      }
      TracedCall& call = trace_.calls[calls_[one.operator_id]];
      call.kernels.push_back(std::move(one.name));
      call.kernels_s += one.time_s;
      trace_.busy_s += one.time_s;
      if (trace_.kernels++ == 0) first = one.begin_s;
      first = std::min(first, one.begin_s);
      last = std::max(last, one.begin_s + one.time_s);
    }
    trace_.span_s = last - first;
    std::stable_sort(trace_.calls.begin(), trace_.calls.end(),
                     [](const auto& a, const auto& b) { return a.begin_s < b.begin_s; });
    return std::move(trace_);
  }

 private:
  struct Launched {
    std::string name;
    std::int64_t operator_id;
    double begin_s, time_s;
  };

  void take_kernel(const Json& event) {
    constexpr double kMicrosecond = 1e-6;
    const Json& id = member(member(event, "args"), "External id");
    launched_.push_back(
        {event.value("name", ""), id.is_number_integer() ? id.get<std::int64_t>() : -1,
         event.value("ts", 0.0) * kMicrosecond, event.value("dur", 0.0) * kMicrosecond});
  }

  std::unordered_map<std::int64_t, TracedCall> operators_;
  std::unordered_map<std::int64_t, std::size_t> calls_;
  std::vector<Launched> launched_;
  Trace trace_;
};

}  // namespace

Trace read_trace(const std::string& path) {
  const std::string text = read_whole(path);
  Reader reader;
  // Events are the objects in the list traceEvents: taken, then dropped.
  constexpr int kEventDepth = 2;
  std::string list;
  const Json::parser_callback_t each = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) list = parsed.get<std::string>();
    if (event != Json::parse_event_t::object_end || depth != kEventDepth) return true;
    if (list == "traceEvents") {
      reader.take(parsed);
      return false;
    }
    if (list == "deviceProperties") reader.take_device(parsed);
    return true;
  };
  try {
    (void)Json::parse(text, each).size();
  } catch (const Json::parse_error& error) {
    throw specs::SpecError(
        path, "", "a trace of torch.profiler as JSON (" + std::string(error.what()) + ")",
        "export it again with export_chrome_trace; a file cut off cannot be read");
  } catch (const Json::type_error& error) {
    throw specs::SpecError(
        path, "", "events as torch.profiler writes them (" + std::string(error.what()) + ")",
        "export the trace again with export_chrome_trace");
  }
  Trace trace = reader.finish();
  if (trace.kernels > 0) return trace;
  throw specs::SpecError(path, "/traceEvents", "kernels of a GPU (cat \"kernel\")",
                         "profile with ProfilerActivity.CUDA among the activities");
}

}  // namespace roofcast::validation
