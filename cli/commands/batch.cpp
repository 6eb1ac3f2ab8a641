#include "cli/commands/batch.hpp"

#include <algorithm>

#include "cli/commands/collective.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/input/query_fields.hpp"
#include "cli/input/task.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/step_output.hpp"

namespace roofcast::cli {
namespace {

/// The members of a query that name the kernel or model, the GPU and the type; null where absent.
struct Asked {
  const QueryField* kernel = nullptr;
  const QueryField* gpu = nullptr;
  const QueryField* dtype = nullptr;
  const QueryField* model = nullptr;
};

Asked find_names(const Query& query) {
  Asked asked;
  for (const QueryField& field : query) {
    if (field.key == "kernel") asked.kernel = &field;
    if (field.key == "gpu") asked.gpu = &field;
    if (field.key == "dtype") asked.dtype = &field;
    if (field.key == "model") asked.model = &field;
  }
  return asked;
}

bool is_in_catalog(std::string_view name) {
  const auto names = kernel_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void write_forecast(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                    const Gpu& gpu, const Assumptions& assumptions) {
  write_json(json, {kernel, gpu, predict(kernel, problem, gpu, assumptions)});
}

Batch::Batch(BatchDefaults defaults) : defaults_(std::move(defaults)) {
  // Paths of GPUs and kernels are opened only where the command line names them, never from a line.
  if (defaults_.gpu) gpus_.emplace(*defaults_.gpu, load_device(*defaults_.gpu, defaults_.device));
  if (!defaults_.kernel.empty()) kernels_.emplace(defaults_.kernel, kernel_named(defaults_.kernel));
  for (const std::string& path : defaults_.kernel_files) add_kernel_file(path);
}

void Batch::add_kernel_file(const std::string& path) {
  const KernelRef read = kernel_named(path);
  const std::string name(read.kernel != nullptr ? read.kernel->name : path);
  if (read.owner == nullptr || is_in_catalog(name) || !kernels_.emplace(name, read).second) {
    throw UsageError(
        "--kernel-file {}: {} is no name of its own: give a kernel file whose \"name\" no other "
        "kernel has",
        path, name);
  }
  kernels_.emplace(path, read);
}

const KernelRef& Batch::kernel(std::string_view name) {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  return kernels_.emplace(name, find_kernel(name)).first->second;
}

const Gpu& Batch::gpu(std::string_view name) {
  const auto found = gpus_.find(name);
  if (found != gpus_.end()) return found->second;
  if (specs::find_embedded(name) == nullptr) {
    throw InputError(no_such_device(name));
  }
  const std::string key(name);
  return gpus_.emplace(key, load_device(key, defaults_.device)).first->second;
}

const Gpu& Batch::changed(const std::string& name, const QueryFields& set) {
  constexpr std::size_t kMost = 64;  // devices kept
  DeviceOptions options = defaults_.device;
  std::string key = name;
  for (specs::Override& one : overrides_of(set)) {
    key += fmt::format("\n{}={}", one.key, one.value);
    options.overrides.push_back(std::move(one));
  }
  const auto found = changed_.find(key);
  if (found != changed_.end()) return found->second;
  if (changed_.size() >= kMost) changed_.clear();
  return changed_.emplace(key, load_device(name, options)).first->second;
}

const Gpu& Batch::device_of(const QueryField* field) {
  if (field == nullptr && !defaults_.gpu) {
    throw InputError("'gpu' is missing: put it in the line or give --gpu");
  }
  const std::string& name = field != nullptr ? text_of(*field) : *defaults_.gpu;
  const Gpu& known = gpu(name);
  return query_.set().empty() ? known : changed(name, query_.set());
}

void Batch::answer_collective(const QueryField& kernel, const QueryField* gpu_field,
                              fmt::memory_buffer& out) {
  transformer::Transfer question{collective_named(text_of(kernel)), 0, 0};
  for (const QueryField& field : query_) {
    if (&field == &kernel || &field == gpu_field) continue;
    read_collective_field(field, question);
  }
  JsonWriter json(out);
  write_json(json, question, device_of(gpu_field));
  json.newline();
}

void Batch::answer_model(const QueryField& model, const QueryField* gpu_field,
                         fmt::memory_buffer& out) {
  transformer::Task task;
  for (const QueryField& field : query_) {
    if (&field != &model && &field != gpu_field) read_task_field(field, task);
  }
  check_given(task);
  const std::string& name = text_of(model);
  JsonWriter json(out);
  write_json(json, answer_step(name, model_named(name), task, device_of(gpu_field)));
  json.newline();
}

void Batch::answer_line(std::string_view line, fmt::memory_buffer& out) {
  query_.read(line);
  const Asked asked = find_names(query_);
  const bool any_kernel = defaults_.kernel.empty();
  if (any_kernel && asked.model != nullptr) return answer_model(*asked.model, asked.gpu, out);
  if (asked.kernel == nullptr && any_kernel) {
    throw InputError("'kernel' is missing, such as \"gemm.tiled\"");
  }
  if (any_kernel && asked.kernel != nullptr && is_collective(text_of(*asked.kernel))) {
    return answer_collective(*asked.kernel, asked.gpu, out);
  }
  const KernelRef& found =
      kernel(asked.kernel != nullptr ? text_of(*asked.kernel) : defaults_.kernel);
  const Gpu& device = device_of(asked.gpu);

  Problem problem;
  problem.dtype = asked.dtype != nullptr ? read_dtype(text_of(*asked.dtype), found)
                                         : defaults_.dtype.value_or(default_dtype(found));
  Assumptions assumptions = defaults_.assumptions;
  unsigned given = 0;
  for (const QueryField& field : query_) {
    if (&field == asked.kernel || &field == asked.gpu || &field == asked.dtype) continue;
    if (!read_parameter(field, found.parameters(), problem, given) &&
        !read_assumption(field, assumptions)) {
      refuse_unknown(found, field.key);
    }
  }
  check(found, problem, given);
  JsonWriter json(out);
  defaults_.write(json, found, problem, device, assumptions);
  json.newline();
}

bool Batch::answer(std::string_view line, std::int64_t number, fmt::memory_buffer& out) {
  const std::size_t begin = out.size();
  const auto refuse = [&](std::string_view kind, std::string_view message) {
    out.resize(begin);
    JsonWriter json(out);
    json.begin_object();
    json.begin_object("error");
    json.member("kind", kind);
    json.member("message", message);
    json.end_object();
    json.member("line", number);
    json.end_object();
    json.newline();
    return false;
  };
  try {
    answer_line(line, out);
    return true;
  } catch (const InputError& error) {
    return refuse("bad_input", error.what());
  } catch (const UsageError& error) {
    return refuse("bad_input", error.what());
  } catch (const std::exception& error) {
    return refuse("internal", error.what());
  }
}

}  // namespace roofcast::cli
