#pragma once
// Parts of a page as HTML: cells, tables that the page's script sorts, summary figures.
#include <string>
#include <string_view>

namespace roofcast::reports {

/// A cell of any text, escaped.
std::string text_cell(std::string_view text);
/// A cell of a name such as "gemm.mma_sync", which may break after a dot or an underscore.
std::string name_cell(std::string_view name);
/// A cell that shows `shown` (HTML) and that the page sorts by `value`; a dash if that is not
/// finite.
std::string number_cell(double value, const std::string& shown, std::string_view tone = "");
std::string time_cell(double seconds);
std::string heading(std::string_view text, bool is_text, std::string_view title = "");
/// A sortable table. `head` is the cells of its heading, `body` its rows, both HTML.
std::string table(std::string_view id, const std::string& head, const std::string& body);
/// The field that filters the page's table "cases": by `hint`, for example "kernel, size".
std::string filter_field(std::string_view hint, std::string_view what);
/// One of the large figures at the top of a page. All arguments are HTML.
std::string figure(std::string_view title, const std::string& value, const std::string& detail,
                   std::string_view tone = "");

}  // namespace roofcast::reports
