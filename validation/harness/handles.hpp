#pragma once
// CUDA's streams, events and graphs as values that release themselves.
#include <cuda_runtime.h>

#include <cmath>
#include <memory>
#include <type_traits>

#include "kernels/common/error.hpp"

namespace roofcast::harness {

using cuda::check;

template <auto kDestroy>
struct Destroyer {
  template <class T>
  void operator()(T* handle) const {
    (void)kDestroy(handle);
  }
};

template <class Handle, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<kDestroy>>;

using Stream = Owned<cudaStream_t, &cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, &cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, &cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, &cudaGraphExecDestroy>;

struct DeviceFree {
  void operator()(void* memory) const { (void)cudaFree(memory); }
};
template <class T>
using DevicePointer = std::unique_ptr<T, DeviceFree>;

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

inline Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event));
  return Event(event);
}

template <class T>
DevicePointer<T> device_alloc(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return DevicePointer<T>(static_cast<T*>(memory));
}

/// Seconds between two events that have happened, in whole nanoseconds: the timer ticks every 32.
inline double seconds_between(const Event& from, const Event& to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from.get(), to.get()));
  return std::round(1e6 * static_cast<double>(milliseconds)) / 1e9;
}

}  // namespace roofcast::harness
