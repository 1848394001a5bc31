#include "gpu/cudnn.h"
#include "tessera_runtime_cuda.h"

#include <dlfcn.h>
#include <stdexcept>

namespace tessera::bench {

namespace {

// These are constants of cudnn_graph_v9.h.
namespace type {
constexpr int handle = 0, data_type = 1, boolean = 2, int64 = 3, float32 = 4, pointer = 6,
              convolution_mode = 7, heuristic_mode = 8, pointwise_mode = 14, descriptor = 15;
}
namespace kind {
constexpr int pointwise = 0, convolution = 1, configuration = 3, heuristic = 4, plan = 5,
              forward = 10, operation_pointwise = 13, graph = 15, pack = 16, tensor = 17;
}
constexpr int float_type = 0, half_type = 2, cross_correlation = 1, relu = 100;
constexpr int heuristic_instant = 0, heuristic_a = 3;

void check(int failed, const std::string &what) {
    if (failed) throw std::runtime_error("cuDNN: " + what + " returns " + std::to_string(failed));
}

}  // namespace

struct Cudnn::Functions {
    int (*create)(void **);
    int (*set_stream)(void *, void *);
    int (*create_descriptor)(int, void **);
    int (*set)(void *, int, int, int64_t, const void *);
    int (*get)(void *, int, int, int64_t, int64_t *, void *);
    int (*finalize)(void *);
    int (*execute)(void *, void *, void *);

    void *descriptor(int kind) const {
        void *d = nullptr;
        check(create_descriptor(kind, &d), "cudnnBackendCreateDescriptor");
        return d;
    }
    template<typename T> void put(void *d, int attribute, int type, const std::vector<T> &v) const {
        check(set(d, attribute, type, int64_t(v.size()), v.data()),
              "attribute " + std::to_string(attribute));
    }
    template<typename T> void put(void *d, int attribute, int type, T value) const {
        check(set(d, attribute, type, 1, &value), "attribute " + std::to_string(attribute));
    }
    void *finished(void *d, const char *what) const {
        check(finalize(d), what);
        return d;
    }
    // The distances are those of channels that are neighbours.
    void *tensor(int64_t id, std::vector<int64_t> sizes, bool is_virtual = false) const {
        void *d = descriptor(kind::tensor);
        const std::vector<int64_t> strides = {sizes[1] * sizes[2] * sizes[3], 1,
                                              sizes[1] * sizes[3], sizes[1]};
        put(d, 901, type::data_type, is_virtual ? float_type : half_type);
        put(d, 902, type::int64, sizes);
        put(d, 903, type::int64, strides);
        put(d, 906, type::int64, id);
        put(d, 900, type::int64, int64_t(16));
        if (is_virtual) put(d, 907, type::boolean, true);
        return finished(d, "a tensor");
    }
    void *forward(const ConvolutionShape &c, void *in, void *filter, void *out) const {
        void *d = descriptor(kind::convolution);
        const std::vector<int64_t> strides(2, c.stride), padding(2, c.padding), ones(2, 1);
        put(d, 100, type::data_type, float_type);
        put(d, 101, type::convolution_mode, cross_correlation);
        put(d, 102, type::int64, ones);
        put(d, 103, type::int64, strides);
        put(d, 104, type::int64, padding);
        put(d, 105, type::int64, padding);
        put(d, 106, type::int64, int64_t(2));
        finished(d, "a convolution");
        void *operation = descriptor(kind::forward);
        put(operation, 700, type::float32, 1.0f);
        put(operation, 701, type::float32, 0.0f);
        put(operation, 702, type::descriptor, d);
        put(operation, 703, type::descriptor, filter);
        put(operation, 704, type::descriptor, in);
        put(operation, 705, type::descriptor, out);
        return finished(operation, "the operation");
    }
    void *rectified(void *in, void *out) const {
        void *d = descriptor(kind::pointwise);
        put(d, 0, type::pointwise_mode, relu);
        put(d, 1, type::data_type, float_type);
        finished(d, "relu");
        void *operation = descriptor(kind::operation_pointwise);
        put(operation, 750, type::descriptor, d);
        put(operation, 751, type::descriptor, in);
        put(operation, 753, type::descriptor, out);
        return finished(operation, "the operation of relu");
    }
    std::vector<void *> configurations(void *graph, int mode, int most) const {
        void *d = descriptor(kind::heuristic);
        put(d, 201, type::descriptor, graph);
        put(d, 200, type::heuristic_mode, mode);
        if (finalize(d) != 0) return {};
        std::vector<void *> all;
        for (int i = 0; i < most; i++) all.push_back(descriptor(kind::configuration));
        int64_t found = 0;
        check(get(d, 202, type::descriptor, most, &found, all.data()), "the heuristic's results");
        all.resize(size_t(found));
        return all;
    }
};

Cudnn::Cudnn() {
    void *library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_GLOBAL);
    if (!library) return;
    static Functions all;
    const auto find = [&](auto &function, const char *name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        return function != nullptr;
    };
    if (!find(all.create, "cudnnCreate") || !find(all.set_stream, "cudnnSetStream") ||
        !find(all.create_descriptor, "cudnnBackendCreateDescriptor") ||
        !find(all.set, "cudnnBackendSetAttribute") || !find(all.get, "cudnnBackendGetAttribute") ||
        !find(all.finalize, "cudnnBackendFinalize") || !find(all.execute, "cudnnBackendExecute") ||
        all.create(&handle))
        handle = nullptr;
    functions = &all;
}

