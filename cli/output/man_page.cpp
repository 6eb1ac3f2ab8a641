#include "cli/output/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <cctype>

#include "cli/input/options.hpp"
#include "cli/revision.hpp"

namespace roofcast::cli {
namespace {

/// Escapes text for roff: hyphens and backslashes print as they are, and no line is a request.
std::string escaped(std::string_view text) {
  std::string found;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) found += "\\&";
    if (c == '\\') {
      found += "\\e";
    } else if (c == '-') {
      found += "\\-";
    } else {
      found += c;
    }
    line_start = c == '\n';
  }
  return found;
}

std::string section(std::string_view title, std::string_view text) {
  return fmt::format(".SH {}\n{}\n", title, boost::trim_right_copy(std::string(text)));
}

/// Lines that keep their breaks.
std::string verbatim(std::string_view text) {
  return fmt::format(".nf\n{}\n.fi", escaped(boost::trim_right_copy(std::string(text))));
}

/// Removes the indent by which the help aligns further usages with the first after "Usage: ".
std::string unindented(std::string_view usages) {
  return boost::replace_all_copy(std::string(usages), "\n       ", "\n");
}

std::string upper(std::string_view text) {
  std::string found(text);
  std::transform(found.begin(), found.end(), found.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return found;
}

/// The page has no date, so the same sources make the same page.
std::string head(std::string_view name, std::string_view summary) {
  const std::string version = version_text();
  return fmt::format(".TH {} 1 \"\" \"roofcast {}\" \"User Commands\"\n", upper(escaped(name)),
                     escaped(version.substr(0, version.find(' ')))) +
         section("NAME", fmt::format("{} \\- {}", escaped(name), escaped(summary)));
}

std::string options_text(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    const std::string short_form = letter(option);
    text += ".TP\n";
    if (!short_form.empty()) text += fmt::format(R"(\fB\-{}\fR, )", short_form);
    text += fmt::format(R"(\fB\-\-{}\fR)", escaped(long_name(option)));
    if (!option.value_name.empty()) text += fmt::format(" \\fI{}\\fR", escaped(option.value_name));
    text += fmt::format("\n{}\n", escaped(option.meaning));
  }
  return text;
}

constexpr std::string_view kExitCodes =
    ".TP\n0\ndone\n.TP\n1\na comparison out of tolerance\n.TP\n2\nusage\n.TP\n3\nbad input or "
    "specification\n.TP\n4\nno usable GPU\n.TP\n5\ninternal\n.TP\n130, 143\ninterrupted, "
    "terminated\n.TP\n141\nthe output's reader went away";

}  // namespace

std::string program_man_page(std::span<const Command> commands) {
  std::string listed;
  std::string also;
  for (const Command& command : commands) {
    listed += fmt::format(".TP\n\\fB{}\\fR\n{}\n", command.name, escaped(command.summary));
    also += fmt::format("{}.BR roofcast\\-{} (1)", also.empty() ? "" : ",\n", command.name);
  }
  return head("roofcast", "forecasts where a GPU kernel lands under the roofline") +
         section("SYNOPSIS",
                 "\\fBroofcast\\fR \\fICOMMAND\\fR [options]\n.br\n\\fBroofcast\\fR \\-\\-help | "
                 "\\-\\-version") +
         section("DESCRIPTION",
                 "Forecasts how long a GPU kernel takes on a given shape and GPU, what bounds it, "
                 "and how far\nthat is from the roofline.") +
         section("COMMANDS", listed) + section("EXIT STATUS", kExitCodes) +
         section("SEE ALSO", also);
}

std::string command_man_page(const Command& command) {
  const Manual manual = command.manual();
  return head(fmt::format("roofcast-{}", command.name), command.summary) +
         section("SYNOPSIS", verbatim(unindented(manual.usage))) +
         section("DESCRIPTION", verbatim(manual.about)) +
         section("OPTIONS", options_text(manual.options)) +
         section("EXAMPLES", verbatim(manual.examples)) + section("SEE ALSO", ".BR roofcast (1)");
}

}  // namespace roofcast::cli
