#include "model/kernels/softmax/plan_parts.hpp"

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/softmax/softmax.hpp"

namespace roofcast::softmax {

MatrixBytes matrix_bytes(const Problem& p, const rows::Layout& layout) {
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  return {as_double(p[rows::kRows]) * as_double(p[rows::kCols] * element_bytes(p)),
          sectors.accessed * kSectorBytes, sectors.distinct * kSectorBytes};
}

void set_arrays(Plan& plan, const Problem& p, const PerElement& each, const MatrixBytes& bytes) {
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  plan.useful.vector_flops = each.flops * elements;
  plan.useful.special_flops = each.special * elements;
  plan.useful.conversions = narrow(p) ? elements / 2 : 0;
  plan.arrays = {reads_activation(0, bytes.requested), writes(1, bytes.requested)};
  if (bytes.accessed > bytes.requested) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector: warps share the sector between them"});
  }
}

Step arithmetic(const Problem& p, const PerElement& each, double elements) {
  Step step;
  step.issued.vector_flops = elements * each.flops;
  step.issued.special_flops = elements * each.special;
  step.issued.conversions = narrow(p) ? elements / 2 : 0;
  return step;
}

void split_stores(Plan& plan, const MatrixBytes& bytes, double warps) {
  plan.arrays.back().split = {bytes.accessed / kSectorBytes, kStoreParts,
                              warps * as_double(rows::kWarp * rows::kVectorBytes)};
}

}  // namespace roofcast::softmax
