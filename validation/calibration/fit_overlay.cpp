// fit_overlay RUN.json GPU [--with RUN.json]… [--overlay FILE] [--also CONSTANT]…
//             [--hold CONSTANT=VALUE]… [CONSTANT…] > overlay.json
// A development tool: makes the calibration shipped for a device from committed runs. It starts
// from the given overlay (else the shipped one) and keeps the values that microbenchmarks measured,
// except those that --also names. If CONSTANTs are given, only these are fitted. --hold keeps a
// constant at a value.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "validation/calibration/fit.hpp"
#include "validation/runs/run_file.hpp"

namespace {

using namespace roofcast;

struct Request {
  std::string run;
  std::string gpu;
  std::vector<std::string> with;  // more runs of the same device
  std::string overlay;            // empty: the one shipped
  std::vector<std::string> also;
  std::vector<std::string> only;
  std::map<std::string, double, std::less<>> held;
};

// "issue_efficiency=0.8"
bool read_held(const std::string& text, Request& request) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  char* end = nullptr;
  const double value = std::strtod(text.c_str() + equals + 1, &end);
  if (*end != '\0' || !std::isfinite(value) || value <= 0) return false;
  request.held[text.substr(0, equals)] = value;
  return true;
}

std::optional<Request> read_request(const std::vector<std::string>& arguments) {
  Request request;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--")) {
      words.push_back(word);
    } else if ((word == "--with" || word == "--overlay" || word == "--also" || word == "--hold") &&
               i + 1 < arguments.size()) {
      const std::string& value = arguments[++i];
      if (word == "--hold" && !read_held(value, request)) return std::nullopt;
      if (word == "--with") request.with.push_back(value);
      if (word == "--overlay") request.overlay = value;
      if (word == "--also") request.also.push_back(value);
    } else {
      return std::nullopt;
    }
  }
  if (words.size() < 2) return std::nullopt;
  request.run = words[0];
  request.gpu = words[1];
  request.only.assign(words.begin() + 2, words.end());
  return request;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto request = read_request({argv + 1, argv + argc});
  if (!request) {
    std::fputs(
        "usage: fit_overlay RUN.json GPU [--with RUN.json]… [--overlay FILE] [--also CONSTANT]… "
        "[--hold CONSTANT=VALUE]… [CONSTANT…] > overlay.json\n",
        stderr);
    return 2;
  }
  auto run = validation::read_run(request->run);
  const specs::Embedded* spec = specs::find_embedded(request->gpu);
  if (!run || spec == nullptr) {
    std::fputs("fit_overlay: no such run file or no such GPU\n", stderr);
    return 3;
  }
  std::string names = request->run;
  for (const std::string& path : request->with) {
    const auto more = validation::read_run(path);
    if (!more || more->device.gpu != run->device.gpu) {
      std::fprintf(stderr, "fit_overlay: %s is no run of %s\n", path.c_str(),
                   run->device.gpu.c_str());
      return 3;
    }
    run->cases.insert(run->cases.end(), more->cases.begin(), more->cases.end());
    names += " and " + path;
  }
  specs::Source source = specs::shipped_source(*spec);
  source.datasheet_only = true;
  if (!request->overlay.empty()) {
    source.overlay_file = request->overlay;
    source.overlay_text = specs::read_text(request->overlay);
  }
  Gpu gpu = specs::load(source);
  validation::Overlay base;
  if (!source.overlay_text.empty()) {
    base = validation::parse_overlay(source.overlay_file, source.overlay_text);
  }
  validation::FitScope scope{request->only, {}, request->held};
  for (const validation::OverlayValue& value : base.values) {
    const auto& also = request->also;
    const bool moves = std::find(also.begin(), also.end(), value.key) != also.end();
    if (validation::measured_directly(value) && !moves) scope.fixed.push_back(value.key);
  }
  const validation::Fit found = validation::fit(*run, gpu, scope);
  gpu.sustained = found.sustained;
  validation::fit_spreads(*run, gpu);
  const validation::Overlay fitted = validation::fitted_overlay(*run, names, gpu, base, scope);
  std::fputs(validation::to_json(fitted).c_str(), stdout);
  std::fprintf(stderr, "%zu cases, mean |log error| %.4f; %zu values measured directly\n",
               found.cases, found.mean_absolute_error, scope.fixed.size());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_overlay: %s\n", error.what());
  return 3;
}
