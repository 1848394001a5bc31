#include "autoscheduler/machine.h"
#include "base/str.h"
#include <algorithm>
#include <fstream>
#include <thread>

namespace tessera::autoscheduler {

namespace {

// The size of a cache of this machine, as Linux tells it; else what is usual.
double cache_bytes(int index, double usual) {
    std::ifstream file(str("/sys/devices/system/cpu/cpu0/cache/index", index, "/size"));
    double size = 0;
    char unit = 0;
    if (!(file >> size >> unit)) return usual;
    return size * (unit == 'K' ? 1024 : unit == 'M' ? 1048576 : 1);
}

// Lists the dot products that the code generator for x86 selects: vpdpbusd, vpdpwssd or vpmaddwd,
// vdpbf16ps.
std::vector<Machine::DotProduct> dot_products_of(const Target &target) {
    std::vector<Machine::DotProduct> all;
    if (target.arch != Target::X86) return all;
    const bool vnni =
        target.has_feature(Target::AVX512_VNNI) || target.has_feature(Target::AVXVNNI);
    if (vnni) all.push_back({UInt(8), Int(8), Int(32), 4});
    for (Type a : {Int(16), UInt(8), Int(8)}) {
        for (Type b : {Int(16), UInt(8), Int(8)}) all.push_back({a, b, Int(32), 2});
    }
    if (target.has_feature(Target::AVX512_Zen4))
        all.push_back({BFloat(16), BFloat(16), Float(32), 2});
    return all;
}

}  // namespace

Machine Machine::usual(const Target &wanted, int cores) {
    const Target target = wanted.with_implied_features();
    Machine m;
    m.cores = cores > 0 ? cores : int(std::max(1U, std::thread::hardware_concurrency()));
    m.vector_bytes = std::max(16, target.natural_vector_size(1, true));
    m.registers = m.vector_bytes == 64 || target.arch == Target::ARM ? 32 : 16;
    auto set = [&](OperationClass c, double cycles) { m.cycles[size_t(c)] = cycles; };
    m.dot_products = dot_products_of(target);
    set(OperationClass::FloatAdd, 0.5);
    set(OperationClass::FloatMul, 0.5);
    set(OperationClass::FloatDiv, 6);
    set(OperationClass::FloatMath, 12);
    set(OperationClass::IntAdd, 0.5);
    set(OperationClass::IntMul, 1);
    set(OperationClass::IntDiv, 25);
    set(OperationClass::Choice, 0.5);
    set(OperationClass::Cast, 0.7);
    set(OperationClass::Bits, 0.5);
    set(OperationClass::Other, 30);
    m.caches = {
        {{cache_bytes(0, 32e3), 64}, {cache_bytes(2, 1e6), 32}, {cache_bytes(3, 16e6), 10}}};
    return m;
}

}  // namespace tessera::autoscheduler
