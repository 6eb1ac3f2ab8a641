// The kernel of listings/blackwell.sass: it waits for copies by tensor maps and multiplies from
// shared memory.
#include <cstdint>
__global__ void fifth(const __grid_constant__ __attribute__((aligned(64))) char map[128], float* c,
                      int n) {
  __shared__ __align__(1024) char s[16384];
  __shared__ uint64_t bar;
  __shared__ uint32_t at;
  uint32_t S = __cvta_generic_to_shared(s), B = __cvta_generic_to_shared(&bar),
           A = __cvta_generic_to_shared(&at);
  if (threadIdx.x < 32)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(A));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(B));
  __syncthreads();
  uint32_t d = at;
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16384;" ::"r"(B));
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2, %3}], [%4];" ::"r"(S),
          "l"(map), "r"(k), "r"(0), "r"(B)
          : "memory");
    }
    asm volatile(
        "{.reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W;}" ::"r"(
            B),
        "r"(k & 1));
    if (threadIdx.x == 0) {
      asm volatile(
          "{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, "
          "%3, p;}" ::"r"(d),
          "l"((uint64_t)S), "l"((uint64_t)S + 8), "r"(0x8100490), "r"(k));
      asm volatile(
          "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(B));
    }
  }
  uint32_t r;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(d));
  asm volatile("tcgen05.wait::ld.sync.aligned;");
  c[threadIdx.x] = __uint_as_float(r);
}
