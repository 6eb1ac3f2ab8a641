#pragma once
#include "model/types/prediction.hpp"

namespace roofcast::cli {

/// Whether two predictions of one question agree in limit, time, interval and every term.
bool same_forecast(const Prediction& a, const Prediction& b);

}  // namespace roofcast::cli
