#include "hw_specs/relative.hpp"

#include <cstdlib>
#include <tuple>
#include <vector>

#include "hw_specs/loader.hpp"
#include "hw_specs/what_if.hpp"

namespace roofcast::specs {
namespace {

// How much wider the interval is, relative. An H100 forecast from the constants of an H200 and its
// own datasheet missed 266 random shapes by 10.7% where the H200 itself missed them by 10.4%, and a
// GPU of another die has been compared with published rows alone (2 to 16%).
constexpr double kSameDie = 1.25;
constexpr double kOtherDie = 2;

std::vector<Gpu> load_measured() {
  std::vector<Gpu> measured;
  for (const Embedded& one : embedded()) {
    if (one.overlay_text.empty()) continue;
    Source source;
    source.file = std::string(one.name) + ".json";
    source.text = one.text;
    source.overlay_file = std::string(one.name) + " calibration";
    source.overlay_text = one.overlay_text;
    Gpu gpu = load(source);
    if (!gpu.sustained.published) measured.push_back(std::move(gpu));
  }
  return measured;
}

bool same(const std::string& a, const std::string& b) {
  return !a.empty() && a == b;
}

auto distance(const Gpu& a, const Gpu& b) {
  const auto major = [](const Gpu& gpu) {
    return gpu.compute_capability ? gpu.compute_capability->major : 0;
  };
  return std::tuple{!same(a.die, b.die), !same(a.architecture, b.architecture),
                    std::abs(major(a) - major(b)), std::abs(a.year - b.year)};
}

}  // namespace

void take_from_relative(Gpu& gpu) {
  if (!gpu.sustained.source.empty() || !gpu.occupancy) return;
  static const std::vector<Gpu> measured = load_measured();
  const Gpu* nearest = nullptr;
  for (const Gpu& one : measured) {
    if (one.name == gpu.name) continue;
    if (nearest == nullptr || distance(gpu, one) < distance(gpu, *nearest)) nearest = &one;
  }
  if (nearest == nullptr) return;
  gpu.sustained = nearest->sustained;
  gpu.sustained.relative = nearest->name;
  carry_over(*nearest, gpu);
  const double wider = same(gpu.die, nearest->die) ? kSameDie : kOtherDie;
  for (auto* spread : {&gpu.sustained.spread_launch_bound, &gpu.sustained.spread_memory,
                       &gpu.sustained.spread_compute}) {
    if (*spread) **spread *= wider;
  }
}

}  // namespace roofcast::specs
