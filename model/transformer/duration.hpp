#pragma once

namespace roofcast::transformer {

/// A time with its interval.
struct Duration {
  double expected_s = 0;
  double low_s = 0;
  double high_s = 0;
  double energy_j = 0;  ///< Forecast::energy_j; 0 for transfers

  /// Adds `times` repetitions of a time with its interval.
  template <class Time>
  void add(double times, const Time& one) {
    expected_s += times * one.expected_s;
    low_s += times * one.low_s;
    high_s += times * one.high_s;
    energy_j += times * one.energy_j;
  }
  void scale(double share) {
    expected_s *= share;
    low_s *= share;
    high_s *= share;
    energy_j *= share;
  }
};

}  // namespace roofcast::transformer
