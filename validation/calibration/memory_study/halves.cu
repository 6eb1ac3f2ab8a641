// Which SMs are near to the same half of L2: an atomic executes in the half that owns the line, so
// its latency by SM and line separates the halves. Reads of the same lines show whether a half
// keeps copies.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "validation/calibration/memory_study/study.hpp"
#include "validation/calibration/microbench/device.cuh"

namespace roofcast::microbench {
namespace {

constexpr unsigned kLines = 64;
constexpr unsigned kRepeats = 32;
constexpr std::size_t kLineWords = 32;
constexpr std::size_t kSpacing = 257 * kLineWords;  // words between lines: over many slices

// One thread per SM; SMs start at different lines.
__global__ void probe_lines(std::uint32_t* words, bool atomics, std::uint32_t* cycles,
                            unsigned sms) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  for (unsigned i = 0; i < kLines; ++i) {
    const unsigned line = (i + 17 * sm) % kLines;
    std::uint32_t* p = words + line * kSpacing;
    std::uint32_t value = 0;
    std::uint64_t start = 0;
    for (unsigned r = 0; r < kRepeats + 2; ++r) {
      if (r == 2) start = cycle_count();
      if (atomics) {
        value = atomicAdd(p + (value & 1), 0u);
      } else {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(p + (value & 1)) : "memory");
      }
    }
    const std::uint64_t stop = cycle_count();
    if (sm < sms)
      cycles[sm * kLines + line] = static_cast<std::uint32_t>(stop - start) + (value & 2);
  }
}

using Matrix = std::vector<std::vector<double>>;  // cycles per access, by SM and line

Matrix latencies(Lab& lab, bool atomics) {
  const auto cycles = harness::device_alloc<std::uint32_t>(lab.sms() * kLines);
  check(cudaMemsetAsync(lab.buffer<std::byte>(), 0, kLines * kSpacing * 4, lab.stream()));
  constexpr std::size_t kOneBlockAnSm = 120 * 1024;
  check(cudaFuncSetAttribute(probe_lines, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kOneBlockAnSm)));
  probe_lines<<<lab.sms(), 1, kOneBlockAnSm, lab.stream()>>>(lab.buffer<std::uint32_t>(), atomics,
                                                             cycles.get(), lab.sms());
  check(cudaGetLastError());
  const auto flat = lab.read(cycles.get(), lab.sms() * kLines);
  Matrix out(lab.sms(), std::vector<double>(kLines));
  for (std::size_t i = 0; i < flat.size(); ++i) {
    out[i / kLines][i % kLines] = static_cast<double>(flat[i]) / kRepeats;
  }
  return out;
}

Matrix centred(Matrix m) {
  for (auto& row : m) {
    double mean = 0;
    for (const double v : row) mean += v / static_cast<double>(row.size());
    for (double& v : row) v -= mean;
  }
  for (std::size_t line = 0; line < m[0].size(); ++line) {
    double mean = 0;
    for (const auto& row : m) mean += row[line] / static_cast<double>(m.size());
    for (auto& row : m) row[line] -= mean;
  }
  return m;
}

// Leading singular vectors of `m` by power iteration: a score per SM and per line.
void leading(const Matrix& m, std::vector<double>& sms, std::vector<double>& lines) {
  sms.assign(m.size(), 0);
  lines.assign(m[0].size(), 0);
  for (std::size_t line = 0; line < lines.size(); ++line) lines[line] = m[0][line] + 1e-3;
  for (int round = 0; round < 200; ++round) {
    double norm = 0;
    for (std::size_t sm = 0; sm < m.size(); ++sm) {
      sms[sm] = 0;
      for (std::size_t line = 0; line < lines.size(); ++line) sms[sm] += m[sm][line] * lines[line];
      norm += sms[sm] * sms[sm];
    }
    norm = std::sqrt(std::max(norm, 1e-30));
    for (double& v : sms) v /= norm;
    std::fill(lines.begin(), lines.end(), 0.0);
    for (std::size_t sm = 0; sm < m.size(); ++sm) {
      for (std::size_t line = 0; line < lines.size(); ++line) lines[line] += m[sm][line] * sms[sm];
    }
  }
}

validation::Curve by_index(const char* series, const char* x, const char* unit,
                           const std::vector<double>& values) {
  validation::Curve out{"l2_halves", series, x, unit, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.points.push_back({static_cast<double>(i), values[i]});
  }
  return out;
}

// Mean cycles of accesses to the SM's own half and to the other one.
Curves near_and_far(const std::string& what, const Matrix& m, const std::vector<double>& sms,
                    const std::vector<double>& lines) {
  double sum[2] = {0, 0}, count[2] = {0, 0};
  for (std::size_t sm = 0; sm < sms.size(); ++sm) {
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const bool far = (sms[sm] > 0) == (lines[line] > 0);  // both high: the slow pair
      sum[far] += m[sm][line];
      count[far] += 1;
    }
  }
  return {validation::single("l2_halves", what + ", near", "clk", sum[0] / std::max(1.0, count[0])),
          validation::single("l2_halves", what + ", far", "clk", sum[1] / std::max(1.0, count[1]))};
}

void print(const char* what, const Matrix& m) {
  std::printf("%s\n", what);
  for (const auto& row : m) {
    for (const double v : row) std::printf("%.0f ", v);
    std::printf("\n");
  }
}

}  // namespace

Curves halves_of_l2(Lab& lab, Halves& found) {
  (void)latencies(lab, true);
  const Matrix atomics = latencies(lab, true);
  const Matrix reads = latencies(lab, false);
  std::vector<double> sms, lines;
  leading(centred(atomics), sms, lines);
  found.half_of_sm.clear();
  for (const double v : sms) found.half_of_sm.push_back(v > 0 ? 1 : 0);
  Curves out{by_index("score of the SM", "sm", "1", sms),
             by_index("score of the line", "line", "clk", lines)};
  for (auto& curve : near_and_far("atomic", atomics, sms, lines)) out.push_back(std::move(curve));
  for (auto& curve : near_and_far("read", reads, sms, lines)) out.push_back(std::move(curve));
  print("atomics", atomics);
  print("reads", reads);
  lab.fill_buffer();
  return out;
}

}  // namespace roofcast::microbench