void Cudnn::set_stream(void *stream) { check(functions->set_stream(handle, stream), "set_stream"); }

std::vector<Cudnn::Call> Cudnn::prepare(const ConvolutionShape &c, int most) {
    const Functions &f = *functions;
    const std::vector<int64_t> of_out = {c.n, c.k, c.p(), c.q()};
    void *in = f.tensor('x', {c.n, c.c, c.h, c.w}), *filter = f.tensor('w', {c.k, c.c, c.r, c.s}),
         *out = f.tensor('y', of_out), *sums = c.relu ? f.tensor('s', of_out, true) : out;
    std::vector<void *> operations = {f.forward(c, in, filter, sums)};
    if (c.relu) operations.push_back(f.rectified(sums, out));
    void *graph = f.descriptor(kind::graph);
    f.put(graph, 800, type::handle, handle);
    f.put(graph, 801, type::descriptor, operations);
    f.finished(graph, "the graph");
    std::vector<Call> calls;
    for (int mode : {heuristic_a, heuristic_instant}) {
        for (void *configuration : f.configurations(graph, mode, 4 * most)) {
            if (int(calls.size()) == most) break;
            void *plan = f.descriptor(kind::plan);
            f.put(plan, 400, type::handle, handle);
            f.put(plan, 401, type::descriptor, configuration);
            if (f.finalize(plan) != 0) continue;  // not for this machine
            int64_t bytes = 0, count = 0;
            uint64_t workspace = 0;
            check(f.get(plan, 402, type::int64, 1, &count, &bytes), "the size of the workspace");
            const auto allocate = reinterpret_cast<int (*)(uint64_t *, size_t)>(
                tessera_cuda_get_symbol(nullptr, "cuMemAlloc_v2"));
            if (bytes > 0) check(allocate(&workspace, size_t(bytes)), "the workspace");
            calls.emplace_back([=, this, &f](uint64_t in, uint64_t filter, uint64_t out) {
                const std::vector<int64_t> ids = {'x', 'w', 'y'};
                const std::vector<uint64_t> pointers = {in, filter, out};
                void *pack = f.descriptor(kind::pack);
                f.put(pack, 1000, type::int64, ids);
                f.put(pack, 1001, type::pointer, pointers);
                f.put(pack, 1003, type::pointer, workspace);
                f.finished(pack, "the addresses");
                check(f.execute(handle, plan, pack), "cudnnBackendExecute");
            });
        }
        if (!calls.empty()) break;
    }
    if (calls.empty()) throw std::runtime_error("cuDNN has no plan");
    return calls;
}

}  // namespace tessera::bench
