#include "model/kernels/compiled.hpp"

#include <gtest/gtest.h>

namespace roofcast::compiled {
namespace {

TEST(Compiled, KernelsAreFoundByNameAndArguments) {
  EXPECT_EQ(registers("stream::null_kernel"), 4);
  EXPECT_EQ(registers("softmax::held_kernel", DType::fp32, 8), 55);
  EXPECT_EQ(registers("softmax::held_kernel", DType::fp32, 1), 23);
  EXPECT_EQ(registers("stream::Copy", DType::bf16, 4, 8),
            registers("stream::Copy", DType::fp16, 4, 8));
}

TEST(Compiled, Tf32LiesInMemoryAsFp32) {
  EXPECT_EQ(registers("gemm::mma_kernel", DType::tf32, 64, 64, 32, 2, 2, 4, 2, true), 120);
}

TEST(Compiled, WhatIsNotCompiledHasNone) {
  EXPECT_EQ(registers("softmax::held_kernel", DType::fp32, 16), 0);
  EXPECT_EQ(registers("softmax::held_kernel"), 0);
  EXPECT_EQ(registers("a"), 0);
  EXPECT_EQ(registers("zz::kernel", 1), 0);
}

}  // namespace
}  // namespace roofcast::compiled
