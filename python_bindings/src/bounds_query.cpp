#include "callable.h"
#include "docs/params.h"
#include <deque>

// Asks a compiled function which regions of its inputs it reads.
namespace tessera::python {
namespace {

// Stands for the memory of outputs, which is not looked at: a buffer without one is asked for.
alignas(128) uint8_t nothing[128];

class Query {
public:
    // `given`: nothing for an input that is asked for.
    void add(const Argument &wanted, size_t index, nb::handle given) {
        const WhichArgument which{wanted, index};
        if (wanted.is_scalar()) {
            passed.emplace_back(wanted.type, scalar_argument(wanted, given, which));
        } else if (!given.is_valid()) {
            ArrayView &view = add_view(wanted);
            for (int d = 0; d < view.raw.dimensions; d++) view.raw.dim[d] = {0, 0, 0, 0};
            asked.emplace_back(visible_name(wanted), &view.raw);
        } else if (const Buffer<> *b = as_buffer(given)) {
            if (!b->defined()) throw nb::type_error(str(which, ": an undefined Buffer").c_str());
            check_argument(wanted, b->contents().raw, false, which);
            passed.emplace_back(&b->contents().raw);
        } else if (wanted.is_output() && is_shape(given)) {
            set_shape(wanted, shape_argument(wanted, given, which));
        } else {
            read_argument(wanted, given, which, views.emplace_back());
            passed.emplace_back(&views.back().raw);
        }
    }

    nb::dict ask(const Callable &callable) {
        RunContext context(callable);
        {
            nb::gil_scoped_release no_gil;
            callable.infer_input_bounds(passed, context.get(), {});
        }
        nb::dict regions;
        for (const auto &[name, b] : asked) {
            nb::list region;
            for (int d = 0; d < b->dimensions; d++)
                region.append(nb::make_tuple(b->dim[d].min, b->dim[d].extent));
            regions[name.c_str()] = region;
        }
        return regions;
    }

private:
    ArrayView &add_view(const Argument &wanted) {
        ArrayView &view = views.emplace_back();
        view.raw.type = wanted.type;
        view.shape_of(wanted.dimensions);
        passed.emplace_back(&view.raw);
        return view;
    }
    // An output that is not there: it begins at 0, and its elements lie close together.
    void set_shape(const Argument &wanted, const std::vector<int64_t> &shape) {
        ArrayView &view = add_view(wanted);
        int32_t stride = 1;
        for (size_t d = 0; d < shape.size(); d++) {
            const int32_t extent = int32_t(shape[shape.size() - 1 - d]);
            view.raw.dim[d] = {0, extent, stride, 0};
            stride *= std::max(extent, 1);
        }
        view.raw.host = nothing;
    }

    std::deque<ArrayView> views;
    std::vector<CallableArgument> passed;
    std::vector<std::pair<std::string, const tessera_buffer_t *>> asked;
};

nb::dict infer_input_bounds(const Callable &callable, const nb::args &args,
                            const nb::kwargs &keywords) {
    GivenArguments given(callable, args.ptr(), keywords.ptr());
    Query query;
    for (size_t i = 0; i < given.size(); i++) query.add(given.wanted(i), i, given.take_or_ask(i));
    given.end();
    return called_at(here(), [&] { return query.ask(callable); });
}

}  // namespace

void define_bounds_query(nb::class_<Callable> &c) {
    c.def("infer_input_bounds", &infer_input_bounds,
          nb::sig("def infer_input_bounds(self, *args: Any, **kwargs: Any) -> "
                  "dict[str, list[tuple[int, int]]]"),
          docs::callable::infer_input_bounds);
}

}  // namespace tessera::python
