#pragma once
// One operation of a pipe each: apply(x, c, a, b) advances chain c of x.
#include <cstdint>

namespace roofcast::microbench {

inline constexpr unsigned kChains = 8;
template <class Type>
using Chains = Type[kChains];

struct FmaFp32 {
  using Type = float;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[c]) : "f"(a), "f"(b));
  }
};

struct FmaFp64 {
  using Type = double;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type b) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x[c]) : "d"(a), "d"(b));
  }
};

struct FmaFp16x2 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type b) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x[c]) : "r"(a), "r"(b));
  }
};

struct FmaBf16x2 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type b) {
    asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x[c]) : "r"(a), "r"(b));
  }
};

struct MulAddInt {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type b) {
    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x[c]) : "r"(a), "r"(b));
  }
};

struct Exp2 {
  using Type = float;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[c]));
  }
};

// The addition keeps a reciprocal of a reciprocal from being removed.
struct Reciprocal {
  using Type = float;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type /*b*/) {
    asm volatile("rcp.approx.ftz.f32 %0, %0; add.f32 %0, %0, %1;" : "+f"(x[c]) : "f"(a));
  }
};

struct ReciprocalRoot {
  using Type = float;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x[c]));
  }
};

struct Sine {
  using Type = float;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(x[c]));
  }
};

struct Tanh {
  using Type = float;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x[c]));
  }
};

struct Shuffle {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x[c]));
  }
};

// Adds the neighbouring chain: repeated additions of one value would merge into fewer instructions.
struct AddInt {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("add.u32 %0, %0, %1;" : "+r"(x[c]) : "r"(x[(c + 1) % kChains]));
  }
};

// Multiply-adds in the even chains, additions in the odd ones.
struct FmaAndAdd {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type a, Type b) {
    if (c % 2 == 1) {
      asm volatile("add.u32 %0, %0, %1;" : "+r"(x[c]) : "r"(x[(c + 2) % kChains]));
      return;
    }
    float value = __uint_as_float(x[c]);
    asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                 : "+f"(value)
                 : "f"(__uint_as_float(a)), "f"(__uint_as_float(b)));
    x[c] = __float_as_uint(value);
  }
};

struct Fp32ToFp16x2 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(x[c]) : "f"(__uint_as_float(x[c])));
  }
};

struct Fp32ToBf16x2 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(x[c]) : "f"(__uint_as_float(x[c])));
  }
};

struct Fp32ToInt32 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    asm volatile("cvt.rni.s32.f32 %0, %1;" : "=r"(x[c]) : "f"(__uint_as_float(x[c])));
  }
};

struct Int32ToFp32 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    float value;
    asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(value) : "r"(x[c]));
    x[c] = __float_as_uint(value);
  }
};

struct Fp16ToFp32 {
  using Type = std::uint32_t;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    float value;
    asm volatile("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}"
                 : "=f"(value)
                 : "r"(x[c]));
    x[c] = __float_as_uint(value);
  }
};

struct Fp64ToFp32ToFp64 {
  using Type = double;
  static __device__ void apply(Chains<Type>& x, unsigned c, Type /*a*/, Type /*b*/) {
    float value;
    asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(value) : "d"(x[c]));
    asm volatile("cvt.f64.f32 %0, %1;" : "=d"(x[c]) : "f"(value));
  }
};

}  // namespace roofcast::microbench
