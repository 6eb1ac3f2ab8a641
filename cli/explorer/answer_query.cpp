#include "cli/explorer/answer_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "architectures/loader.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/step_output.hpp"
#include "hw_specs/kernel_file.hpp"
#include "model/types/parameter_text.hpp"
#include "reports/chart.hpp"
#include "reports/forecast_charts.hpp"
#include "reports/roofs.hpp"

namespace roofcast::cli {
namespace {

using Json = ExplorerJson;

/// Most settings of a request: more cannot be compared by eye.
constexpr std::size_t kMostQueries = 4;

struct AnsweredQuestion {
  ExplorerQuery query;
  Prediction prediction;
};

Json parameter_json(const Parameter& parameter) {
  Json json = {{"name", parameter.name},
               {"meaning", parameter.meaning},
               {"configures", parameter.configures}};
  if (parameter.is_text) {
    json["text"] = true;
  } else if (!parameter.choices.empty()) {
    json["choices"] = parameter.choices;
  } else {
    json["minimum"] = parameter.minimum;
    json["maximum"] = parameter.maximum;
  }
  if (parameter.fallback || parameter.is_text) json["fallback"] = fallback_text(parameter);
  return json;
}

Json kernel_json(std::string_view name, std::string_view summary, const KernelRef& kernel) {
  Json json = {{"name", name}, {"family", kernel.family->name}, {"summary", summary}};
  json["dtypes"] = Json::array();
  for (const DType type : kernel.dtypes()) json["dtypes"].push_back(roofcast::name(type));
  json["parameters"] = Json::array();
  for (const Parameter& parameter : kernel.parameters()) {
    json["parameters"].push_back(parameter_json(parameter));
  }
  return json;
}

std::string refusal_text(const std::string& message) {
  const Json refusal = {{"error", {{"kind", "bad_input"}, {"message", message}}}};
  return refusal.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// "gemm.tiled on h200-sxm", followed by its number where an earlier one has the same name.
std::vector<std::string> names_of(const std::vector<AnsweredQuestion>& answered) {
  std::vector<std::string> names;
  for (const AnsweredQuestion& one : answered) {
    std::string name = fmt::format("{} on {}", one.query.kernel.name(), one.query.gpu.name);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      name = fmt::format("{} ({})", name, names.size() + 1);
    }
    names.push_back(std::move(name));
  }
  return names;
}

/// Vega-Lite specifications joined as text: parsing them only to write them again would take longer
/// than the forecasts.
class Charts {
 public:
  void add(const std::string& id, const std::string& spec) {
    text_ += (text_.empty() ? R"({"id":")" : R"(,{"id":")") + id + R"(","spec":)" + spec + "}";
  }
  std::string text() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

void add_rooflines(Charts& charts, const std::vector<AnsweredQuestion>& answered, double width) {
  std::vector<const Gpu*> drawn;
  for (const AnsweredQuestion& one : answered) {
    // A device with an overridden value has the same name and other roofs.
    const auto same = [&one](const Gpu& gpu) {
      return gpu.name == one.query.gpu.name && reports::same_roofs(gpu, one.query.gpu);
    };
    if (std::any_of(drawn.begin(), drawn.end(), [&](const Gpu* gpu) { return same(*gpu); })) {
      continue;
    }
    drawn.push_back(&one.query.gpu);
    std::vector<reports::RooflinePoint> points;
    for (const AnsweredQuestion& other : answered) {
      if (same(other.query.gpu)) {
        points.push_back(reports::roofline_point(other.query.kernel, other.prediction));
      }
    }
    charts.add(fmt::format("roofline-{}", drawn.size()),
               reports::roofline_chart(one.query.gpu, points, width));
  }
}

std::string charts_of(const std::vector<AnsweredQuestion>& answered, double width) {
  Charts charts;
  if (answered.empty()) return charts.text();
  add_rooflines(charts, answered, width);
  const std::vector<std::string> names = names_of(answered);
  std::vector<reports::NamedForecast> forecasts;
  bool timed = false;
  for (std::size_t i = 0; i < answered.size(); ++i) {
    forecasts.push_back({names[i], &answered[i].prediction});
    timed = timed || answered[i].prediction.time.has_value();
  }
  if (!timed) return charts.text();
  charts.add("parts", reports::parts_chart(forecasts, width));
  if (std::any_of(answered.begin(), answered.end(), [](const AnsweredQuestion& one) {
        return one.prediction.waves && one.prediction.launches == 1;
      })) {
    charts.add("waves", reports::timeline_chart(forecasts, width));
  }
  charts.add("traffic", reports::traffic_chart(forecasts, width));
  return charts.text();
}

/// The answer as JSON text, with numbers as the command line writes them.
std::string answer_text_of(const AnsweredQuestion& answered) {
  return json_text([&](JsonWriter& json) {
    write_json(json, Answer{answered.query.kernel, answered.query.gpu, answered.prediction});
  });
}

std::string answer_text_of(const ExplorerModelQuery& query) {
  return json_text([&](JsonWriter& json) {
    write_json(json, answer_step(query.name, query.architecture, query.task, query.gpu));
  });
}

Json identified(const char* kind, std::string name, Json content) {
  return {{"kind", kind}, {"name", std::move(name)}, {"content", std::move(content)}};
}

}  // namespace

std::string explorer_catalog() {
  Json json = {{"kernels", Json::array()}, {"gpus", Json::array()}};
  for (const KernelFamily& family : catalog()) {
    json["kernels"].push_back(kernel_json(family.name, family.summary, {&family, nullptr}));
    for (const KernelModel& kernel : family.variants) {
      json["kernels"].push_back(kernel_json(kernel.name, kernel.summary, {&family, &kernel}));
    }
  }
  for (const specs::Embedded& known : specs::embedded()) {
    const Json specification = Json::parse(known.text);
    json["gpus"].push_back({{"name", known.name},
                            {"title", specification.value("title", "")},
                            {"year", specification.value("year", 0)},
                            {"calibrated", !known.overlay_text.empty()}});
  }
  json["models"] = Json::array();
  for (const auto& known : architectures::embedded()) json["models"].push_back(known.name);
  return json.dump();
}

std::string explorer_values(std::string_view gpu) {
  specs::Source source;
  if (!gpu.empty() && gpu.front() == '{') {
    source.file = kPastedGpu;
    source.text = gpu;
  } else {
    source = specs::shipped_source(gpu);
  }
  Json values = Json::array();
  for (const specs::SourcedValue& value : specs::values_with_sources(source)) {
    const Json number = Json::parse(value.value, nullptr, false);
    if (!number.is_number()) continue;
    values.push_back({{"key", value.pointer.substr(1)}, {"value", number}});
  }
  return Json{{"values", std::move(values)}}.dump();
}

std::string explorer_identify(std::string_view text) {
  const Json content = Json::parse(text, nullptr, false);
  if (!content.is_object()) {
    throw InputError(
        "this is no JSON object: give a specification of a GPU, a kernel file or the config.json "
        "of a model");
  }
  if (content.contains("model_type")) {
    architectures::load(kPastedModel, text);
    return identified("model", "config.json", content).dump();
  }
  if (content.contains("work") || content.contains("arrays") || content.contains("launch")) {
    const KernelRef kernel = specs::load_kernel(kPastedKernel, text);
    Json found = identified("kernel", std::string(kernel.kernel->name), content);
    found["entry"] = kernel_json(kernel.kernel->name, kernel.kernel->summary, kernel);
    return found.dump();
  }
  specs::Source source;
  source.file = kPastedGpu;
  source.text = text;
  return identified("gpu", specs::load(source).name, content).dump();
}

std::string explorer_answer(std::string_view request, ExplorerDevices& devices) {
  const Json asked = Json::parse(request, nullptr, false);
  if (!asked.is_object() || !asked.contains("queries") || !asked["queries"].is_array()) {
    throw InputError("a request is {\"queries\":[…],\"width\":620}");
  }
  if (asked["queries"].size() > kMostQueries) {
    throw InputError(fmt::format("at most {} settings are compared", kMostQueries));
  }
  const double width = asked.value("width", reports::kRooflineWidth);
  std::vector<AnsweredQuestion> answered;
  std::string answers;
  for (const Json& query : asked["queries"]) {
    if (!answers.empty()) answers += ",";
    try {
      if (asks_for_model(query)) {
        answers += answer_text_of(read_model_query(query, devices));
        continue;
      }
      ExplorerQuery read = read_explorer_query(query, devices);
      Prediction prediction = predict(read.kernel, read.problem, read.gpu, read.assumptions);
      answered.push_back({std::move(read), std::move(prediction)});
      answers += answer_text_of(answered.back());
    } catch (const InputError& error) {
      answers += refusal_text(error.what());
    } catch (const UsageError& error) {
      answers += refusal_text(error.what());
    }
  }
  return "{\"answers\":[" + answers + "],\"charts\":" + charts_of(answered, width) + "}";
}

}  // namespace roofcast::cli
