#include "hw_specs/relative.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hw_specs/loader.hpp"
#include "hw_specs/what_if.hpp"

namespace roofcast::specs {
namespace {

/// The shipped GPUs with a calibration, each with the values of that calibration only.
struct Calibrated {
  std::vector<Gpu> measured;
  std::vector<Gpu> published;
};

Calibrated load_calibrated() {
  Calibrated found;
  for (const Embedded& one : embedded()) {
    if (one.overlay_text.empty()) continue;
    Source source = shipped_source(one);
    source.datasheet_only = true;
    Gpu gpu = load(source);
    const CalibrationKind kind = calibration_kind(gpu.sustained);
    if (kind == CalibrationKind::measured) {
      found.measured.push_back(std::move(gpu));
    } else if (kind == CalibrationKind::published) {
      found.published.push_back(std::move(gpu));
    }
  }
  return found;
}

const Calibrated& calibrated_gpus() {
  static const Calibrated calibrated = load_calibrated();
  return calibrated;
}

bool same(const std::string& a, const std::string& b) {
  return !a.empty() && a == b;
}

auto distance(const Gpu& a, const Gpu& b) {
  const auto major = [](const Gpu& gpu) {
    return gpu.compute_capability ? gpu.compute_capability->major : 0;
  };
  return std::tuple{a.name != b.name, !same_die(a, b), !same(a.architecture, b.architecture),
                    std::abs(major(a) - major(b)), std::abs(a.year - b.year)};
}

// Sustained values that depend on the chip; launch times depend on the installation.
constexpr std::array kOfTheChip = {
    &Sustained::dram_read_bytes_per_s, &Sustained::dram_write_bytes_per_s,
    &Sustained::dram_scattered_bytes_per_s, &Sustained::l2_bandwidth_bytes_per_s};

double dram_apart(const Gpu& a, const Gpu& b) {
  const auto rate = [](const Gpu& gpu) {
    return gpu.memory.dram_bandwidth_bytes_per_s.value_or(1);
  };
  return std::abs(std::log(rate(a) / rate(b)));
}

// Two dies of an architecture have the same memory system if their L2 has the same size (sources
// round it) and number of partitions, as in the B200 and the B300.
bool same_l2(const Gpu& a, const Gpu& b) {
  constexpr double kRounded = 0.05;
  const auto &l2 = a.memory.l2_bytes, &other = b.memory.l2_bytes;
  return same(a.architecture, b.architecture) && l2 && other &&
         std::abs(*l2 / *other - 1) < kRounded && a.memory.l2_partitions == b.memory.l2_partitions;
}

// Takes the chip's values from other cards of the same die or L2. The card whose DRAM bandwidth is
// nearest comes last and overwrites the others.
void take_published(Gpu& gpu) {
  std::vector<const Gpu*> cards;
  for (const Gpu& one : calibrated_gpus().published) {
    if (one.name != gpu.name && (same_die(one, gpu) || same_l2(one, gpu))) {
      cards.push_back(&one);
    }
  }
  std::sort(cards.begin(), cards.end(), [&gpu](const Gpu* a, const Gpu* b) {
    return dram_apart(*a, gpu) > dram_apart(*b, gpu);
  });
  for (const Gpu* card : cards) {
    for (const auto member : kOfTheChip) {
      if (card->sustained.*member) gpu.sustained.*member = card->sustained.*member;
    }
    carry_over(*card, gpu);
  }
}

// Takes the energy of a FLOP from a card of the same architecture: of the same die if there is one;
// among several, the one whose power limit is nearest.
void take_energy(std::optional<double> Sustained::*energy, Gpu& gpu) {
  const auto apart = [&gpu](const Gpu& card) {
    return std::pair{!same_die(card, gpu),
                     std::abs(std::log(card.power_w.value_or(1) / gpu.power_w.value_or(1)))};
  };
  const Gpu* nearest_card = nullptr;
  for (const Gpu& card : calibrated_gpus().published) {
    if (!(card.sustained.*energy) || !same(card.architecture, gpu.architecture)) continue;
    if (nearest_card == nullptr || apart(card) < apart(*nearest_card)) nearest_card = &card;
  }
  if (nearest_card != nullptr) {
    gpu.sustained.*energy = nearest_card->sustained.*energy;
  }
}

const Gpu& named(std::string_view name) {
  std::string known;
  for (const Gpu& one : measured_gpus()) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  throw InputError("\"" + std::string(name) + "\" was not measured by this project. Mend: name " +
                   known + ".");
}

}  // namespace

std::span<const Gpu> measured_gpus() {
  return calibrated_gpus().measured;
}

const Gpu* nearest(const Gpu& gpu, std::span<const Gpu> measured) {
  const auto found = std::min_element(
      measured.begin(), measured.end(),
      [&gpu](const Gpu& a, const Gpu& b) { return distance(gpu, a) < distance(gpu, b); });
  return found == measured.end() ? nullptr : &*found;
}

bool same_die(const Gpu& a, const Gpu& b) {
  return same(a.die, b.die);
}

void take_values(const Gpu& relative, Gpu& gpu) {
  gpu.sustained = relative.sustained;
  gpu.sustained.source.clear();
  gpu.sustained.relative = relative.name;
  carry_over(relative, gpu);
  // The rate of scattered reads holds for reads of the relative's size.
  auto& access = gpu.memory.dram_access_bytes;
  if (!access) access = relative.memory.dram_access_bytes;
  for (const DType type : kAllDTypes) {
    if (!gpu.sm.vector_flop_per_clk[type]) gpu.sustained.vector_flop_per_clk[type].reset();
  }
}

void take_from_relative(Gpu& gpu, std::string_view relative) {
  if (!gpu.occupancy) return;
  const Gpu* found = relative.empty() ? nearest(gpu, measured_gpus()) : &named(relative);
  if (found == nullptr) return;
  take_values(*found, gpu);
  if (found->name == gpu.name) return;
  if (relative.empty()) {
    take_published(gpu);
    take_energy(&Sustained::vector_flop_energy_j, gpu);
    take_energy(&Sustained::tensor_flop_energy_j, gpu);
  }
  static const Widening widening = shipped_widening();
  const double wider = same_die(gpu, *found) ? widening.same_die : widening.other_die;
  for (auto* spread : {&gpu.sustained.spread_launch_bound, &gpu.sustained.spread_memory,
                       &gpu.sustained.spread_compute}) {
    if (*spread) **spread *= wider;
  }
}

Widening shipped_widening() {
  const auto file = nlohmann::json::parse(relatives_text());
  const auto& found = file.at("interval_widening");
  return {found.at("same_die").at("value").get<double>(),
          found.at("other_die").at("value").get<double>()};
}

}  // namespace roofcast::specs
