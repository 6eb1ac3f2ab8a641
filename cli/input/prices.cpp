#include "cli/input/prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/input/device.hpp"
#include "cli/input/device_names.hpp"
#include "cli/output/files.hpp"
#include "hw_specs/loader.hpp"

namespace roofcast::cli {
namespace {

constexpr double kSecondsOfAnHour = 3600;

void read_price_file(const std::string& file, Prices& prices) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format(
        "{}: {}. Mend: give an object of prices an hour, as {{\"h100-sxm5\": 4.5}}", file, what));
  };
  const auto document = nlohmann::json::parse(read_file(file), nullptr, false);
  if (document.is_discarded()) refuse("it is no JSON");
  if (!document.is_object() || document.empty()) refuse("it holds no object with prices");
  for (const auto& [gpu, price] : document.items()) {
    if (!price.is_number()) refuse(fmt::format("the price of {} is no number", gpu));
    prices.add(file, gpu, price.get<double>());
  }
}

void read_price(const std::string& text, Prices& prices) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return read_price_file(text, prices);
  if (equals == 0 || equals + 1 == text.size()) {
    throw UsageError("--price takes GPU=NUMBER, as h100-sxm5=4.5, or a JSON file, not '{}'", text);
  }
  prices.add("--price", text.substr(0, equals), parse_real("--price", text.substr(equals + 1)));
}

Order order_named(std::string_view text) {
  constexpr std::array<std::string_view, 3> names = {"time", "cost", "energy"};
  constexpr std::array orders = {Order::time, Order::cost, Order::energy};
  return orders.at(place_of("--sort", text, names));
}

}  // namespace

void Prices::add(std::string_view where, const std::string& gpu, double per_hour) {
  if (!(per_hour > 0)) {
    throw UsageError("{}: the price of {} is {}: give a number above 0, for an hour", where, gpu,
                     per_hour);
  }
  const specs::Embedded* known = specs::find_embedded(gpu);
  per_hour_[known != nullptr ? std::string(known->name) : gpu] = per_hour;
}

std::optional<double> Prices::per_second(const std::string& gpu) const {
  const auto found = per_hour_.find(gpu);
  if (found == per_hour_.end()) return std::nullopt;
  return found->second / kSecondsOfAnHour;
}

void Prices::check_names(std::span<const std::string> asked) const {
  for (const auto& [gpu, price] : per_hour_) {
    const bool known = specs::find_embedded(gpu) != nullptr ||
                       std::find(asked.begin(), asked.end(), gpu) != asked.end();
    if (!known) throw UsageError("--price: {}", no_such_device(gpu));
  }
}

std::vector<Option> ranking_options() {
  return {{"sort", "time|cost|energy",
           "the fastest, cheapest or most frugal first (default: as --gpu names them)"},
          {"price", "GPU=NUMBER|FILE",
           "what an hour of one GPU costs, in any currency; or a JSON file {\"h100-sxm5\": 4.5} "
           "(repeatable). Sorts by cost",
           true}};
}

Ranking read_ranking(const Options& options) {
  Ranking ranking;
  std::vector<std::string> priced;
  for (const std::string& text : options.all("price")) {
    read_price(text, ranking.prices);
    // A price may replace that of a file.
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) priced.push_back(text.substr(0, equals));
  }
  (void)distinct_devices("--price", std::move(priced));
  if (const auto word = options.find("sort")) {
    ranking.order = order_named(*word);
  } else if (!ranking.prices.empty()) {
    ranking.order = Order::cost;
  }
  if (ranking.order == Order::cost && ranking.prices.empty()) {
    throw UsageError(
        "--sort cost needs what an hour costs: --price h100-sxm5=4.5 --price a100-sxm4-80gb=2, or "
        "--price FILE.json");
  }
  return ranking;
}

}  // namespace roofcast::cli
