#pragma once
// Parts of a page as HTML: cells, tables that the page's script sorts, figures.
#include <string>
#include <string_view>

namespace roofcast::reports {

/// Foreign text, escaped.
std::string text_cell(std::string_view text);
/// The same for "gemm.mma_sync", which may go on in the next line after a dot or an underscore.
std::string name_cell(std::string_view name);
/// `data-value` is what the page sorts by; empty, with a dash, for what is no finite number.
/// `shown` is HTML.
std::string number_cell(double value, const std::string& shown, std::string_view tone = "");
std::string time_cell(double seconds);
std::string heading(std::string_view text, bool is_text, std::string_view title = "");
/// `head` and `body` are rows of cells.
std::string table(std::string_view id, const std::string& head, const std::string& body);
/// One of the large figures at the top; all HTML.
std::string figure(std::string_view title, const std::string& value, const std::string& detail,
                   std::string_view tone = "");

}  // namespace roofcast::reports
