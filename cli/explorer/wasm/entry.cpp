// The functions that JavaScript calls, with UTF-8 text in and out. C++ exceptions reach JavaScript
// as bare numbers, so none leaves here: {"ok":true,"result":…} or {"ok":false,"error":"…"}.
#include <emscripten/emscripten.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/explorer/answer_query.hpp"

namespace {

using roofcast::cli::explorer_answer;
using roofcast::cli::explorer_catalog;
using roofcast::cli::explorer_identify;
using roofcast::cli::explorer_values;
using roofcast::cli::ExplorerDevices;

/// The returned text is valid until the next call.
template <class Work>
const char* guarded(const Work& work) {
  static std::string text;
  try {
    text = "{\"ok\":true,\"result\":" + work() + "}";
  } catch (const std::exception& error) {
    const nlohmann::json said = error.what();
    text = "{\"ok\":false,\"error\":" +
           said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "}";
  }
  return text.c_str();
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* roofcast_catalog() {
  return guarded([] { return explorer_catalog(); });
}

EMSCRIPTEN_KEEPALIVE const char* roofcast_values(const char* gpu) {
  return guarded([gpu] { return explorer_values(gpu); });
}

EMSCRIPTEN_KEEPALIVE const char* roofcast_answer(const char* request) {
  static ExplorerDevices devices;
  return guarded([request] { return explorer_answer(request, devices); });
}

EMSCRIPTEN_KEEPALIVE const char* roofcast_identify(const char* text) {
  return guarded([text] { return explorer_identify(text); });
}
}
