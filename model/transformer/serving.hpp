#pragma once
// Continuous batching at a fixed number of requests, in steady state.
#include <array>
#include <optional>
#include <string_view>

#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// When prompts are computed: spread over the steps of the others, whose products their tokens
/// share (in-flight batching: weights are read once for both), or all together before decoding goes
/// on, as where requests of one length begin and end at a time.
enum class Prompts : unsigned char { spread, together };
inline constexpr std::array<std::string_view, 2> kPrompts = {"spread", "together"};

/// What is served: so many requests at a time, each followed by the next one when it ends.
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
  double decode_s = 0;          ///< of a step that gives each request a token
  double prefill_s = 0;         ///< of a prompt alone
  double software_s = 0;        ///< of between_tokens_s, what serving software adds
  double joined_s = 0;          ///< of a step that computes prompts too, where they are spread
  double between_tokens_s = 0;  ///< of a request, prefills of others among them
  double low_s = 0;             ///< interval of between_tokens_s
  double high_s = 0;
  double to_first_token_s =
      0;                    ///< with the wait for the others' prompts, of a request with a place
  double tokens_per_s = 0;  ///< of all requests' answers
  Memory memory;            ///< of one GPU, with every request at its full length
  std::optional<std::int64_t>
      largest_concurrency;  ///< that the GPU's memory holds, where that is known
};

/// The steady state: in the `output` steps of a request as many prompts are computed as there are
/// requests, concurrency / output a step. Spread, a step has that many, rounded down or up, in its
/// batch. Together, they take a turn each, t = t_decode + concurrency · t_prefill / output, and a
/// request has waited for half of them before its first token: half of that is between tokens.
/// Decoding is forecast with half of the answers written. Software adds
/// constants::kRequestSeconds for each request. Throws InputError as predict_step does, and where a
/// count is below 1.
Serving predict_serving(const Architecture& model, const Service& service,
                        KernelForecasts& forecasts);

}  // namespace roofcast::transformer
