#include "cli/output/same_forecast.hpp"

#include <algorithm>

namespace roofcast::cli {
namespace {

bool same_terms(const Terms& a, const Terms& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Term& x, const Term& y) {
    return x.resource == y.resource && x.time_s == y.time_s;
  });
}

}  // namespace

bool same_forecast(const Prediction& a, const Prediction& b) {
  if (a.limit.time_s != b.limit.time_s || !same_terms(a.limit.terms, b.limit.terms)) return false;
  if (!a.time || !b.time) return !a.time && !b.time;
  return a.time->expected_s == b.time->expected_s && a.time->low_s == b.time->low_s &&
         a.time->high_s == b.time->high_s && same_terms(a.time->terms, b.time->terms);
}

}  // namespace roofcast::cli
