// memory_study GPU OUT.json: runs all studies of L2 and DRAM on the present device and writes their
// curves. GPU is the specification's name. Takes under two minutes.
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "validation/calibration/measurements.hpp"
#include "validation/calibration/memory_study/study.hpp"
#include "validation/counters/cupti.hpp"
#include "validation/harness/device_record.hpp"

namespace roofcast::microbench {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

// Collects the curves. A study that fails does not stop the others; the file is written after each.
class Record {
 public:
  Record(const std::string& gpu, std::string path) : path_(std::move(path)) {
    all_.date = now();
    all_.build = "memory_study";
    all_.device = harness::device_record(gpu);
  }

  template <class Study>
  void add(const char* name, const Study& study) {
    const std::clock_t start = std::clock();
    try {
      for (validation::Curve& curve : study()) all_.curves.push_back(std::move(curve));
    } catch (const std::exception& error) {
      ++failed_;
      std::fprintf(stderr, "%s: %s\n", name, error.what());
    }
    std::ofstream(path_) << validation::to_json(all_);
    std::printf("%s: %.1f s\n", name, double(std::clock() - start) / CLOCKS_PER_SEC);
    std::fflush(stdout);
  }
  int failed() const { return failed_; }

 private:
  std::string path_;
  validation::Measurements all_;
  int failed_ = 0;
};

const std::vector<std::string> kDramBytes = {"dram__bytes_read.sum", "dram__bytes_write.sum"};
const std::vector<std::string> kLookups = {
    "lts__t_sectors_srcunit_tex_lookup_hit.sum", "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum",
    "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum", "lts__t_sectors_srcunit_ltcfabric.sum"};

Curves count_all(Lab& lab, const std::vector<std::string>& metrics,
                 const std::vector<Scene>& scenes) {
  harness::RangeCounter counter(metrics);
  for (const std::string& metric : counter.missing()) std::printf("no %s\n", metric.c_str());
  return counted(lab, counter, scenes);
}

// Keeps every fourth point: counting lookups takes more passes.
std::vector<Scene> sparser(std::vector<Scene> scenes) {
  for (Scene& scene : scenes) {
    std::vector<double> xs;
    for (std::size_t i = 0; i < scene.xs.size(); i += 4) xs.push_back(scene.xs[i]);
    scene.xs = std::move(xs);
  }
  return scenes;
}

int run(const std::string& gpu, const std::string& path) {
  Record record(gpu, path);
  Lab lab;
  Halves halves;
  record.add("clock", [&] {
    constexpr Access kRead = Access::read;
    const TimedLaunch read =
        lab.timed([&] { enqueue_walk(lab, everyone(lab), kRead, 0, std::size_t{1} << 31); });
    return Curves{validation::single("clock", "streaming from DRAM", "Hz", read.clock_hz)};
  });
  record.add("halves", [&] { return halves_of_l2(lab, halves); });
  record.add("l2_mix", [&] { return l2_bandwidth(lab); });
  record.add("dram_mix", [&] { return dram_mix(lab); });
  record.add("sparse", [&] { return sparse_access(lab); });
  const std::vector<Scene> capacity = capacity_scenes(lab, halves), writes = write_scenes(lab);
  record.add("capacity, time", [&] { return timed(lab, capacity); });
  record.add("first touch, time", [&] { return timed(lab, writes); });
  record.add("first touch, DRAM", [&] { return count_all(lab, kDramBytes, writes); });
  record.add("capacity, DRAM", [&] { return count_all(lab, kDramBytes, capacity); });
  record.add("capacity, lookups", [&] { return count_all(lab, kLookups, sparser(capacity)); });
  return record.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace roofcast::microbench

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr,
                 "memory_study GPU OUT.json, for example: memory_study h200-sxm out.json\n");
    return 2;
  }
  try {
    return roofcast::microbench::run(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
