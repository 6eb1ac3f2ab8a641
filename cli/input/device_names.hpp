#pragma once
// The device names that --gpu and --relative take, and suggestions for unknown names.
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

std::vector<std::string_view> device_names();

/// The GPUs that this project measured: only their sustained values can stand in for another GPU's.
std::vector<std::string_view> measured_device_names();

/// Suggestions for an unknown name: the devices whose names begin with it, else those of its family
/// (the part before the first '-'), else the nearest by edit distance. Case does not matter.
std::vector<std::string_view> devices_like(std::string_view typed);

/// "no GPU is named 'h100'. Did you mean 'h100-pcie' or 'h100-sxm5'?"
std::string no_such_device(std::string_view typed);

}  // namespace roofcast::cli
