// The elements and bytes of a launch of layer.*, and its arithmetic.
#include <algorithm>
#include <cmath>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/common/rows.hpp"
#include "model/libraries/layer.hpp"

namespace roofcast::layer {

double Counted::parts() const {
  constexpr double kRowsOfPart = 10;
  return std::min(rows, std::min(rows, of) + std::floor(rows / kRowsOfPart));
}

double Counted::row_splits() const {
  constexpr double kMostBlocks = 32768, kRowsOfPart = 32;
  return std::min(std::floor(kMostBlocks / std::ceil(cols / as_double(rows::kWarp))),
                  std::ceil(rows / kRowsOfPart));
}

double Counted::elements() const {
  if (movement.table == Table::zeroed) return of * cols;
  if (movement.walk == Walk::table_sums) return parts() * cols;
  const double each =
      movement.reads.bytes_of_element(type) + movement.writes.bytes_of_element(type);
  return each > 0 ? rows * cols : rows;
}

Traffic Counted::of_elements() const {
  const double written = movement.walk == Walk::part_sums ? parts() * cols : elements();
  return {elements() * movement.reads.bytes_of_element(type),
          written * movement.writes.bytes_of_element(type)};
}

Traffic Counted::bytes() const {
  Traffic sum = rows * of_row();
  sum += of_elements();
  sum.read_bytes += movement.parameters * row_bytes();
  const Table table = movement.table;
  if (table == Table::looked_up || table == Table::added_to) sum.read_bytes += drawn_bytes();
  if (table == Table::written || table == Table::added_to) sum.write_bytes += drawn_bytes();
  if (table == Table::zeroed) sum.write_bytes += of * row_bytes();
  return sum;
}

Traffic Counted::asked() const {
  Traffic sum = bytes();
  sum.read_bytes += (rows - 1) * movement.parameters * row_bytes() +
                    (movement.sweeps - 1) * of_elements().read_bytes;
  if (movement.table == Table::looked_up) sum.read_bytes += rows * row_bytes() - drawn_bytes();
  return sum;
}

Work Counted::work() const {
  return vector_work(elements() * flops(), elements() * movement.special);
}

}  // namespace roofcast::layer
