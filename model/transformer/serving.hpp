#pragma once
// Continuous batching at a fixed number of requests, in steady state.
#include <array>
#include <optional>
#include <string_view>

#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// When prompts are computed: spread over the decode steps of other requests, in the same products
/// (in-flight batching: weights are read once for both); or all together between decode steps, as
/// where requests of one length begin and end at a time.
enum class Prompts : unsigned char { spread, together };
inline constexpr std::array<std::string_view, 2> kPrompts = {"spread", "together"};

/// Requests served at a time; a new one follows each that ends.
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
  double software_s = 0;        ///< what serving software adds to between_tokens_s
  double joined_s = 0;          ///< of a step that computes prompts too, where they are spread
  double between_tokens_s = 0;  ///< of a request, prefills of others among them
  double low_s = 0;             ///< interval of between_tokens_s
  double high_s = 0;
  /// Time of a request that has a place, with the wait for the others' prompts.
  double to_first_token_s = 0;
  double tokens_per_s = 0;  ///< of all requests' answers
  Memory memory;            ///< of one GPU, with every request at its full length
  /// That the GPU's memory holds, where that is known.
  std::optional<std::int64_t> largest_concurrency;
};

/// The steady state: the `output` steps of a request compute a prompt for each request, concurrency
/// / output a step. Spread: a step has that many, rounded down or up, in its batch. Together: they
/// follow one another, t = t_decode + concurrency · t_prefill / output, and a request waits for
/// half of them before its first token, so that half of that is between tokens.
/// Decoding is forecast with half of the answers written. Software adds
/// constants::kRequestSeconds for each request. Throws InputError as predict_step does, and where a
/// count is below 1.
Serving predict_serving(const Architecture& model, const Service& service,
                        KernelForecasts& forecasts);

}  // namespace roofcast::transformer
