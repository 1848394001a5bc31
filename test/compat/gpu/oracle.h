#pragma once
#include "../program.h"

// Programs for a GPU, run by the interpreter, which finds races, barriers that are missing, and
// what nobody has written; and on the GPU, where there is one: each computes what it computes on
// the CPU.
inline const std::vector<Target> &gpu_targets() {
    static const std::vector<Target> all = [] {
        std::vector<Target> targets = {Target("host-cuda-interpret")};
        const Target real("host-cuda");
        if (host_supports_target_device(real)) targets.push_back(real);
        return targets;
    }();
    return all;
}

// Roundings differ, and functions of mathematics are others.
template<typename T>
bool is_near(T wanted, T found) {
    if constexpr (std::is_floating_point_v<T>) {
        const T size = std::max({std::fabs(wanted), std::fabs(found), T(1)});
        return std::fabs(wanted - found) <= size * T(3e-5);
    }
    return wanted == found;
}

template<typename T>
bool is_same(const Buffer<T> &wanted, const Buffer<T> &found) {
    bool same = wanted.dimensions() == found.dimensions();
    wanted.for_each_element([&](const int *at) {
        if (is_near(wanted(at), found(at)) || !same) return;
        same = false;
        std::string place;
        for (int d = 0; d < wanted.dimensions(); d++) place += " " + std::to_string(at[d]);
        std::printf("at%s: %g instead of %g\n", place.c_str(), double(found(at)),
                    double(wanted(at)));
    });
    return same;
}

// Whether there is code for a GPU of it, which is not run.
inline bool is_code(Func f) {
    Internal::TemporaryFile file("kernels", ".ptx");
    f.compile_to({{OutputFileType::device_code, file.pathname()}}, f.infer_arguments(), "f",
                 Target("host-cuda-cuda_capability_80"));
    const std::vector<char> text = Internal::read_entire_file(file.pathname());
    const bool has_entry =
        std::string(text.begin(), text.end()).find(".entry") != std::string::npos;
    if (const char *folder = std::getenv("KEEP_PTX")) {
        static int number = 0;
        Internal::write_entire_file(std::string(folder) + "/" + std::to_string(number++) + ".ptx",
                                    text.data(), text.size());
    }
    return has_entry;
}

// `make(gpu)` is the Func, scheduled for the GPU or not at all.
template<typename T, typename Make>
bool same_on_gpu(Make make, const std::vector<int> &sizes) {
    Func plain = make(false), scheduled = make(true);
    Buffer<T> wanted = plain.realize(sizes);
    for (const Target &target : gpu_targets()) {
        Buffer<T> found = scheduled.realize(sizes, target);
        if (is_same(wanted, found)) continue;
        std::printf("for %s\n", target.to_string().c_str());
        return false;
    }
    return is_code(scheduled);
}

inline Buffer<uint8_t> picture(int width, int height) {
    Buffer<uint8_t> b(width, height);
    b.fill([](int x, int y) { return uint8_t((x * 37 + y * 91 + x * y) % 251); });
    return b;
}
