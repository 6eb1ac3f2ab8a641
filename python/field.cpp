#include "python/field.hpp"

#include <fmt/format.h>

#include "cli/input/numbers.hpp"
#include "model/types/problem.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

using Kind = cli::QueryField::Kind;

void assign(std::string& text, PyObject* object) {
  Py_ssize_t size = 0;
  const char* letters = PyUnicode_AsUTF8AndSize(object, &size);
  if (letters == nullptr) throw py::error_already_set();
  text.assign(letters, static_cast<std::size_t>(size));
}

void take_whole(std::int64_t value, Kind kind, cli::QueryField& field) {
  field.kind = kind;
  field.whole = value;
  field.real = static_cast<double>(value);
}

void take_integer(PyObject* value, cli::QueryField& field) {
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) {
    throw InputError(fmt::format("'{}' is {}: beyond any size", field.key,
                                 py::str(py::handle(value)).cast<std::string>()));
  }
  if (whole == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  take_whole(whole, Kind::whole, field);
}

void take_real(PyObject* value, cli::QueryField& field) {
  const double real = PyFloat_AsDouble(value);
  if (real == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (const auto whole = cli::whole_of(real)) return take_whole(*whole, Kind::whole, field);
  field.kind = Kind::real;
  field.real = real;
}

}  // namespace

void read_field(py::handle key, py::handle value, cli::QueryField& field) {
  assign(field.key, key.ptr());
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) return take_whole(object == Py_True ? 1 : 0, Kind::flag, field);
  if (PyLong_Check(object)) return take_integer(object, field);
  if (PyUnicode_Check(object)) {
    field.kind = Kind::text;
    return assign(field.text, object);
  }
  if (PyFloat_Check(object)) return take_real(object, field);
  if (PyIndex_Check(object)) {
    return take_integer(py::reinterpret_steal<py::object>(PyNumber_Index(object)).ptr(), field);
  }
  // Takes scalars such as NumPy's float32; PyNumber_Check alone also accepts arrays.
  if (PyNumber_Check(object) != 0 && !py::isinstance<py::iterable>(value)) {
    return take_real(object, field);
  }
  throw InputError(
      fmt::format("'{}' takes one number or text, not {}; roofcast.sweep takes several", field.key,
                  py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>()));
}

}  // namespace roofcast::python
