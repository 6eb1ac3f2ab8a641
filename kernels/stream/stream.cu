// The four STREAM kernels (McCalpin 1995) measure the bandwidth that a kernel reaches when it does
// nothing else. The empty kernel measures the least time of a launch.
//
//            computes        bytes an element        FLOP an element
//   null     nothing         0                       0
//   copy     b = a           2·sizeof(T)             0
//   scale    b = s·a         2·sizeof(T)             1
//   add      c = a + b       3·sizeof(T)             1
//   triad    c = a + s·b     3·sizeof(T)             2
//
// kernels/common/map.cuh has the kernel around the operation, and the reasons for its shape.

#include <array>

#include "kernels/common/map.cuh"
#include "kernels/families.hpp"

namespace roofcast::cuda::stream {
namespace {

constexpr int kScalar = 3;  // exact in every type

struct Copy {
  static constexpr int kInputs = 1;
  static constexpr bool kRounds = false;
  template <class C>
  __device__ C operator()(C a) const {
    return a;
  }
};

struct Scale {
  static constexpr int kInputs = 1;
  static constexpr bool kRounds = true;
  template <class C>
  __device__ C operator()(C a) const {
    return C{kScalar} * a;
  }
};

struct Add {
  static constexpr int kInputs = 2;
  static constexpr bool kRounds = true;
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};

struct Triad {
  static constexpr int kInputs = 2;
  static constexpr bool kRounds = true;
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + C{kScalar} * b;
  }
};

/// A copy moves bits: 16-bit types share a kernel, and no conversion can change a NaN.
template <class Op, class T>
struct Stored {
  using Type = T;
};
template <class T>
requires(sizeof(T) == 2) struct Stored<Copy, T> {
  using Type = std::uint16_t;
};

template <class Op>
std::span<const map::Compiled> compiled(DType dtype) {
  return visit_element(dtype, []<class T>(std::type_identity<T>) {
    return map::all_compiled<Op, typename Stored<Op, T>::Type>();
  });
}

__global__ void null_kernel() {}

constexpr Problem configuration(std::int64_t threads, std::int64_t bytes, std::int64_t loads,
                                std::int64_t reserved_shared = 0) {
  return {.dtype = DType::fp32, .values = {0, threads, bytes, loads, reserved_shared}};
}

constexpr std::array kConfigurations = {
    configuration(256, 16, 1), configuration(256, 16, 4), configuration(128, 8, 2),
    configuration(512, 16, 8), configuration(1024, 8, 4), configuration(256, 16, 1, 100 * 1024)};

std::string unsupported_type(const Problem& p) {
  const bool known = p.dtype == DType::fp64 || p.dtype == DType::fp32 || p.dtype == DType::fp16 ||
                     p.dtype == DType::bf16;
  return known
             ? ""
             : "stream kernels run in fp64, fp32, fp16 and bf16, not " + std::string(name(p.dtype));
}

template <class Op>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported =
          [](const Problem& p) {
            const std::string why = unsupported_type(p);
            return why.empty() ? map::unsupported(compiled<Op>(p.dtype), p) : why;
          },
      .tensors =
          [](const Problem& p) {
            const Tensor array{p.dtype, static_cast<std::size_t>(p[map::kElements])};
            return Tensors{std::vector<Tensor>(Op::kInputs, array), {array}};
          },
      .launches =
          [](const Problem& p) {
            return std::vector{map::launch_of(*map::find(compiled<Op>(p.dtype), p), p)};
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            map::run(*map::find(compiled<Op>(p.dtype), p), p,
                     {at.inputs.front(), at.inputs.back(), at.inputs.back()}, at.outputs.front(),
                     stream);
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs,
             cudaStream_t stream) { map::reference<Op>(p, inputs, outputs.front(), stream); },
      // The arithmetic rounds the result once, as triad's product is fused into the addition or
      // exact; a narrower element type rounds it once more. The fp64 reference rounds too.
      .tolerance =
          [](const Problem& p, std::size_t) {
            const double own = p.dtype == DType::fp64 ? unit_roundoff(p.dtype) : kFp32Roundoff;
            return Op::kRounds ? 2 * own + (p.dtype == DType::fp64 ? 0.0 : narrowing(p.dtype))
                               : 0.0;
          },
  };
}

/// An empty kernel on the grid of stream.copy; n = 1 is one block.
KernelEntry null_entry() {
  KernelEntry null = entry<Copy>("stream.null");
  null.tensors = [](const Problem&) { return Tensors{}; };
  null.launches = [](const Problem& p) {
    Launch launch = map::launch_of(*map::find(compiled<Copy>(p.dtype), p), p);
    launch.function = reinterpret_cast<const void*>(&null_kernel);
    return std::vector{launch};
  };
  null.run = [](const Problem& p, const Addresses&, cudaStream_t stream) {
    const std::size_t reserved =
        map::allow_reserved_shared(reinterpret_cast<const void*>(&null_kernel), p);
    null_kernel<<<map::blocks(p), static_cast<unsigned>(p[map::kThreads]), reserved, stream>>>();
    check(cudaGetLastError());
  };
  null.reference = [](const Problem&, std::span<const void* const>, std::span<double* const>,
                      cudaStream_t) {};
  return null;
}

}  // namespace

Entries entries() {
  static const std::array table = {null_entry(), entry<Copy>("stream.copy"),
                                   entry<Scale>("stream.scale"), entry<Add>("stream.add"),
                                   entry<Triad>("stream.triad")};
  return table;
}

}  // namespace roofcast::cuda::stream
