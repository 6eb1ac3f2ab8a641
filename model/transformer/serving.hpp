#pragma once
// Continuous batching at a fixed number of requests, in steady state.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// When prompts are computed. spread: within decode steps of other requests, in the same GEMMs
/// (in-flight batching: weights are read once for both). together: all between decode steps, as
/// when requests of one length start and end at once.
enum class Prompts : unsigned char { spread, together };
inline constexpr std::array<std::string_view, 2> kPrompts = {"spread", "together"};

/// A load of `concurrency` requests; a new one replaces each that ends.
struct Service {
  DType dtype = DType::bf16;
  std::int64_t concurrency = 1;
  std::int64_t input = 1024;  ///< tokens of a prompt
  std::int64_t output = 128;  ///< tokens of an answer
  Prompts prompts = Prompts::spread;
  std::int64_t tp = 1;
  std::int64_t ep = 1;
  Routing routing = Routing::as_trained;
};

struct Serving {
  double decode_s = 0;      ///< time of a step: one token per request
  double prefill_s = 0;     ///< time of one prompt alone
  double software_s = 0;    ///< part of between_tokens: serving software
  double joined_s = 0;      ///< time of a step that also computes prompts (Prompts::spread)
  Duration between_tokens;  ///< mean per request, with prefills of others
  /// Time to the first token of an admitted request, with the wait for other prompts.
  double to_first_token_s = 0;
  double tokens_per_s = 0;  ///< output tokens of all requests
  Memory memory;            ///< memory of one GPU, with every request at its full length
  /// Largest `concurrency` that fits the GPU's memory; absent if the memory size is unknown.
  std::optional<std::int64_t> largest_concurrency;
  std::vector<std::string> notes;
};

/// The steady state: in the `output` steps of a request each of the `concurrency` requests has its
/// prompt computed once, so a step computes concurrency / output prompts. Spread: a step's batch
/// holds this number, rounded down or up. Together: prompts run one after the other, t = t_decode +
/// concurrency · t_prefill / output; a request waits for half of them before its first token, so
/// half of the prefill term lies between tokens. Decoding is forecast with half of the answer
/// written. Software adds constants::kRequestSeconds per request. Throws InputError as
/// predict_step, and for a count below 1.
Serving predict_serving(const Architecture& model, const Service& service,
                        KernelForecasts& forecasts);

}  // namespace roofcast::transformer
