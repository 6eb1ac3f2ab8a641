#pragma once
// What the kernels between products read and write.

namespace roofcast::transformer {

/// Elements that kernels between products read and write, in arrays of the width they work on.
struct Moved {
  double passes;
  double launches;
};
struct Movement {
  Moved forward;
  Moved backward;
};
struct Movements {
  Movement residual;    ///< of hidden, each of two
  Movement activation;  ///< of the inner width
  Movement gate;        ///< the same with a gate
  Movement rotary;      ///< of queries and keys
  Movement plain_norm;  ///< a root mean square norm of kernels on fp32 copies; of one kernel: none
  double loss_bytes;    ///< of a logit of 16 bits: fp32 copy, log-softmax, and back
  double wide_loss_bytes;  ///< the same of a logit of fp32
};

// PyTorch's kernels one by one: add (2 in, 1 out); GELU (1, 1), backward (2, 1); SiLU and product
// (1, 1 and 2, 1), backward (2, 1 and 3, 2); rotate, two products and a sum for queries and keys. The
// norm: to fp32 (3 in all), square (4), mean (2), product (4), to 16 bits (3), γ (2). The loss, as
// torch.profiler shows it: to fp32 (6 B), log-softmax (16), a gradient of zeros (4), its backward (16),
// to 16 bits (6).
inline constexpr Movements kEager = {{{3, 1}, {3, 1}},
                                     {{2, 1}, {3, 1}},
                                     {{5, 2}, {8, 2}},
                                     {{8, 4}, {8, 4}},
                                     {{18, 6}, {30, 10}},
                                     48,
                                     36};
// One kernel each, the sums within the norms' kernels. The loss reads a logit twice, then once more,
// and writes its gradient.
inline constexpr Movements kFused = {{{1, 1}, {1, 1}},
                                     {{2, 1}, {3, 1}},
                                     {{3, 1}, {5, 1}},
                                     {{2, 1}, {2, 1}},
                                     {{0, 0}, {0, 0}},
                                     8,
                                     16};

// GELU by tanh as Hugging Face writes it (gelu_new): eight kernels, 10 in and 8 out; backward as many
// again and their sums.
inline constexpr Movement kPlainGelu = {{18, 8}, {30, 12}};

}  // namespace roofcast::transformer
