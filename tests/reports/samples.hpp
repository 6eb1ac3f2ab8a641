#pragma once
// A made-up device and comparison, of the size and shape of real ones.
#include <string>
#include <vector>

#include "reports/chart.hpp"

namespace roofcast::reports {

/// The order of magnitude of an H200; the numbers are the test's own.
Gpu sample_gpu();
/// Four architectures, one of them with two devices.
std::vector<Gpu> sample_generations();
/// A lesson in GEMM: six variants, all measured.
std::vector<RooflinePoint> sample_points();
/// Eighty cases of five families; a violation and two failures among them.
validation::Comparison sample_comparison();
validation::Run sample_run();

/// Text that would end a script element, open a tag or run, if it were not escaped.
inline const std::string kHostile =
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<!--<script>' & <!--page:title-->";

}  // namespace roofcast::reports
