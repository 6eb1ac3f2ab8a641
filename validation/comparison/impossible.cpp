#include "validation/comparison/impossible.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/predict.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::validation {
namespace {

void add(TableCheck& check, std::size_t place, const Case& measured, const Gpu& gpu) {
  try {
    const Limit limit = predict(find_kernel(measured.kernel), measured.problem, gpu,
                                {measured.cache, {}, kQueueNeverEmpty})
                            .limit;
    if (!(limit.time_s > 0)) throw InputError("the work has no lower bound on this GPU");
    check.rows.push_back({place, gpu.name, measured.kernel,
                          problem_text(measured.kernel, measured.problem), measured.cache,
                          measured.timing.percentile_s(0), limit.time_s, binding(limit.terms)});
  } catch (const InputError& error) {
    check.unchecked.push_back({place, measured.kernel, error.what()});
  }
}

TableCheck sorted(TableCheck check) {
  for (std::size_t i = 0; i < check.rows.size(); ++i) {
    if (check.rows[i].impossible()) check.impossible.push_back(i);
  }
  std::stable_sort(check.impossible.begin(), check.impossible.end(),
                   [&](std::size_t a, std::size_t b) {
                     return check.rows[a].times_too_fast() > check.rows[b].times_too_fast();
                   });
  return check;
}

}  // namespace

TableCheck check_table(const Table& table, const FindGpu& find_gpu) {
  TableCheck check;
  for (const TableRow& row : table.rows) {
    if (const Gpu* gpu = find_gpu(row.gpu)) {
      add(check, row.line, row.measured, *gpu);
    } else {
      check.unchecked.push_back({row.line, row.measured.kernel,
                                 fmt::format("there is no GPU \"{}\": use a name that `roofcast "
                                             "gpus` prints",
                                             row.gpu)});
    }
  }
  return sorted(std::move(check));
}

TableCheck check_run(const Run& run, const Gpu& gpu) {
  TableCheck check;
  std::size_t place = 0;
  for (const Case& measured : run.cases) add(check, ++place, measured, gpu);
  return sorted(std::move(check));
}

}  // namespace roofcast::validation
