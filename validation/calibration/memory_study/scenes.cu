// How much of a first kernel's data L2 still holds for a second one, and the cost of dirty lines.
#include "validation/calibration/memory_study/study.hpp"

namespace roofcast::microbench {
namespace {

constexpr double kMB = 1e6;

std::vector<double> megabytes(double first, double last, double step) {
  std::vector<double> out;
  for (double x = first; x <= last + 1e-9; x += step) out.push_back(x * kMB);
  return out;
}

std::size_t size(double bytes) {
  return static_cast<std::size_t>(bytes);
}

struct Passes {
  const char* series;
  Roles first;
  Roles second;
  Access first_access = Access::read;
  Access second_access = Access::read;
  Order order = Order::forward;
};

Scene twice(Lab& lab, const Passes& passes, std::vector<double> xs) {
  return {"l2_capacity",
          passes.series,
          "footprint_bytes",
          std::move(xs),
          [&lab, passes](double x) {
            clean_cache(lab);
            enqueue_walk(lab, passes.first, passes.first_access, 0, size(x));
          },
          [&lab, passes](double x) {
            enqueue_walk(lab, passes.second, passes.second_access, 0, size(x), passes.order);
          }};
}

// A chain of two copies: the second copies the first one's output.
Scene chain(Lab& lab, const char* series, const Roles& second) {
  return {"l2_capacity",
          series,
          "array_bytes",
          megabytes(2, 60, 2),
          [&lab](double x) {
            clean_cache(lab);
            enqueue_walk(lab, everyone(lab), Access::copy, 0, size(x));
          },
          [&lab, second](double x) {
            const std::size_t copied = size(x) / 16384 * 16384;
            enqueue_walk(lab, second, Access::copy, copied, size(x));
          }};
}

Scene write_after(Lab& lab, const char* series, Access access, std::function<void(double)> before) {
  return {"first_touch",
          series,
          "walked_bytes",
          {16384, 2e6, 4e6, 8e6, 12e6, 16e6, 20e6, 24e6, 28e6, 32e6, 36e6, 40e6, 48e6, 60e6, 80e6,
           120e6},
          std::move(before),
          [&lab, access](double x) { enqueue_walk(lab, everyone(lab), access, 0, size(x)); }};
}

}  // namespace

std::vector<Scene> capacity_scenes(Lab& lab, const Halves& halves) {
  const Roles all = everyone(lab), other = swapped(halves), both = both_halves(halves);
  const Roles near = one_half(halves, 0), far = one_half(halves, 1), panels = all_read_all(lab);
  constexpr auto kRead = Access::read, kWrite = Access::write;
  const std::vector<double> xs = megabytes(4, 76, 2);
  std::vector<Scene> out;
  for (const Passes& one : {
           Passes{"read, then read by the same SMs", all, all},
           Passes{"read, then read by SMs of the other half", all, other},
           Passes{"written, then read by the same SMs", all, all, kWrite},
           Passes{"written, then read by SMs of the other half", all, other, kWrite},
           Passes{"read, then written by the same SMs", all, all, kRead, kWrite},
           Passes{"written, then written by the same SMs", all, all, kWrite, kWrite},
           Passes{"read by one half, then by the same half", near, near},
           Passes{"read by one half, then by the other", near, far},
           Passes{"read by both halves, then by both", both, both},
           Passes{"read by both halves, then by one", both, near},
           Passes{"read by both halves, then each its part", both, all},
           Passes{"panels: read by every SM, then by every SM", panels, panels},
           Passes{"read, then read backward by the same SMs", all, all, kRead, kRead,
                  Order::backward},
           Passes{"read by both halves, then backward by both", both, both, kRead, kRead,
                  Order::backward},
           Passes{"written, then read backward by the same SMs", all, all, kWrite, kRead,
                  Order::backward},
       }) {
    out.push_back(twice(lab, one, xs));
  }
  out.push_back(chain(lab, "copied, then copied on by the same SMs", all));
  out.push_back(chain(lab, "copied, then copied on by SMs of the other half", other));
  return out;
}

std::vector<Scene> write_scenes(Lab& lab) {
  const auto clean = [&lab](double) { clean_cache(lab); };
  const auto dirty = [&lab](double) { dirty_cache(lab); };
  const auto same = [&lab](Access access) {
    return [&lab, access](double x) {
      clean_cache(lab);
      enqueue_walk(lab, everyone(lab), access, 0, size(x));
    };
  };
  std::vector<Scene> out;
  out.push_back(write_after(lab, "writes, L2 clean", Access::write, clean));
  out.push_back(write_after(lab, "writes, L2 full of other dirty lines", Access::write, dirty));
  out.push_back(write_after(lab, "writes of lines just read", Access::write, same(Access::read)));
  out.push_back(
      write_after(lab, "writes of lines just written", Access::write, same(Access::write)));
  out.push_back(write_after(lab, "reads, L2 clean", Access::read, clean));
  out.push_back(write_after(lab, "reads, L2 full of other dirty lines", Access::read, dirty));
  out.push_back(write_after(lab, "reads of lines just read", Access::read, same(Access::read)));
  out.push_back(write_after(lab, "copies, L2 clean", Access::copy, clean));
  out.push_back(write_after(lab, "copies, L2 full of other dirty lines", Access::copy, dirty));
  out.push_back(write_after(lab, "copies again", Access::copy, same(Access::copy)));
  out.push_back(write_after(lab, "copies, source just read", Access::copy, same(Access::read)));
  // Reads that evict the dirty lines of an earlier kernel.
  for (const double written : {10e6, 20e6, 40e6}) {
    out.push_back(
        {"left_dirty",
         "reads elsewhere after writes of " + std::to_string(static_cast<int>(written / kMB)) +
             " MB",
         "walked_bytes",
         {16384, 5e6, 10e6, 15e6, 20e6, 25e6, 30e6, 40e6, 50e6, 60e6, 80e6, 120e6},
         [&lab, written](double) {
           clean_cache(lab);
           enqueue_walk(lab, everyone(lab), Access::write, std::size_t{1} << 28, size(written));
         },
         [&lab](double x) { enqueue_walk(lab, everyone(lab), Access::read, 0, size(x)); }});
  }
  return out;
}

Curves timed(Lab& lab, const std::vector<Scene>& scenes) {
  constexpr int kSamples = 5;
  Curves out;
  for (const Scene& scene : scenes) {
    validation::Curve curve{scene.study, scene.series + ": time", scene.x_name, "s", {}};
    for (const double x : scene.xs) {
      const double seconds = lab.seconds_after(
          [&] {
            scene.before(x);
            lab.spin(20e-6);  // covers enqueuing the events and the launch
          },
          [&] { scene.launch(x); }, kSamples);
      curve.points.push_back({x, seconds});
    }
    out.push_back(std::move(curve));
  }
  return out;
}

Curves counted(Lab& lab, harness::RangeCounter& counter, const std::vector<Scene>& scenes) {
  Curves out;
  for (const Scene& scene : scenes) {
    Curves curves;
    for (const std::string& metric : counter.metrics()) {
      curves.push_back({scene.study, scene.series + ": " + metric, scene.x_name, "1", {}});
    }
    for (const double x : scene.xs) {
      const std::vector<double> values = counter.count(
          [&] {
            scene.before(x);
            lab.wait();
          },
          [&] {
            scene.launch(x);
            lab.wait();
          });
      for (std::size_t i = 0; i < values.size(); ++i) curves[i].points.push_back({x, values[i]});
    }
    for (validation::Curve& curve : curves) out.push_back(std::move(curve));
  }
  return out;
}

}  // namespace roofcast::microbench
