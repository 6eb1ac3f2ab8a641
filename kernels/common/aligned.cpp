#include "kernels/common/aligned.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/common/error.hpp"

namespace roofcast::cuda {
namespace {

bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kAccessBytes == 0;
}

/// Device memory, allocated and freed in stream order.
class Memory {
 public:
  Memory(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
    check(cudaMallocAsync(&data_, bytes, stream));
  }
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
  }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

}  // namespace

void run_aligned(const Problem& p, const Addresses& at, cudaStream_t stream,
                 Tensors (*tensors)(const Problem&),
                 void (*run)(const Problem&, const Addresses&, cudaStream_t)) {
  const auto all_aligned = [](auto addresses) {
    return std::all_of(addresses.begin(), addresses.end(),
                       [](const void* address) { return is_aligned(address); });
  };
  if (all_aligned(at.inputs) && all_aligned(at.outputs) && all_aligned(at.scratch)) {
    return run(p, at, stream);
  }
  const Tensors all = tensors(p);
  std::vector<Memory> taken;
  const auto take = [&](const Tensor& tensor) {
    return taken.emplace_back(bytes_of(tensor), stream).data();
  };
  std::vector<const void*> inputs(at.inputs.begin(), at.inputs.end());
  std::vector<void*> outputs(at.outputs.begin(), at.outputs.end()),
      scratch(at.scratch.begin(), at.scratch.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_aligned(inputs[i])) continue;
    void* const copy = take(all.inputs[i]);
    check(cudaMemcpyAsync(copy, inputs[i], bytes_of(all.inputs[i]), cudaMemcpyDeviceToDevice,
                          stream));
    inputs[i] = copy;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_aligned(outputs[i])) outputs[i] = take(all.outputs[i]);
  }
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    if (!is_aligned(scratch[i])) scratch[i] = take(all.scratch[i]);
  }
  run(p, {inputs, outputs, scratch}, stream);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == at.outputs[i]) continue;
    check(cudaMemcpyAsync(at.outputs[i], outputs[i], bytes_of(all.outputs[i]),
                          cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace roofcast::cuda
