#include "validation/calibration/overlay_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hw_specs/checked_json.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

using Json = nlohmann::ordered_json;

template <class Range>
auto find_key(Range& range, std::string_view key) {
  return std::find_if(range.begin(), range.end(),
                      [key](const auto& one) { return one.key == key; });
}

void put_text(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

bool names(const Overlay& overlay, const std::string& source) {
  return std::any_of(overlay.values.begin(), overlay.values.end(),
                     [&](const OverlayValue& value) { return value.source == source; });
}

// Collects the {"value", "source"} entries of a group and of the groups in it.
void collect(const std::string& path, const Json& group, std::vector<OverlayValue>& values) {
  for (const auto& [name, member] : group.items()) {
    const std::string key = path.empty() ? name : path + '/' + name;
    if (!member.is_object())
      throw InputError("/sustained/" + key + " is not {\"value\", \"source\"}");
    if (member.contains("value")) {
      values.push_back({key, member.at("value").get<double>(),
                        member.at("source").get<std::string>(), member.value("note", "")});
    } else {
      collect(key, member, values);
    }
  }
}

// Adds the source, renamed if its key is taken by another one, and returns its key.
std::string add_source(Overlay& overlay, OverlaySource source) {
  const std::string wanted = source.key;
  for (int turn = 2;; ++turn) {
    const auto found = find_key(overlay.sources, source.key);
    if (found == overlay.sources.end()) break;
    if (found->title == source.title && found->date == source.date) return source.key;
    source.key = wanted + '-' + std::to_string(turn);
  }
  overlay.sources.push_back(source);
  return source.key;
}

}  // namespace

const OverlayValue* Overlay::find(std::string_view key) const {
  const auto found = find_key(values, key);
  return found == values.end() ? nullptr : &*found;
}

bool measured_directly(const OverlayValue& value) {
  return value.source.starts_with(kMicrobenchmark);
}

std::string to_json(const Overlay& overlay) {
  Json out;
  out["$schema"] = "../overlay.schema.json";
  out["gpu"] = overlay.gpu;
  const OverlayProvenance& provenance = overlay.provenance;
  Json& about = out["provenance"];
  about["run"] = provenance.run;
  put_text(about, "date", provenance.date);
  put_text(about, "device", provenance.device);
  put_text(about, "driver", provenance.driver);
  put_text(about, "cuda", provenance.cuda);
  put_text(about, "note", provenance.note);
  for (const OverlaySource& source : overlay.sources) {
    if (!names(overlay, source.key)) continue;
    Json& entry = out["sources"][source.key];
    entry["title"] = source.title;
    put_text(entry, "date", source.date);
  }
  Json& sustained = out["sustained"];
  sustained = Json::object();
  for (const OverlayValue& value : overlay.values) {
    Json& entry = sustained[Json::json_pointer('/' + value.key)];
    entry = {{"value", value.value}, {"source", value.source}};
    put_text(entry, "note", value.note);
  }
  return out.dump(2) + "\n";
}

Overlay parse_overlay(const std::string& file, const std::string& text) {
  try {
    const Json in = specs::parse_ordered(file, text);
    Overlay overlay;
    overlay.gpu = in.at("gpu").get<std::string>();
    const Json& about = in.at("provenance");
    overlay.provenance = {
        about.at("run").get<std::string>(), about.value("date", ""), about.value("device", ""),
        about.value("driver", ""),          about.value("cuda", ""), about.value("note", "")};
    const Json sources = in.value("sources", Json::object());
    for (const auto& [key, source] : sources.items()) {
      overlay.sources.push_back(
          {key, source.at("title").get<std::string>(), source.value("date", "")});
    }
    collect("", in.at("sustained"), overlay.values);
    return overlay;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(
        file + " is not the overlay of a device (hw_specs/overlay.schema.json): " + error.what());
  }
}

std::size_t keep_missing(Overlay& overlay, const Overlay& kept) {
  std::size_t added = 0;
  for (OverlayValue value : kept.values) {
    if (overlay.find(value.key) != nullptr) continue;
    const auto source = find_key(kept.sources, value.source);
    if (source != kept.sources.end()) value.source = add_source(overlay, *source);
    overlay.values.push_back(std::move(value));
    ++added;
  }
  return added;
}

}  // namespace roofcast::validation
