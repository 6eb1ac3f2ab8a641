// y = x for a matrix, by blocks of 32 lanes by 8 warps. In fp32:
//
//   row_wise      Lanes run along the row. A warp loads 32 floats in 4 sectors of 32 B, and stores
//                 as many.
//   column_wise   Lanes lie one row apart. A warp's load touches 32 sectors. The eight warps of a
//                 block read neighbouring columns, which share each sector, so seven of them hit
//                 L1. Stores write through L1: a warp sends 32 sectors to L2, 4 B of each written.
//
// DRAM moves the same bytes for both, because L2 merges the parts of a sector before writing it.
#include "kernels/access/common.cuh"

namespace roofcast::cuda::access {
namespace {

namespace matrix = roofcast::access::matrix;

template <class T>
__global__ void __launch_bounds__(kThreads)
    row_wise_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows,
                    std::int64_t columns) {
  const std::int64_t column = std::int64_t{blockIdx.x} * matrix::kLanes + threadIdx.x;
  const std::int64_t row = std::int64_t{blockIdx.y} * matrix::kDepth + threadIdx.y;
  if (row < rows && column < columns) y[row * columns + column] = x[row * columns + column];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    column_wise_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows,
                       std::int64_t columns) {
  const std::int64_t row = std::int64_t{blockIdx.y} * matrix::kLanes + threadIdx.x;
  const std::int64_t column = std::int64_t{blockIdx.x} * matrix::kDepth + threadIdx.y;
  if (row < rows && column < columns) y[row * columns + column] = x[row * columns + column];
}

struct Walk {
  bool along_rows;
  const void* function(const Problem& p) const {
    return visit_bits(p.dtype, [this]<class T>(std::type_identity<T>) {
      return along_rows ? reinterpret_cast<const void*>(&row_wise_kernel<T>)
                        : reinterpret_cast<const void*>(&column_wise_kernel<T>);
    });
  }
  dim3 grid(const Problem& p) const {
    const std::int64_t wide = along_rows ? matrix::kLanes : matrix::kDepth;
    const std::int64_t high = along_rows ? matrix::kDepth : matrix::kLanes;
    return {static_cast<unsigned>((p[matrix::kColumns] + wide - 1) / wide),
            static_cast<unsigned>((p[matrix::kRows] + high - 1) / high)};
  }
};
constexpr dim3 kMatrixBlock(static_cast<unsigned>(matrix::kLanes),
                            static_cast<unsigned>(matrix::kDepth));

std::int64_t matrix_elements(const Problem& p) {
  return p[matrix::kRows] * p[matrix::kColumns];
}

constexpr std::array kMatrixConfigurations = {configuration()};

template <bool kAlongRows>
KernelEntry matrix_entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kMatrixConfigurations,
      .unsupported =
          [](const Problem& p) {
            if (std::string why = unsupported_type(p); !why.empty()) return why;
            return Walk{kAlongRows}.grid(p).y > kMostBlocksYZ
                       ? std::string("too many rows: give fewer, and more columns")
                       : std::string();
          },
      .tensors =
          [](const Problem& p) {
            return Tensors{{array(p, matrix_elements(p))}, {array(p, matrix_elements(p))}};
          },
      .launches =
          [](const Problem& p) {
            const Walk walk{kAlongRows};
            return std::vector{Launch{walk.function(p), walk.grid(p), kMatrixBlock, 0}};
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            const Walk walk{kAlongRows};
            std::int64_t rows = p[matrix::kRows];
            std::int64_t columns = p[matrix::kColumns];
            const void* x = at.inputs[0];
            void* y = at.outputs[0];
            std::array<void*, 4> arguments = {&x, &y, &rows, &columns};
            check(cudaLaunchKernel(walk.function(p), walk.grid(p), kMatrixBlock, arguments.data(),
                                   0, stream));
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            reference(Source::same, p, matrix_elements(p), 0, 1, inputs, outputs[0], stream);
          },
      .tolerance = [](const Problem&, std::size_t) { return 0.0; },
  };
}

}  // namespace

KernelEntry row_wise() {
  return matrix_entry<true>("access.row_wise");
}

KernelEntry column_wise() {
  return matrix_entry<false>("access.column_wise");
}

}  // namespace roofcast::cuda::access
