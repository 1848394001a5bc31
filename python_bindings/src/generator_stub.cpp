#include "generator.h"

namespace tessera::python {

// A generator of C++ that is called by its name: it does what a `_Generator` does for one of
// Python's.
void bind_generator_stub(nb::module_ &m) {
    nb::class_<GeneratorStub>(m, "_GeneratorStub")
        .def("__init__",
             [](GeneratorStub *self, const std::string &name, const Target &target,
                const AutoschedulerParams &scheduler) {
                 called_at(here(), [&] {
                     new (self) GeneratorStub(name, GeneratorContext(target, scheduler));
                 });
             })
        .def("set_params",
             [](GeneratorStub &s, const nb::dict &params) {
                 called_at(here(), [&] {
                     for (auto [name, value] : params) s.set(text_of(name), to_param_value(value));
                 });
             })
        .def("bind_input",
             [](GeneratorStub &s, const std::string &name, nb::handle value) {
                 called_at(here(),
                           [&] { s.input(name, to_input_values(value, name, is_tuple(value))); });
             })
        .def("output_funcs",
             [](GeneratorStub &s, const std::string &name) {
                 return called_at(here(), [&] { return s.outputs(name); });
             })
        .def("pipeline",
             [](GeneratorStub &s) { return called_at(here(), [&] { return s.pipeline(); }); });
}

}  // namespace tessera::python
