#include "gpu/tensor_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace tessera::bench {

namespace {

Type type_of(MatrixType t) {
    switch (t) {
    case MatrixType::F32: return Float(32);
    case MatrixType::F16: return Float(16);
    case MatrixType::BF16: return BFloat(16);
    case MatrixType::S8: return Int(8);
    case MatrixType::S32: return Int(32);
    case MatrixType::E4M3: return Float8E4M3();
    }
    throw std::invalid_argument("no such type");
}

double value_of(const Buffer<> &b, int64_t i) {
    const auto *data = static_cast<const uint8_t *>(b.data());
    const auto at = [&](auto of) {
        std::memcpy(&of, data + i * int64_t(sizeof of), sizeof of);
        return of;
    };
    if (b.type() == Float(32)) return double(at(float()));
    if (b.type() == Float(16)) return double(float(at(float16_t())));
    if (b.type() == BFloat(16)) return double(float(at(bfloat16_t())));
    if (b.type() == Float8E4M3()) return double(float(at(float8_e4m3_t())));
    return b.type() == Int(8) ? double(at(int8_t())) : double(at(int32_t()));
}

// Random values: between -1 and 1, or bytes from -4 to 4, whose sums are seldom cut.
const std::vector<uint8_t> &random_values(Type t) {
    static std::vector<std::pair<Type, std::vector<uint8_t>>> all;
    for (const auto &[type, values] : all)
        if (type == t) return values;
    const size_t count = size_t(1) << 24;
    std::vector<uint8_t> values(count * size_t(t.bytes()));
    std::minstd_rand random(17);
    for (size_t i = 0; i < count; i++) {
        const float v = float(random() % 4001) / 2000 - 1;
        const auto put = [&](auto value) {
            std::memcpy(&values[i * sizeof value], &value, sizeof value);
        };
        if (t == Float(32)) put(v);
        if (t == Float(16)) put(float16_t(v));
        if (t == BFloat(16)) put(bfloat16_t(v));
        if (t == Float8E4M3()) put(float8_e4m3_t(v));
        if (t == Int(8)) put(int8_t(std::lround(v * 4)));
    }
    all.emplace_back(t, std::move(values));
    return all.back().second;
}

Buffer<> random_matrix(Type t, const std::vector<int> &sizes, size_t seed) {
    Buffer<> b(t, sizes);
    const std::vector<uint8_t> &values = random_values(t);
    auto *data = static_cast<uint8_t *>(b.data());
    const size_t bytes = b.size_in_bytes();
    size_t from = seed * 7919 * 64 % values.size();
    for (size_t at = 0; at < bytes;) {
        const size_t part = std::min(bytes - at, values.size() - from);
        std::memcpy(data + at, &values[from], part);
        at += part;
        from = 0;
    }
    b.set_host_dirty();
    b.copy_to_device(Target("host-cuda"));
    return b;
}

uint64_t address(const Buffer<> &b) { return b.defined() ? b.raw_buffer()->device : 0; }

apps::TensorShape shape_of(const MatrixProduct &p) {
    return {p.m,
            p.n,
            p.k,
            type_of(p.operand).bytes(),
            type_of(p.result).bytes(),
            p.batch,
            p.a_by_columns,
            p.b_by_columns};
}

apps::TensorConvShape shape_of(const ConvolutionShape &c) {
    return {c.n, c.c, c.h, c.w, c.k, c.r, c.s, c.stride, c.padding};
}

std::string name_of(const apps::TensorTiles &t) {
    std::string name = std::to_string(t.rows) + "x" + std::to_string(t.columns) + "/" +
                       std::to_string(t.warpgroups) + " " + std::to_string(t.stages) + "st";
    if (t.resident > 1) name += " " + std::to_string(t.resident) + "res";
    if (t.slices > 1) name += " split" + std::to_string(t.slices);
    if (t.persistent) name += " pers";
    if (t.roles) name += " roles";
    if (t.warp_rows > 0)
        name += " mma " + std::to_string(t.warp_rows) + "x" + std::to_string(t.warp_columns);
    return name;
}

std::string ptx_of(Func out, const std::vector<Argument> &arguments) {
    const Target target("x86-64-linux-cuda-cuda_capability_90");
    const Module m = Pipeline(out).compile_to_module(arguments, "f", target);
    const Buffer<uint8_t> code = m.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

TensorVariant variant(const TensorProblem &p, const apps::TensorTiles &tiles) {
    const auto scheduled = [product = p.product, tiles] {
        const Type operand = type_of(product.operand);
        apps::TensorGemm gemm(
            shape_of(product),
            {operand, operand.is_int() ? Int(32) : Float(32), type_of(product.result)},
            product.bias_gelu ? apps::TensorGemm::Epilogue::BiasGelu
                              : apps::TensorGemm::Epilogue::None);
        gemm.schedule(tiles);
        std::vector<Argument> arguments = {gemm.a, gemm.b};
        if (product.bias_gelu) arguments.emplace_back(gemm.bias);
        return std::pair(gemm.out, arguments);
    };
    return {name_of(tiles),
            [scheduled](const Target &target) {
                const auto [out, arguments] = scheduled();
                return Pipeline(out).compile_to_callable(arguments, target);
            },
            [scheduled] {
                const auto [out, arguments] = scheduled();
                return ptx_of(out, arguments);
            }};
}

// The same, whose kernels begin while those before them end.
TensorVariant dependent(TensorVariant v) {
    v.name += " dependent";
    v.is_dependent = true;
    return v;
}

TensorVariant variant(const TensorProblem &p, const apps::TensorConvTiles &tiles) {
    const auto scheduled = [shape = *p.convolution, tiles] {
        apps::TensorConv conv(shape_of(shape), shape.relu);
        conv.schedule(tiles);
        return std::pair(conv.out, std::vector<Argument>{conv.in, conv.filter});
    };
    return {std::to_string(tiles.q) + "x" + std::to_string(tiles.p) + "x" +
                std::to_string(tiles.images) + " " + name_of(tiles.of_product),
            [scheduled](const Target &target) {
                const auto [out, arguments] = scheduled();
                return Pipeline(out).compile_to_callable(arguments, target);
            },
            [scheduled] {
                const auto [out, arguments] = scheduled();
                return ptx_of(out, arguments);
            }};
}

}  // namespace

double TensorProblem::operations() const {
    if (convolution) {
        const ConvolutionShape &c = *convolution;
        return 2.0 * c.n * c.p() * c.q() * c.k * c.c * c.r * c.s;
    }
    return 2.0 * product.batch * product.m * product.n * product.k;
}

std::string TensorProblem::sizes() const {
    const auto text = [](std::initializer_list<int> all) {
        std::string joined;
        for (int n : all) joined += (joined.empty() ? "" : "x") + std::to_string(n);
        return joined;
    };
    if (convolution) {
        const ConvolutionShape &c = *convolution;
        return "N" + text({c.n}) + " C" + text({c.c}) + " " + text({c.h, c.w}) + " K" +
               text({c.k}) + " " + text({c.r, c.s}) + (c.stride > 1 ? " /2" : "");
    }
    const MatrixProduct &p = product;
    return (p.batch > 1 ? std::to_string(p.batch) + " of " : "") + text({p.m, p.n, p.k}) +
           (p.a_by_columns ? " T" : " N") + (p.b_by_columns ? "T" : "N");
}

std::vector<TensorVariant> variants_of(const TensorProblem &p, int more) {
    std::vector<TensorVariant> all;
    std::set<std::string> seen;  // names
    const auto add = [&](auto tiles) {
        TensorVariant v = variant(p, tiles);
        if (!seen.insert(v.name).second) return;
        all.push_back(std::move(v));
        // The time between kernels shows where they take less than 50 microseconds.
        if (all.size() == 1 && p.operations() < 2e10) all.push_back(dependent(all[0]));
    };
    if (p.capability < 90) {
        add(apps::choose_mma_tiles(shape_of(p.product)));
        return all;
    }
    if (p.convolution) {
        // Others of each size of a tile, and the same in tiles of other places.
        const auto tiles = apps::possible_tiles(shape_of(*p.convolution));
        const std::string first = name_of(tiles.front().of_product);
        std::set<std::vector<int>> kinds;
        int of_other_places = 0;
        for (const apps::TensorConvTiles &t : tiles) {
            if (int(all.size()) > more + 1) break;
            const apps::TensorTiles &of = t.of_product;
            if (kinds.insert({of.rows, of.columns, of.warpgroups, of.resident, of.slices}).second)
                add(t);
            else if (name_of(of) == first && of_other_places++ < more / 2)
                add(t);
        }
        return all;
    }
    // Others of each size of a tile, and the fastest of those with a warp that copies ahead.
    const auto tiles = apps::possible_tiles(shape_of(p.product));
    std::set<std::pair<int, int>> sizes;
    for (const apps::TensorTiles &t : tiles) {
        if (int(all.size()) > more) break;
        if (sizes.insert({t.rows, t.columns}).second) add(t);
    }
    const int of_row = p.product.k * type_of(p.product.operand).bytes();
    if (more == 0 || of_row % 16 != 0 || p.product.n % 8 != 0) return all;
    const auto first = std::find_if(tiles.begin(), tiles.end(),
                                    [](const apps::TensorTiles &t) { return t.resident == 1; });
    if (first == tiles.end()) return all;
    apps::TensorTiles with_roles = *first;
    with_roles.roles = true;
    add(with_roles);
    with_roles.persistent = true;
    add(with_roles);
    return all;
}

TensorOperands::TensorOperands(const TensorProblem &p) : problem(p) {
    const MatrixProduct &m = p.product;
    std::vector<std::vector<int>> shapes;
    std::vector<Type> types;
    if (p.convolution) {
        const ConvolutionShape &c = *p.convolution;
        shapes = {{c.c, c.w, c.h, c.n}, {c.c, c.s, c.r, c.k}, {c.k, c.q(), c.p(), c.n}};
        types = {Float(16), Float(16), Float(16)};
    } else {
        shapes = {{m.a_by_columns ? m.m : m.k, m.a_by_columns ? m.k : m.m},
                  {m.b_by_columns ? m.k : m.n, m.b_by_columns ? m.n : m.k},
                  {m.n, m.m}};
        types = {type_of(m.operand), type_of(m.operand), type_of(m.result)};
        if (m.batch > 1)
            for (std::vector<int> &s : shapes) s.push_back(m.batch);
    }
    size_t bytes = 0;
    for (size_t i = 0; i < shapes.size(); i++) {
        size_t of_one = size_t(types[i].bytes());
        for (int n : shapes[i]) of_one *= size_t(n);
        bytes += of_one;
    }
    // Twice what the L2 cache holds.
    const size_t count = std::clamp<size_t>((size_t(120) << 20) / bytes + 1, 2, 48);
    for (size_t i = 0; i < count; i++) {
        Set set{random_matrix(types[0], shapes[0], 4 * i),
                random_matrix(types[1], shapes[1], 4 * i + 1),
                {},
                Buffer<>(types[2], shapes[2])};
        if (m.bias_gelu) set.bias = random_matrix(types[2], {m.n}, 4 * i + 2);
        std::memset(set.out.data(), 0x11, set.out.size_in_bytes());
        set.out.set_host_dirty();
        set.out.copy_to_device(Target("host-cuda"));
        sets.push_back(std::move(set));
    }
}

void TensorOperands::call(const Callable &ours, int i) const {
    const Set &set = sets[size_t(i) % sets.size()];
    std::vector<CallableArgument> arguments = {set.a, set.b};
    if (set.bias.defined()) arguments.emplace_back(set.bias);
    arguments.emplace_back(set.out);
    ours.call(arguments);
}

void TensorOperands::call(const CublasLt::Call &theirs, int i, void *stream) const {
    const Set &set = sets[size_t(i) % sets.size()];
    theirs(address(set.a), address(set.b), address(set.bias), address(set.out), stream);
}

void TensorOperands::call(const Cudnn::Call &theirs, int i) const {
    const Set &set = sets[size_t(i) % sets.size()];
    theirs(address(set.a), address(set.b), address(set.out));
}

double TensorOperands::expected(const std::vector<int> &at) const {
    const Set &set = sets[0];
    const auto place = [](const Buffer<> &b, std::initializer_list<int> at) {
        int64_t place = 0;
        int d = 0;
        for (int i : at) {
            place += int64_t(i) * b.dim(d).stride();
            if (++d == b.dimensions()) break;
        }
        return place;
    };
    double sum = 0;
    if (problem.convolution) {
        const ConvolutionShape &c = *problem.convolution;
        for (int r = 0; r < c.r; r++)
            for (int s = 0; s < c.s; s++) {
                const int x = at[1] * c.stride + s - c.padding,
                          y = at[2] * c.stride + r - c.padding;
                if (x < 0 || y < 0 || x >= c.w || y >= c.h) continue;
                for (int i = 0; i < c.c; i++)
                    sum += value_of(set.a, place(set.a, {i, x, y, at[3]})) *
                           value_of(set.b, place(set.b, {i, s, r, at[0]}));
            }
        return c.relu ? std::max(sum, 0.0) : sum;
    }
    const MatrixProduct &p = problem.product;
    const int z = p.batch > 1 ? at[2] : 0;
    for (int k = 0; k < p.k; k++)
        sum += value_of(set.a, p.a_by_columns ? place(set.a, {at[1], k, z})
                                              : place(set.a, {k, at[1], z})) *
               value_of(set.b,
                        p.b_by_columns ? place(set.b, {k, at[0], z}) : place(set.b, {at[0], k, z}));
    if (p.bias_gelu) {
        const double v = sum + value_of(set.bias, at[0]);
        return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
    }
    return p.result == MatrixType::S8 ? std::clamp(sum, -128.0, 127.0) : sum;
}

double TensorOperands::error() {
    Buffer<> &out = sets[0].out;
    out.set_device_dirty();
    out.copy_to_host();
    const ConvolutionShape c = problem.convolution.value_or(ConvolutionShape{});
    const double length = problem.convolution ? double(c.c) * c.r * c.s : double(problem.product.k);
    double worst = 0;
    for (size_t i = 0; i < 500; i++) {
        std::vector<int> at;
        int64_t place = 0, seed = int64_t(i) * 7919 + 13;
        for (int d = 0; d < out.dimensions(); d++) {
            const int extent = out.dim(d).extent();
            // The corners, too.
            at.push_back(i < 16 ? ((i >> d) & 1 ? extent - 1 : 0) : int(seed % extent));
            seed = seed / 3 + int64_t(i) * 104729;
            place += int64_t(at.back()) * out.dim(d).stride();
        }
        if (i == right.size()) right.push_back(expected(at));
        worst = std::max(worst, std::abs(value_of(out, place) - right[i]));
    }
    std::memset(out.data(), 0x11, out.size_in_bytes());
    out.set_host_dirty();
    out.copy_to_device(Target("host-cuda"));
    return worst / std::sqrt(length);
}

std::vector<TensorProblem> tensor_problems() {
    std::vector<TensorProblem> all;
    const auto gemm = [&](const char *name, MatrixProduct p, const char *group = "") {
        all.push_back({name, p, {}, group});
    };
    using enum MatrixType;
    for (int n : {512, 1024, 2048, 4096, 8192})
        for (bool columns : {true, false})
            gemm("f16", {n, n, n, 1, false, columns}, n > 1024 ? "f16 large" : "f16 small");
    for (int n : {2048, 4096, 8192}) gemm("bf16", {n, n, n, 1, false, true, BF16, BF16}, "bf16");
    for (int n : {1024, 2048, 4096, 8192}) gemm("s8 s32", {n, n, n, 1, false, true, S8, S32}, "s8");
    for (int n : {4096, 8192}) gemm("e4m3", {n, n, n, 1, false, true, E4M3, F16}, "e4m3");
    gemm("s8 s8", {4096, 4096, 4096, 1, false, true, S8, S8});
    for (int n : {2048, 4096, 8192}) gemm("tf32", {n, n, n, 1, false, true, F32, F32}, "tf32");
    for (int n : {1024, 2048, 4096, 8192})
        gemm("f16 to f32", {n, n, n, 1, false, true, F16, F32}, "f32 out");
    const int shapes[][3] = {{4096, 768, 768},  {4096, 2304, 768},   {4096, 3072, 768},
                             {4096, 768, 3072}, {128, 4096, 4096},   {16384, 4096, 512},
                             {1000, 777, 333},  {16384, 1024, 1024}, {8192, 64, 8192}};
    for (const auto &[m, n, k] : shapes)
        for (bool columns : {true, false}) gemm("f16", {m, n, k, 1, false, columns}, "shapes");
    gemm("f16", {512, 512, 512, 16, false, true}, "shapes");
    for (bool a : {false, true})
        for (bool b : {false, true}) gemm("transposes", {4096, 4096, 4096, 1, a, b}, "shapes");
    for (int n : {2048, 4096, 8192}) {
        gemm("f16, sm_80", {n, n, n, 1, false, true}, "sm_80");
        all.back().capability = 80;
    }
    gemm("bias + GELU", {4096, 4096, 4096, 1, false, true, F16, F16, true});
    const auto convolution = [&](const char *name, ConvolutionShape c, const char *group = "") {
        all.push_back({name, {}, c, group});
    };
    convolution("TVM's", {256, 256, 14, 14, 512, 3, 3, 1, 1});
    convolution("AMOS's", {1, 128, 28, 28, 128, 3, 3, 1, 1});
    for (int n : {1, 16}) {
        const char *group = n == 1 ? "ResNet-18, 1" : "ResNet-18, 16";
        convolution("ResNet-18", {n, 3, 224, 224, 64, 7, 7, 2, 3}, group);
        for (const auto &[size, channels] : {std::pair(56, 64), {28, 128}, {14, 256}, {7, 512}}) {
            convolution("ResNet-18", {n, channels, size, size, channels, 3, 3, 1, 1}, group);
            if (size == 56) continue;
            const int before = channels / 2;
            convolution("ResNet-18", {n, before, 2 * size, 2 * size, channels, 3, 3, 2, 1}, group);
            convolution("ResNet-18", {n, before, 2 * size, 2 * size, channels, 1, 1, 2, 0}, group);
        }
    }
    return all;
}

}  // namespace tessera::bench
