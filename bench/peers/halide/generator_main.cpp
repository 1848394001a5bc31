// Halide's program of generators, but that the target `host` is what this processor can do. Halide
// 14 takes some processors for a Sapphire Rapids that lack its instructions for half precision.
#include <Halide.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <iostream>
#include <string>
#include <vector>

namespace {

bool has_avx512_fp16() {
    unsigned d = 0;
#ifdef __x86_64__
    unsigned a = 0, b = 0, c = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
#endif
    return d >> 23 & 1;
}

std::string host_target() {
    Halide::Target target = Halide::get_host_target();
    if (!has_avx512_fp16()) target = target.without_feature(Halide::Target::AVX512_SapphireRapids);
    return target.to_string();
}

}  // namespace

int main(int argc, char **argv) {
    const std::string host = "target=host";
    std::vector<std::string> words(argv, argv + argc);
    std::vector<char *> pointers;
    for (std::string &word : words) {
        if (word.rfind(host, 0) == 0) word.replace(0, host.size(), "target=" + host_target());
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
#ifdef HALIDE_VERSION_MAJOR
    return Halide::Internal::generate_filter_main(argc, pointers.data());
#else
    return Halide::Internal::generate_filter_main(argc, pointers.data(), std::cerr);
#endif
}
