#include "callable.h"
#include "docs/params.h"

// Libraries that were compiled ahead of time: tessera.load makes an object of their functions.
namespace tessera::python {

void bind_library(nb::module_ &m) {
    m.def(
        "load_library",
        [](const std::filesystem::path &path) {
            const Here at = here();
            std::map<std::string, Callable> functions;
            {
                nb::gil_scoped_release no_gil;
                functions = load_library(path.string(), at);
            }
            nb::dict all;
            for (const auto &[name, callable] : functions) {
                const nb::object function = nb::cast(callable);
                nb::setattr(function, "__name__", nb::str(name.c_str()));
                nb::setattr(function, "__doc__", nb::str(description(callable).c_str()));
                all[name.c_str()] = function;
            }
            return all;
        },
        "path"_a, nb::sig("def load_library(path: str | os.PathLike[str]) -> dict[str, Callable]"),
        docs::library::load);
    m.def(
        "_link_shared",
        [](const std::filesystem::path &library, const std::filesystem::path &output) {
            const Here at = here();
            nb::gil_scoped_release no_gil;
            link_shared(library.string(), output.string(), at);
        },
        "library"_a, "output"_a);
}

}  // namespace tessera::python
