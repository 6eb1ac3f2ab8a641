#include "cli/completion/offers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>

#include "architectures/loader.hpp"
#include "cli/commands/collective.hpp"
#include "cli/input/device_names.hpp"
#include "cli/input/kernel_options.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::cli {
namespace {

template <class Texts>
std::vector<std::string> strings(const Texts& texts) {
  return {texts.begin(), texts.end()};
}

/// The names of kernels, families and collectives.
std::vector<std::string> offered_kernels() {
  std::vector<std::string> names = strings(kernel_names());
  for (const transformer::Collective one : transformer::kCollectives) {
    names.push_back(full_name(one));
  }
  return names;
}

/// The names of the items, by `name_of`.
template <class Items, class NameOf>
std::vector<std::string> names_of(const Items& items, const NameOf& name_of) {
  std::vector<std::string> names(items.size());
  std::transform(items.begin(), items.end(), names.begin(),
                 [&](const auto& item) { return std::string(name_of(item)); });
  return names;
}

/// Whether a value name such as "table|json|csv" lists literal words, without a placeholder.
bool is_choice(std::string_view value_name) {
  return value_name.find('|') != std::string_view::npos &&
         std::none_of(value_name.begin(), value_name.end(),
                      [](unsigned char c) { return std::isupper(c) != 0; });
}

Offer value_offer(const Option& option) {
  const std::string_view value = option.value_name;
  if (is_choice(value)) return Offer::some_words;
  if (long_name(option) == "gpu") return Offer::gpus;
  if (value == "GPU") return Offer::measured_gpus;
  if (value == "TYPE") return Offer::types;
  if (value.starts_with("KERNEL")) return Offer::kernels;
  const bool file = value.find("FILE") != std::string_view::npos || value == "OVERLAY";
  return file ? Offer::files : Offer::nothing;
}

OfferedOption offered(const Option& option) {
  OfferedOption found{
      long_name(option), letter(option), !option.value_name.empty(), value_offer(option), {},
      option.meaning};
  if (found.value == Offer::some_words) found.words = split_list(option.value_name, '|');
  return found;
}

/// Commands that forecast a kernel have --gpu and take its parameters; `kernels` and `show` do not.
bool adds_parameters(const Command& command, const Manual& manual) {
  return command.words == Offer::kernels &&
         std::any_of(manual.options.begin(), manual.options.end(),
                     [](const Option& option) { return long_name(option) == "gpu"; });
}

}  // namespace

std::string_view list_name(Offer offer) {
  switch (offer) {
    case Offer::kernels:
      return "roofcast_kernels";
    case Offer::gpus:
      return "roofcast_gpus";
    case Offer::kernels_or_gpus:
      return "roofcast_kernels_or_gpus";
    case Offer::measured_gpus:
      return "roofcast_measured_gpus";
    case Offer::types:
      return "roofcast_types";
    case Offer::models:
      return "roofcast_models";
    case Offer::commands:
      return "roofcast_commands";
    case Offer::shells:
      return "roofcast_shells";
    case Offer::nothing:
    case Offer::files:
    case Offer::some_words:
      break;
  }
  return "";
}

std::vector<OfferedList> offered_lists() {
  std::vector<std::string> both = offered_kernels();
  for (const std::string_view name : device_names()) both.emplace_back(name);
  return {
      {Offer::kernels, offered_kernels()},
      {Offer::gpus, strings(device_names())},
      {Offer::kernels_or_gpus, std::move(both)},
      {Offer::measured_gpus, strings(measured_device_names())},
      {Offer::types, names_of(kAllDTypes, [](DType type) { return name(type); })},
      {Offer::models,
       names_of(architectures::embedded(), [](const auto& model) { return model.name; })},
      {Offer::commands, names_of(commands(), [](const Command& command) { return command.name; })},
      {Offer::shells, strings(kShells)}};
}

std::vector<OfferedCommand> offered_commands() {
  std::vector<OfferedCommand> found;
  for (const Command& command : commands()) {
    const Manual manual = command.manual();
    OfferedCommand& one = found.emplace_back();
    one.name = command.name;
    one.summary = command.summary;
    one.words = command.words;
    one.takes_parameters = adds_parameters(command, manual);
    for (const Option& option : manual.options) one.options.push_back(offered(option));
  }
  return found;
}

std::string completion_script(std::string_view shell) {
  const std::vector<OfferedCommand> commands = offered_commands();
  const std::vector<OfferedList> lists = offered_lists();
  if (shell == "zsh") return zsh_completion(commands, lists);
  if (shell == "fish") return fish_completion(commands, lists);
  return bash_completion(commands, lists);
}

std::string shell_quoted(std::string_view text) {
  return fmt::format("'{}'", boost::replace_all_copy(std::string(text), "'", "'\\''"));
}

}  // namespace roofcast::cli
