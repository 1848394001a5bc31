#include "docs/types.h"
#include "bindings.h"

namespace tessera::python {
namespace {

// Returns a limit of a type; a float has none but infinities.
void define_limits(nb::class_<Type> &c) {
    c.def(
         "max", [](Type t) { return t.max(); }, docs::type::max)
        .def(
            "min", [](Type t) { return t.min(); }, docs::type::min)
        .def(
            "can_represent",
            [](Type t, nb::handle value) {
                if (PyFloat_Check(value.ptr()))
                    return t.can_represent(PyFloat_AsDouble(value.ptr()));
                if (!PyLong_Check(value.ptr())) return t.can_represent(to_type(value));
                int overflow = 0;
                const long long n = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
                if (!overflow) return t.can_represent(int64_t(n));
                const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
                const bool fits = !PyErr_Occurred() && t.can_represent(uint64_t(large));
                PyErr_Clear();
                return fits;
            },
            "value"_a, docs::type::can_represent)
        .def(
            "is_max",
            [](Type t, int64_t value) {
                return t.is_max(value) || (value >= 0 && t.is_max(uint64_t(value)));
            },
            "value"_a, docs::type::is_max)
        .def(
            "is_max", [](Type t, uint64_t value) { return t.is_max(value); }, "value"_a,
            docs::type::is_max)
        .def(
            "is_min",
            [](Type t, int64_t value) {
                return t.is_min(value) || (value >= 0 && t.is_min(uint64_t(value)));
            },
            "value"_a, docs::type::is_min)
        .def(
            "is_min", [](Type t, uint64_t value) { return t.is_min(value); }, "value"_a,
            docs::type::is_min);
}

}  // namespace

void bind_types(nb::module_ &m) {
    nb::class_<Type> c(m, "Type", docs::type::class_);
    c.def(
         "__init__",
         [](Type *t, TypeCode code, int bits, int lanes) {
             const Here at = here();
             called_at(at, [&] { new (t) Type(code, bits, lanes); });
         },
         "code"_a, "bits"_a, "lanes"_a = 1, docs::type::init)
        .def(nb::init<>(), docs::type::empty)
        .def("code", &Type::code, docs::type::code)
        .def("bits", &Type::bits, docs::type::bits)
        .def("bytes", &Type::bytes, docs::type::bytes)
        .def("lanes", &Type::lanes, docs::type::lanes)
        .def("defined", &Type::defined, docs::type::defined)
        .def("is_int", &Type::is_int, docs::type::is_int)
        .def("is_uint", &Type::is_uint, docs::type::is_uint)
        .def("is_int_or_uint", &Type::is_int_or_uint, docs::type::is_int_or_uint)
        .def(
            "is_float", [](Type t) { return t.is_float(); }, docs::type::is_float)
        .def("is_bfloat", &Type::is_bfloat, docs::type::is_bfloat)
        .def(
            "is_float8", [](Type t) { return t.is_float8(); }, docs::type::is_float8)
        .def("is_bool", &Type::is_bool, docs::type::is_bool)
        .def("is_handle", &Type::is_handle, docs::type::is_handle)
        .def("is_scalar", &Type::is_scalar, docs::type::is_scalar)
        .def("is_vector", &Type::is_vector, docs::type::is_vector)
        .def(
            "same_handle_type", [](Type t, const TypeLike &o) { return t.same_handle_type(o); },
            "other"_a, docs::type::same_handle_type)
        .def("with_bits", &Type::with_bits, "bits"_a, docs::type::with_bits)
        .def("with_lanes", &Type::with_lanes, "lanes"_a, docs::type::with_lanes)
        .def(
            "with_code", [](Type t, TypeCode code) { return t.with_code(code); }, "code"_a,
            docs::type::with_code)
        .def("element_of", &Type::element_of, docs::type::element_of)
        .def("widen", &Type::widen, docs::type::widen)
        .def("narrow", &Type::narrow, docs::type::narrow)
        .def(
            "__eq__", [](Type a, const TypeLike &b) { return a == b.get(); }, nb::is_operator())
        .def(
            "__lt__", [](Type a, const TypeLike &b) { return a < b.get(); }, nb::is_operator())
        .def("__hash__", [](Type t) { return nb::hash(nb::str(str(t).c_str())); })
        .def("__repr__", [](Type t) { return t.defined() ? str(t) : "<undefined Type>"; })
        .def("__getstate__", [](Type t) { return std::tuple(int(t.code()), t.bits(), t.lanes()); })
        .def("__setstate__", [](Type &t, const std::tuple<int, int, int> &state) {
            new (&t) Type(Type::unchecked(TypeCode(std::get<0>(state)), std::get<1>(state),
                                          std::get<2>(state)));
        });
    define_limits(c);
    const auto make = [](TypeCode code) {
        return [code](int bits, int lanes) {
            const Here at = here();
            return called_at(at, [&] { return Type(code, bits, lanes); });
        };
    };
    m.def("Int", make(TypeCode::Int), "bits"_a, "lanes"_a = 1, docs::type::Int);
    m.def("UInt", make(TypeCode::UInt), "bits"_a, "lanes"_a = 1, docs::type::UInt);
    m.def("Float", make(TypeCode::Float), "bits"_a, "lanes"_a = 1, docs::type::Float);
    m.def("BFloat", make(TypeCode::BFloat), "bits"_a = 16, "lanes"_a = 1, docs::type::BFloat);
    m.def(
        "Float8E4M3", [](int lanes) { return Float8E4M3().with_lanes(lanes); }, "lanes"_a = 1,
        docs::type::Float8E4M3);
    m.def(
        "Float8E5M2", [](int lanes) { return Float8E5M2().with_lanes(lanes); }, "lanes"_a = 1,
        docs::type::Float8E5M2);
    m.def(
        "Bool", [](int lanes) { return Bool().with_lanes(lanes); }, "lanes"_a = 1,
        docs::type::Bool);
    m.def(
        "Handle", [](int lanes) { return Handle().with_lanes(lanes); }, "lanes"_a = 1,
        docs::type::Handle);
}

}  // namespace tessera::python
