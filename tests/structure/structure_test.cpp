// The rules of the sources that a compiler does not check: who includes whom, what model/ may use,
// how long a file is.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct File {
  std::string path;  ///< from the root, with slashes
  std::string text;
  std::int64_t lines() const { return std::count(text.begin(), text.end(), '\n'); }
  bool in(std::string_view folder) const { return path.starts_with(std::string(folder) + "/"); }
  bool is_header() const { return path.ends_with(".hpp") || path.ends_with(".cuh"); }
  bool is_cpp() const { return is_header() || path.ends_with(".cpp") || path.ends_with(".cu"); }
};

std::vector<File> read_tree(const fs::path& root) {
  const std::set<std::string> kept = {".cpp", ".hpp", ".cu", ".cuh", ".js", ".mjs"};
  std::vector<File> files;
  for (const char* top : {"model", "advice", "hw_specs", "architectures", "kernels", "validation",
                          "reports", "cli", "python", "tests"}) {
    for (auto at = fs::recursive_directory_iterator(root / top);
         at != fs::recursive_directory_iterator(); ++at) {
      if (at->path().filename() == "node_modules") at.disable_recursion_pending();
      if (!at->is_regular_file() || !kept.contains(at->path().extension().string())) continue;
      std::ifstream stream(at->path());
      files.push_back({fs::relative(at->path(), root).generic_string(),
                       {std::istreambuf_iterator<char>(stream), {}}});
    }
  }
  return files;
}

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree(ROOFCAST_SOURCE_DIR);
  return files;
}

/// Code without comments; texts in quotes stay.
std::string without_comments(const std::string& text) {
  std::string code;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (quote != 0) {
      if (text[i] == '\\') code += text[i++];
      if (text[i] == quote || text[i] == '\n') quote = 0;
    } else if (rest.starts_with("//")) {
      i = std::min(text.find('\n', i), text.size() - 1);
    } else if (rest.starts_with("/*")) {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
      continue;
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || std::isalnum(text[i - 1]) == 0))) {
      quote = text[i];
    }
    code += text[i];
  }
  return code;
}

/// Each match of `pattern` as "FILE:LINE: text".
std::vector<std::string> find_all(const File& file, const std::string& text,
                                  const std::regex& pattern) {
  std::vector<std::string> found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern);
       match != std::sregex_iterator(); ++match) {
    found.push_back(file.path + ": " + match->str());
  }
  return found;
}

// A folder may include itself and the folders to the left of it.
struct Layer {
  std::string folder;
  std::vector<std::string> includes;
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = {
      {"model/types", {}},
      {"model/counting", {"model/types"}},
      {"model/expression", {"model/types", "model/counting"}},
      {"model/constants", {"model/types", "model/counting"}},
      {"model/laws", {"model/types", "model/counting", "model/constants"}},
      {"model/kernels", {"model/types", "model/counting", "model/expression", "model/libraries"}},
      {"model/libraries", {"model/types", "model/counting", "model/constants", "model/kernels"}},
      {"model/described", {"model"}},
      {"model", {}},  // the catalog and what is asked of it: all below model/
      {"advice", {"model"}},
      {"hw_specs", {"model"}},
      {"architectures", {"model", "hw_specs"}},
      {"kernels", {"model"}},
      {"validation", {"model", "hw_specs", "architectures", "kernels"}},
      {"reports", {"model", "hw_specs", "validation"}},
      {"cli", {"model", "advice", "hw_specs", "architectures", "validation", "reports"}},
      {"python", {"model", "hw_specs", "cli"}},
  };
  return all;
}

bool may_include(const std::string& path, const std::string& included) {
  for (const Layer& layer : layers()) {
    if (!path.starts_with(layer.folder + "/")) continue;
    if (included.starts_with(layer.folder + "/")) return true;
    return std::any_of(layer.includes.begin(), layer.includes.end(),
                       [&](const auto& folder) { return included.starts_with(folder + "/"); });
  }
  return true;  // tests include all
}

std::vector<std::string> includes_of(const File& file) {
  static const std::regex quoted("(^|\n)[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\"");
  std::vector<std::string> found;
  for (auto match = std::sregex_iterator(file.text.begin(), file.text.end(), quoted);
       match != std::sregex_iterator(); ++match) {
    found.push_back((*match)[2]);
  }
  return found;
}

TEST(Structure, TheTreeIsRead) {
  EXPECT_GT(tree().size(), 200U);
  for (const Layer& layer : layers()) {
    EXPECT_TRUE(std::any_of(tree().begin(), tree().end(),
                            [&](const File& file) { return file.in(layer.folder); }))
        << layer.folder << " holds no source";
  }
}

TEST(Structure, CommentsAreLeftOut) {
  EXPECT_EQ(without_comments("a // b\nc /* d\n e */ f \"// g\" 1'000 '\"' // h\n"),
            "a \nc  f \"// g\" 1'000 '\"' \n");
}

