#pragma once
// What the examples share: inputs, timing, and the line that each prints.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

// Device memory with the same values as a vector.
template <class T>
struct Device {
  T* data = nullptr;
  std::size_t count;
  explicit Device(std::size_t n) : count(n) { require(cudaMalloc(&data, n * sizeof(T))); }
  explicit Device(const std::vector<T>& host) : Device(host.size()) {
    require(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> values(count);
    require(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

// Numbers between -1 and 1, the same in every run.
inline std::vector<float> numbers(std::size_t n, unsigned seed) {
  std::vector<float> values(n);
  unsigned state = seed * 2654435761U + 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return values;
}

// The largest difference, relative to the largest value of the reference.
template <class T, class R>
double error_of(const std::vector<T>& found, const std::vector<R>& wanted) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(double(found[i]) - double(wanted[i]));
    most = difference <= most ? most : difference;  // a NaN stays
    largest = std::max(largest, std::abs(double(wanted[i])));
  }
  return most / largest;
}

// Median of 50 launches; each finds L2 filled with other data.
template <class Launch>
double median_us(const Launch& launch) {
  const std::size_t flushed = std::size_t{256} << 20;
  Device<char> other(flushed);
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  std::vector<double> times;
  for (int i = 0; i < 53; ++i) {
    require(cudaMemsetAsync(other.data, i, flushed));
    require(cudaEventRecord(begin));
    launch();
    require(cudaEventRecord(end));
    require(cudaEventSynchronize(end));
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) times.push_back(1e3 * ms);
  }
  require(cudaGetLastError());
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// {"kernel":…,"time_us":…,"error":…}; the exit status says whether the error is small enough.
inline int report(const char* kernel, double time_us, double error, double tolerance) {
  const bool good = error <= tolerance;
  std::printf("{\"kernel\":\"%s\",\"time_us\":%.3f,\"error\":%.3g,\"correct\":%s}\n", kernel,
              time_us, error, good ? "true" : "false");
  return good ? 0 : 1;
}
