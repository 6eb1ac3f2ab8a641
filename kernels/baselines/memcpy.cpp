// The driver's copy from device to device, the baseline of stream.copy.
#include "kernels/baselines/baselines.hpp"
#include "kernels/common/error.hpp"
#include "kernels/families.hpp"
#include "model/kernels/common/map.hpp"

namespace roofcast::cuda::library {

KernelEntry memcpy() {
  KernelEntry entry = stream::entries()[1];  // stream.copy; only how it runs differs
  entry.name = "stream.memcpy";
  entry.configurations = entry.configurations.first(1);
  entry.unsupported = [](const Problem& p) -> std::string {
    Problem copy = stream::entries()[1].configurations.front();  // accept the same types and sizes
    copy.dtype = p.dtype;
    copy[roofcast::map::kElements] = p[roofcast::map::kElements];
    return stream::entries()[1].unsupported(copy);
  };
  entry.launches = [](const Problem&) { return std::vector<Launch>{}; };
  entry.run = [](const Problem& p, const Addresses& at, cudaStream_t stream) {
    const auto bytes = static_cast<std::size_t>(size_bytes(p.dtype) *
                                                static_cast<double>(p[roofcast::map::kElements]));
    check(cudaMemcpyAsync(at.outputs[0], at.inputs[0], bytes, cudaMemcpyDeviceToDevice, stream));
  };
  return entry;
}

}  // namespace roofcast::cuda::library
