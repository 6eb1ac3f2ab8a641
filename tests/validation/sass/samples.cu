// The kernels of the listings in listings/: nvcc -cubin, then cuobjdump -sass -res-usage. Encodings
// are left out.
#include <cuda_pipeline.h>
#include <mma.h>

extern "C" __global__ void copy16(float4* to, const float4* from, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    to[i] = from[i];
  }
}

namespace sample {

template <typename T>
__global__ void tiled(const T* a, const T* b, T* c, int n) {
  __shared__ T s[16][16], t[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  T sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[y][x] = a[row * n + k + x];
    t[y][x] = b[(k + y) * n + column];
    __syncthreads();
#pragma unroll 2
    for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
template __global__ void tiled<float>(const float*, const float*, float*, int);

}  // namespace sample

__global__ void product(const half* a, const half* b, float* c, int n) {
  using namespace nvcuda;
  __shared__ __align__(128) half s[2][256], t[2][256];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0);
  for (int k = 0; k < n; ++k) {
    __pipeline_memcpy_async(&s[k & 1][threadIdx.x * 8], a + k * 256 + threadIdx.x * 8, 16);
    __pipeline_memcpy_async(&t[k & 1][threadIdx.x * 8], b + k * 256 + threadIdx.x * 8, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> rows;
    wmma::load_matrix_sync(rows, s[k & 1], 16);
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> columns;
    wmma::load_matrix_sync(columns, t[k & 1], 16);
    wmma::mma_sync(sum, rows, columns, sum);
  }
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

// With -maxrregcount=28 its array does not fit the registers.
__global__ void spilled(float* x, int n) {
  float v[32];
  for (int i = 0; i < 32; ++i) v[i] = x[i * n];
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < 32; ++i) v[i] = v[i] * v[(i + 7) % 32] + 1;
  }
  for (int i = 0; i < 32; ++i) x[i * n] = v[i];
}

// A branch through a table in a loop.
__global__ void table(int* x, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 32) {
    int v = x[i];
    switch (v) {
      case 0:
        v = __clz(v + i);
        break;
      case 1:
        v = i - 12;
        break;
      case 2:
        v = v * i * i;
        break;
      case 3:
        v = x[v + 1] ^ i;
        break;
      case 4:
        __threadfence();
        break;
      case 5:
        v = __brev(i) + 3;
        break;
      case 6:
        v = x[v + 4] - x[v + 5];
        break;
      case 7:
        v = __popc(v) * 7;
        break;
      default:
        v = 0;
    }
    x[i] = v;
  }
}
