#include "cli/input/sweep_axis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/input/kernel_options.hpp"
#include "cli/input/options.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

[[noreturn]] void throw_too_many() {
  throw InputError(fmt::format("a sweep of over {} points: take larger steps", kMostPoints));
}

void append(std::vector<std::int64_t>& values, std::int64_t value) {
  if (values.size() == kMostPoints) throw_too_many();
  values.push_back(value);
}

/// Appends the values of lo:hi:step or lo:hi:*factor.
void append_range(std::vector<std::int64_t>& values, const std::string& option,
                  std::string_view text) {
  const std::vector<std::string> parts = split_list(text, ':');
  if (parts.size() != 3 || parts[2].empty()) {
    throw UsageError(
        "{} takes numbers, ranges lo:hi:step or lo:hi:*factor, =PARAMETER or =NUMBER/PARAMETER, "
        "not '{}'",
        option, text);
  }
  const std::int64_t low = parse_whole(option, parts[0]);
  const std::int64_t high = parse_whole(option, parts[1]);
  const bool geometric = parts[2][0] == '*';
  const std::int64_t step = parse_whole(option, parts[2].substr(geometric ? 1 : 0));
  if (low > high) throw InputError(fmt::format("{} {}: the range is empty", option, text));
  if (step < (geometric ? 2 : 1) || (geometric && low < 1)) {
    throw InputError(
        fmt::format("{} {}: a step is at least 1, a factor at least 2 from 1 up", option, text));
  }
  std::int64_t value = low;
  while (true) {
    append(values, value);
    // Unsigned: the distance may exceed the largest signed number.
    const std::uint64_t left = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(value);
    if (geometric ? value > high / step : static_cast<std::uint64_t>(step) > left) return;
    value = geometric ? value * step : value + step;
  }
}

}  // namespace

Axis parse_axis(std::string_view name, std::string_view text) {
  Axis axis{std::string(name), {}, {}, false};
  const std::string option = fmt::format("--{}", axis.name);
  if (text.starts_with('=')) {
    axis.tied_to = text.substr(1);
    if (const std::size_t slash = axis.tied_to.find('/'); slash != std::string::npos) {
      axis.divided = parse_whole(option, std::string_view(axis.tied_to).substr(0, slash));
      if (axis.divided < 1) {
        throw InputError(fmt::format("{} {}: what is divided is at least 1", option, text));
      }
      axis.tied_to.erase(0, slash + 1);
    }
    if (axis.tied_to.empty()) {
      throw UsageError("{} {} names no parameter: write for example =m or =4096/m", option, text);
    }
    return axis;
  }
  for (const std::string& part : split_list(text, ',')) {
    if (part.find(':') != std::string::npos) {
      append_range(axis.values, option, part);
    } else {
      append(axis.values, parse_whole(option, part));
    }
  }
  return axis;
}

Axis parse_axis(const Parameter& parameter, std::string_view text) {
  if (!is_named(parameter)) return parse_axis(parameter.name, text);
  Axis axis{std::string(parameter.name), {}, {}, true};
  const std::string option = fmt::format("--{}", axis.name);
  for (const std::string& part : distinct(option, split_list(text, ','))) {
    Problem problem;
    read_value(parameter, part, problem, 0);
    append(axis.values, problem[0]);
  }
  return axis;
}

std::vector<std::size_t> resolve_ties(std::span<const Axis> axes) {
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t root = i;
    for (std::size_t hops = 0; !axes[root].tied_to.empty(); ++hops) {
      const auto target = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) {
        return axis.name == axes[root].tied_to;
      });
      if (target == axes.end()) {
        throw UsageError("--{} ={}: there is no --{} to take the value of", axes[root].name,
                         axes[root].tied_to, axes[root].tied_to);
      }
      if (hops == axes.size()) {
        throw UsageError("--{} is tied in a circle: give one of them values", axes[i].name);
      }
      if (target->named) {
        throw UsageError("--{} ={}: the values of --{} are names, not numbers", axes[root].name,
                         axes[root].tied_to, axes[root].tied_to);
      }
      root = static_cast<std::size_t>(target - axes.begin());
    }
    roots.push_back(root);
  }
  return roots;
}

Points::Points(std::span<const Axis> axes, std::size_t repeats) : axes_(axes) {
  resolve_ties(axes);  // throws where a tie leads nowhere
  for (const Axis& axis : axes_) {
    if (!axis.tied_to.empty()) continue;
    if (count_ > kMostPoints / axis.values.size()) throw_too_many();
    count_ *= axis.values.size();
  }
  if (repeats > 0 && count_ > kMostPoints / repeats) throw_too_many();
}

std::int64_t Points::tied_value(std::size_t axis, std::span<const std::int64_t> values) const {
  if (axes_[axis].tied_to.empty()) return values[axis];
  const auto target = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& other) {
    return other.name == axes_[axis].tied_to;
  });
  const std::int64_t value = tied_value(static_cast<std::size_t>(target - axes_.begin()), values);
  if (axes_[axis].divided == 0) return value;
  return std::max<std::int64_t>(axes_[axis].divided / std::max<std::int64_t>(value, 1), 1);
}

void Points::at(std::size_t index, std::span<std::int64_t> values) const {
  for (std::size_t i = axes_.size(); i-- > 0;) {
    if (!axes_[i].tied_to.empty()) continue;
    const auto& own = axes_[i].values;
    values[i] = own[index % own.size()];
    index /= own.size();
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!axes_[i].tied_to.empty()) values[i] = tied_value(i, values);
  }
}

}  // namespace roofcast::cli
