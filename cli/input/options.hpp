#pragma once
// Tables of the options that a subcommand takes, read with Boost.Program_options.
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/input/numbers.hpp"

namespace roofcast::cli {

struct Option {
  std::string name;        ///< "gpu", or with a letter "output,o"
  std::string value_name;  ///< "NAME"; empty for a switch
  std::string meaning;
  bool repeatable = false;
};

/// "output" of "output,o".
std::string long_name(const Option& option);
/// "o" of "output,o"; empty where there is no letter.
std::string letter(const Option& option);

/// A subcommand's help and options, from which completions and manual pages are made.
struct Manual {
  std::string_view examples;  ///< printed first
  std::string_view usage;
  std::string_view about;
  std::vector<Option> options;
};

/// The options of several tables, one table after the other.
std::vector<Option> joined(std::initializer_list<std::vector<Option>> tables);

/// Arguments split into words that stand alone and options with their values.
struct SplitArguments {
  Arguments words;
  Arguments options;
};

/// Splits the arguments. An option that `known` does not list is taken to have a value, since
/// kernels add their options later. No value begins with "--".
SplitArguments split_words(const Arguments& arguments, std::span<const Option> known);

class Options {
 public:
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// How many options are given, a repeated one counted once.
  std::size_t count() const { return values_.size(); }
  std::optional<std::string> find(std::string_view name) const;
  std::string get(std::string_view name, std::string_view fallback) const;
  /// Every value of a repeatable option, in the order given.
  std::vector<std::string> all(std::string_view name) const;

  void add(const std::string& name, std::vector<std::string> values);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// Reads the options. UsageError for faults, with the nearest option for an unknown one.
Options parse_options(const Arguments& arguments, std::span<const Option> known);

std::string help_text(const Manual& manual);

/// Whether -h or --help is among the arguments, which are not checked.
bool wants_help(const Arguments& arguments);

/// " Did you mean 'x'?", or nothing if no known word is near.
std::string did_you_mean(std::string_view typo, std::span<const std::string_view> known);

/// The word of `known` that equals `text`. UsageError, with all of them, if there is none.
std::string_view one_of(std::string_view what, std::string_view text,
                        std::span<const std::string_view> known);

/// The position of that word in `known`. UsageError as one_of.
std::size_t place_of(std::string_view what, std::string_view text,
                     std::span<const std::string_view> known);

/// The word of `formats` that --format gives; without it the format that the output's name ends in,
/// else the first. UsageError for another word.
std::string_view read_format(const Options& options,
                             std::initializer_list<std::string_view> formats);

std::vector<std::string> split_list(std::string_view text, char separator);

/// The words as they are. UsageError where `what` names one of them twice: most likely a mistake.
std::vector<std::string> distinct(std::string_view what, std::vector<std::string> words);

}  // namespace roofcast::cli
