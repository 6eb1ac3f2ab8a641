#pragma once
// The names that --gpu and --relative take, and what to say of others.
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

std::vector<std::string_view> device_names();

/// The GPUs that this project measured: they alone can lend what they keep up to another.
std::vector<std::string_view> measured_device_names();

/// What an unknown name may have meant: the devices whose names begin with it, else those of its
/// family (what stands before the first '-'), else the nearest by edit distance. In any case of
/// letters.
std::vector<std::string_view> devices_like(std::string_view typed);

/// "no GPU is named 'h100'. Did you mean 'h100-pcie' or 'h100-sxm5'?"
std::string no_such_device(std::string_view typed);

}  // namespace roofcast::cli
