#include "validation/counters/counters.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace roofcast::harness {
namespace {

using validation::Counters;

/// A metric that adds to a counter: counter += weight · metric.
struct Metric {
  std::string_view name;
  std::optional<double> Counters::*counter;
  double weight;
};

constexpr double kSectorBytes = 32;

// Traffic between L2 and the SMs is counted at the SMs. A request coalescer between them merges
// simultaneous requests of SMs for the same sector, so that L2 sees fewer lookups: these have
// counters of their own. (Plain lts__t_bytes would also count the traffic between the halves of
// L2.) Cycles are those with a resident warp, on the SM that has most; elapsed cycles would include
// some 15 µs of opening and closing the range (measured on an H200 around an empty kernel). FLOPs
// are thread instructions not predicated off; a multiply-add counts two.
constexpr std::array kMetrics = {
    Metric{"dram__bytes_read.sum", &Counters::dram_read_bytes, 1},
    Metric{"dram__bytes_write.sum", &Counters::dram_write_bytes, 1},
    Metric{"l1tex__m_xbar2l1tex_read_bytes.sum", &Counters::l2_read_bytes, 1},
    Metric{"l1tex__m_l1tex2xbar_write_bytes.sum", &Counters::l2_write_bytes, 1},
    Metric{"lts__t_sectors_srcunit_tex_op_read.sum", &Counters::l2_lookup_read_bytes, kSectorBytes},
    Metric{"lts__t_sectors_srcunit_tex_op_write.sum", &Counters::l2_lookup_write_bytes,
           kSectorBytes},
    Metric{"sm__cycles_active.max", &Counters::sm_cycles, 1},
    Metric{"gpu__time_duration.sum", &Counters::time_s, 1e-9},
    Metric{"sm__warps_active.avg.per_cycle_active", &Counters::warps_active, 1},
    Metric{"smsp__inst_executed.sum", &Counters::instructions, 1},
    Metric{"l1tex__data_pipe_lsu_wavefronts.sum", &Counters::l1_wavefronts, 1},
    Metric{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", &Counters::shared_wavefronts, 1},
    Metric{"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
           &Counters::shared_load_wavefronts, 1},
    Metric{"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
           &Counters::shared_store_wavefronts, 1},
    Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", &Counters::shared_bank_conflicts,
           1},
    Metric{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &Counters::l1_load_sectors, 1},
    Metric{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &Counters::l1_store_sectors, 1},
    Metric{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", &Counters::flops, 1},
    Metric{"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", &Counters::flops, 1},
    Metric{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", &Counters::flops, 2},
    Metric{"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", &Counters::flops, 1},
    Metric{"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", &Counters::flops, 1},
    Metric{"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", &Counters::flops, 2},
    Metric{"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", &Counters::flops, 1},
    Metric{"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", &Counters::flops, 1},
    Metric{"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", &Counters::flops, 2},
};

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
  return names;
}

}  // namespace

CounterSession::CounterSession() : counter_(metric_names()) {}

Counters CounterSession::count(const std::function<void()>& prepare,
                               const std::function<void()>& launch) {
  const std::vector<double> values = counter_.count(prepare, launch);
  Counters out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto metric = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& one) {
      return one.name == counter_.metrics()[i];
    });
    out.*metric->counter = (out.*metric->counter).value_or(0) + metric->weight * values[i];
  }
  return out;
}

}  // namespace roofcast::harness
