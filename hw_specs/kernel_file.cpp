#include "hw_specs/kernel_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/loader.hpp"
#include "hw_specs/schema_check.hpp"
#include "model/described/kernel.hpp"

namespace roofcast::specs {
namespace {

using described::Access;
using described::Quantity;

constexpr FileKind kKernelFile = {std::size_t{1} << 20,
                                  "start from a kernel file in examples/kernels/"};

constexpr std::array<std::pair<std::string_view, Access>, 4> kAccesses = {
    {{"contiguous", Access::contiguous},
     {"strided", Access::strided},
     {"gather", Access::gather},
     {"broadcast", Access::broadcast}}};

// Other members of a question: a parameter must not have one of these names.
constexpr std::array<std::string_view, 23> kOptions = {
    "kernel",   "gpu",    "dtype", "format", "output",   "help",  "overlay", "datasheet",
    "relative", "set",    "cache", "launch", "sm_clock", "batch", "jobs",    "plot",
    "x",        "series", "waves", "run",    "line",     "error", "variants"};

/// Reads one file. Its expressions may name the file's parameters.
class Reader {
 public:
  Reader(const std::string& file, const Json& root) : file_(file), root_(root) {}

  described::Description read() {
    result_.name = root_.at("name").get<std::string>();
    check_kernel_name();
    result_.summary = root_.value("summary", std::string("described in ") + file_);
    read_parameters();
    if (const Json* types = find(root_, "/dtypes")) {
      result_.dtypes.clear();
      for (const Json& type : *types)
        result_.dtypes.push_back(*parse_dtype(type.get<std::string>()));
    }
    read_launch();
    read_work();
    read_arrays();
    read_phases();
    return std::move(result_);
  }

 private:
  void read_parameters() {
    const Json* parameters = find(root_, "/parameters");
    if (parameters == nullptr) return;
    for (const auto& [name, value] : parameters->items()) {
      check_name(name);
      names_.push_back(name);
      result_.parameters.push_back(read_parameter(name, value));
    }
  }

  described::DescribedParameter read_parameter(const std::string& name, const Json& value) const {
    described::DescribedParameter one{name, "of the kernel file"};
    const Json* fallback = value.is_number() ? &value : find(value, "/default");
    if (fallback != nullptr) one.fallback = fallback->get<std::int64_t>();
    if (!value.is_object()) return one;
    one.meaning = value.value("meaning", one.meaning);
    one.minimum = value.value("minimum", one.minimum);
    one.maximum = value.value("maximum", one.maximum);
    one.is_setting = value.value("setting", false);
    const std::string at = child("/parameters", name);
    const std::int64_t inside = one.fallback.value_or(one.minimum);
    if (one.minimum > one.maximum || inside < one.minimum || inside > one.maximum) {
      throw SpecError(file_, at, "minimum <= default <= maximum", "correct the range");
    }
    if (one.is_setting && !one.fallback) {
      throw SpecError(file_, at, "a default of a setting", "add \"default\"");
    }
    return one;
  }

  void check_kernel_name() const {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (result_.name.find_first_not_of(kLetters) == std::string::npos) return;
    throw SpecError(file_, "/name",
                    "letters, digits, '_', '.' and '-' alone, found " + shown(root_.at("name")),
                    "name the kernel otherwise");
  }

  // A parameter is an option of the command and an operand of expressions: a single name to both.
  void check_name(const std::string& name) const {
    bool is_name = name != described::kElementBytes &&
                   std::find(kOptions.begin(), kOptions.end(), name) == kOptions.end();
    try {
      const auto read = expression::parse(name);
      is_name = is_name && read.inputs.size() == 1 && read.inputs.front() == name;
    } catch (const InputError&) {
      is_name = false;
    }
    if (is_name) return;
    throw SpecError(file_, child("/parameters", name),
                    "a name of letters, digits and underscores that is no function and no option",
                    "name the parameter otherwise");
  }

  std::optional<Quantity> given(const std::string& pointer) const {
    const Json* value = find(root_, pointer);
    if (value == nullptr) return std::nullopt;
    try {
      return Quantity(value->is_string() ? value->get<std::string>() : value->dump(), names_);
    } catch (const InputError& error) {
      throw SpecError(file_, pointer, "an expression over the parameters, found " + shown(*value),
                      error.what());
    }
  }
  Quantity quantity(const std::string& pointer, std::string_view fallback = "0") const {
    return given(pointer).value_or(Quantity(fallback));
  }

