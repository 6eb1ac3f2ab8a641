#pragma once
#include <functional>
#include <span>

namespace roofcast {

/// One level of memory: the time that its bytes take alone, and the share of an SM's waits that go
/// there.
struct LoadedLevel {
  double busy_s = 0;
  double share = 0;
};

/// Time of SMs whose loads queue, at least `least_s`. Where a share u of a level's bandwidth is taken, a
/// load waits u ÷ (1 - u) service times for those before it, as in any queue; and u is what the SMs'
/// own time makes it:
///   T = sms_s(q),  q = Σ share · u ÷ (1 - u),  u = busy ÷ T
/// `sms_s`: the SMs' time where each load waits so many service times more; it grows with them. Little's
/// law at both ends: with few loads under way T is sms_s(0), with many the time that memory is busy.
double loaded_time_s(const std::function<double(double)>& sms_s,
                     std::span<const LoadedLevel> levels, double least_s);

}  // namespace roofcast
