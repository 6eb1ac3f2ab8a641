#include "cli/output/same_forecast.hpp"

namespace roofcast::cli {

bool same_forecast(const Prediction& a, const Prediction& b) {
  if (a.limit.time_s != b.limit.time_s || a.limit.terms != b.limit.terms) return false;
  if (!a.time || !b.time) return !a.time && !b.time;
  return a.time->expected_s == b.time->expected_s && a.time->low_s == b.time->low_s &&
         a.time->high_s == b.time->high_s && a.time->terms == b.time->terms;
}

}  // namespace roofcast::cli
