#include "model/kernels/common/rows.hpp"

#include "model/counting/coalescing.hpp"

namespace roofcast::rows {
namespace {

// A row that starts that many bytes past a sector boundary.
double accessed_sectors(std::int64_t offset_bytes, std::int64_t cols, std::int64_t element_bytes,
                        const Layout& layout) {
  const std::int64_t width = kVectorBytes / element_bytes;
  const std::int64_t to_vector = (kVectorBytes - offset_bytes % kVectorBytes) % kVectorBytes;
  const std::int64_t head = std::min(cols, to_vector / element_bytes);
  const std::int64_t body = (cols - head) / width;
  const std::int64_t tail = cols - head - body * width;
  double sectors = (head > 0 ? 1 : 0) + (tail > 0 ? 1 : 0);
  if (body == 0) return sectors;
  const std::int64_t begin = offset_bytes + head * element_bytes;
  const auto of_slice = [&](std::int64_t index, std::int64_t slice, std::int64_t vectors) {
    const std::int64_t at = begin + index * slice * kVectorBytes;
    const std::int64_t rest = vectors % kWarp;
    return as_double(vectors / kWarp) * sectors_of_run(at, kWarp * kVectorBytes) +
           sectors_of_run(at, rest * kVectorBytes);
  };
  const std::int64_t slice = ceil_div(body, layout.cluster);
  const std::int64_t whole = body / slice;
  // Slices are whole vectors, so every second one begins as far past a sector boundary.
  constexpr std::int64_t kPeriod = kSectorBytes / kVectorBytes;
  for (std::int64_t index = 0; index < std::min(kPeriod, whole); ++index) {
    sectors += as_double(ceil_div(whole - index, kPeriod)) * of_slice(index, slice, slice);
  }
  return sectors + of_slice(whole, slice, body % slice);
}

}  // namespace

Sectors sectors_of(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes,
                   const Layout& layout) {
  const std::int64_t row_bytes = cols * element_bytes;
  const std::int64_t period = kSectorBytes / element_bytes;  // at most: offsets repeat
  Sectors sum;
  for (std::int64_t row = 0; row < std::min(period, rows); ++row) {
    const auto rows_like_it = static_cast<double>((rows - row + period - 1) / period);
    const std::int64_t offset = row * row_bytes % kSectorBytes;
    sum.accessed += rows_like_it * accessed_sectors(offset, cols, element_bytes, layout);
    sum.distinct += rows_like_it * sectors_of_run(offset, row_bytes);
  }
  return sum;
}

void check_chosen(std::initializer_list<std::int64_t> settings) {
  if (std::find(settings.begin(), settings.end(), kToChoose) == settings.end()) return;
  throw InputError("a setting is left to choose: give each of them, or ask for the forecast");
}

std::vector<std::int64_t> powers_of_two(std::int64_t given, std::int64_t least, std::int64_t most) {
  if (given != 0) return {given};
  std::vector<std::int64_t> values = {least};
  while (2 * values.back() <= most) values.push_back(2 * values.back());
  return values;
}

std::vector<std::int64_t> held_vectors(std::int64_t given, std::int64_t slice_vectors,
                                       std::int64_t most_vectors, std::int64_t most_threads) {
  const auto power_for = [&](std::int64_t threads) {
    return std::min(most_vectors, power_of_two_from(ceil_div(slice_vectors, threads)));
  };
  return powers_of_two(given, power_for(most_threads), power_for(kWarp));
}

std::vector<std::int64_t> clusters(std::int64_t given, std::int64_t smallest, const Gpu& gpu) {
  return powers_of_two(given, smallest,
                       std::min(kMaxCluster, gpu.features.cluster_blocks_max.value_or(1)));
}

std::vector<std::int64_t> rows_in_turn(std::int64_t given, std::int64_t most, std::int64_t rows) {
  return powers_of_two(given, 1, std::min(most, power_of_two_from(rows)));
}

double instructions_of_row(const Instructions& counted, double inside, double accesses,
                           double warps, double merges) {
  return inside * counted.vector + (accesses - inside) * counted.idle +
         warps * (counted.warp + merges * counted.merge);
}

double accesses_inside(std::int64_t cols, std::int64_t element_bytes, const Layout& layout) {
  const std::int64_t slice = ceil_div(vectors_of(cols, element_bytes), layout.cluster);
  return as_double(layout.rows_per_block * ceil_div(slice, kWarp));
}

Plan plan_of(const Layout& layout, std::int64_t rows, std::int64_t registers,
             std::int64_t shared_bytes) {
  Plan plan;
  plan.launch.grid[0] = layout.blocks(rows);
  plan.launch.block = {layout.threads, layout.rows_per_block, 1};
  plan.launch.cluster[0] = layout.cluster;
  plan.launch.registers = registers;
  plan.launch.shared_bytes = shared_bytes;
  plan.on_chip_bytes =
      static_cast<double>(layout.vectors * layout.threads * layout.rows_per_block * kVectorBytes);
  return plan;
}

}  // namespace roofcast::rows