  void read_launch() {
    result_.threads = quantity("/launch/threads");
    result_.registers = quantity("/launch/registers");
    result_.shared_bytes = quantity("/launch/shared_bytes");
    result_.cluster = quantity("/launch/cluster", "1");
    const Json* grid = find(root_, "/launch/grid");
    if (grid == nullptr) return;
    auto& blocks = result_.grid.emplace();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool is_plain = !grid->is_array() && i == 0;
      blocks[i] = quantity(is_plain ? "/launch/grid" : "/launch/grid/" + std::to_string(i), "1");
    }
  }

  void read_work() {
    for (const DType type : kAllDTypes) {
      const std::string word(name(type));
      if (auto flops = given("/work/flops/" + word)) result_.flops.emplace_back(type, *flops);
      if (auto flops = given("/work/tensor_flops/" + word)) {
        result_.tensor_flops.emplace_back(type, *flops);
      }
    }
    result_.special_functions = quantity("/work/special_functions");
    result_.shared_traffic_bytes = quantity("/work/shared_traffic_bytes");
    result_.instructions = given("/work/instructions");
    result_.l1_read_bytes = given("/work/l1_read_bytes");
    result_.l2_read_bytes = given("/work/l2_read_bytes");
    result_.l2_write_bytes = given("/work/l2_write_bytes");
  }

  void read_arrays() {
    const Json* arrays = find(root_, "/arrays");
    if (arrays == nullptr) {
      result_.arrays.push_back({quantity("/work/read_bytes"), Quantity()});
      result_.arrays.push_back({Quantity(), quantity("/work/write_bytes")});
      return;
    }
    for (const char* pointer : {"/work/read_bytes", "/work/write_bytes"}) {
      if (find(root_, pointer) == nullptr) continue;
      throw SpecError(file_, pointer, "bytes in one place: the arrays have theirs",
                      "remove this key, or the arrays");
    }
    for (std::size_t i = 0; i < arrays->size(); ++i) read_array(i);
  }

  void read_array(std::size_t i) {
    const std::string at = "/arrays/" + std::to_string(i);
    const Json& object = root_.at("arrays").at(i);
    described::Array array{quantity(at + "/read_bytes"), quantity(at + "/write_bytes")};
    const std::string access = object.value("access", std::string("contiguous"));
    for (const auto& [word, value] : kAccesses) {
      if (word == access) array.access = value;
    }
    const bool scattered = array.access == Access::strided || array.access == Access::gather;
    if (scattered) array.element_bytes = needed(at, "element_bytes", access);
    if (array.access == Access::strided) array.stride_bytes = needed(at, "stride_bytes", access);
    if (array.access == Access::gather) array.table_bytes = needed(at, "table_bytes", access);
    array.activation = object.value("activation", false);
    result_.arrays.push_back(std::move(array));
  }

  Quantity needed(const std::string& at, const std::string& key, const std::string& access) const {
    if (auto value = given(at + "/" + key)) return *value;
    throw SpecError(file_, at, "\"" + key + "\" of an array with " + access + " accesses",
                    "add \"" + key + "\", a number of bytes");
  }

  void read_phases() {
    const Json* phases = find(root_, "/phases");
    if (phases == nullptr) return;
    for (std::size_t i = 0; i < phases->size(); ++i) {
      const std::string at = "/phases/" + std::to_string(i);
      result_.phases.push_back({quantity(at + "/share"), quantity(at + "/repeats", "1"),
                                quantity(at + "/barriers"), quantity(at + "/stages", "1"),
                                given(at + "/loads"), quantity(at + "/exchanges"),
                                quantity(at + "/operations")});
    }
  }

  const std::string& file_;
  const Json& root_;
  std::vector<std::string> names_;  ///< names of the parameters
  described::Description result_;
};

}  // namespace

KernelRef load_kernel(const std::string& file, std::string_view text) {
  const Json document = parse_checked(file, text, kKernelFile);
  check_schema(document, DocumentKind::kernel, file);
  return described::make_kernel(Reader(file, document).read());
}

}  // namespace roofcast::specs