TEST(Structure, IncludesGoOneWay) {
  EXPECT_TRUE(may_include("model/laws/a.cpp", "model/types/b.hpp"));
  EXPECT_FALSE(may_include("model/laws/a.cpp", "model/kernels/b.hpp"));
  EXPECT_FALSE(may_include("model/kernels/a.cpp", "model/laws/b.hpp"));
  EXPECT_FALSE(may_include("model/laws/a.cpp", "model/predict.hpp"));
  EXPECT_FALSE(may_include("reports/a.cpp", "cli/b.hpp"));
  for (const File& file : tree()) {
    if (!file.is_cpp()) continue;
    for (const std::string& included : includes_of(file)) {
      EXPECT_TRUE(may_include(file.path, included)) << file.path << " includes " << included;
    }
  }
}

TEST(Structure, QuotedIncludesAreOursAndFromTheRoot) {
  for (const File& file : tree()) {
    if (!file.is_cpp()) continue;
    for (const std::string& included : includes_of(file)) {
      EXPECT_TRUE(fs::exists(fs::path(ROOFCAST_SOURCE_DIR) / included))
          << file.path << " includes \"" << included << "\": write the path from the root";
    }
  }
}

// model/ also compiles to WebAssembly with libc++ 14, and its functions are pure.
TEST(Structure, TheModelIsPureAndPortable) {
  const std::regex headers(
      R"(#include <(cuda\w*|cooperative_groups|fstream|filesystem|iostream|sys/\w+|)"
      R"(unistd\.h|fcntl\.h|netdb\.h|chrono|ctime|time\.h|random|thread|mutex|atomic|future|format|)"
      R"(ranges|source_location|print|expected|nlohmann/\w+|fmt/\w+|boost/\S+)(\.h|\.hpp)?>)");
  const std::regex uses(R"(\b(std::(ranges|views|format)\b|__CUDA\w*|thread_local\b|)"
                        R"((rand|getenv|fopen|printf|puts|fputs|fwrite)\())");
  for (const File& file : tree()) {
    if (!file.in("model")) continue;
    const std::string code = without_comments(file.text);
    for (const std::string& found : find_all(file, code, headers)) ADD_FAILURE() << found;
    for (const std::string& found : find_all(file, code, uses)) ADD_FAILURE() << found;
  }
}

// Differences between devices are data in hw_specs/. Comments may name the run of a constant.
TEST(Structure, NoDeviceIsNamed) {
  const std::regex names(
      R"(\b(k80|p100|v100|t4|a100|a10|a30|a40|l4|l40s?|h100|h200|gh200|b100|b200|gb200|rtx[ _-]?\d+|)"
      R"(tpu[ _-]?v\d\w*|sm_\d+a?|kepler|pascal|volta|turing|ampere|ada|hopper|blackwell)\b)",
      std::regex::icase);
  for (const File& file : tree()) {
    if (!file.in("model") && !file.in("reports")) continue;
    for (const std::string& found : find_all(file, without_comments(file.text), names)) {
      ADD_FAILURE() << found << ": what differs between devices is data in hw_specs/";
    }
  }
}

// A plan counts; what the device keeps up, and which generation it is, are for laws and data.
TEST(Structure, PlansReadNoMeasuredRateAndNoGeneration) {
  const std::regex read(R"(\b(compute_capability|sustained)\b)");
  for (const File& file : tree()) {
    if (!file.in("model/kernels")) continue;
    for (const std::string& found : find_all(file, without_comments(file.text), read)) {
      ADD_FAILURE() << found;
    }
  }
}

// `roofcast show constants` and docs/constants.md list what stands in a file's kAll.
TEST(Structure, EveryConstantIsInTheRegister) {
  const std::regex declared(R"(inline constexpr Constant (k\w+))");
  std::size_t constants = 0;
  for (const File& file : tree()) {
    if (!file.in("model/constants")) continue;
    const std::size_t all = file.text.find("kAll = {");
    for (auto match = std::sregex_iterator(file.text.begin(), file.text.end(), declared);
         match != std::sregex_iterator(); ++match, ++constants) {
      const std::regex listed("\\b" + match->str(1) + "\\b");
      EXPECT_TRUE(all != std::string::npos && std::regex_search(file.text.substr(all), listed))
          << file.path << ": " << match->str(1) << " is not in kAll";
    }
  }
  EXPECT_GT(constants, 30U);
}

TEST(Structure, FilesAreShort) {
  constexpr std::int64_t kMostLines = 400, kMostOfModel = 300;
  constexpr std::int64_t kMedianOfHeaders = 60;
  std::vector<std::int64_t> headers;
  for (const File& file : tree()) {
    EXPECT_LE(file.lines(), file.in("model") ? kMostOfModel : kMostLines) << file.path;
    if (file.is_header() && !file.in("tests")) headers.push_back(file.lines());
  }
  ASSERT_FALSE(headers.empty());
  const auto middle = headers.begin() + static_cast<std::ptrdiff_t>(headers.size() / 2);
  std::nth_element(headers.begin(), middle, headers.end());
  EXPECT_LE(*middle, kMedianOfHeaders) << "the median of the headers' lines";
}

}  // namespace
