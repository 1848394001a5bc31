#include "autoscheduler/machine.h"
#include <algorithm>
#include <thread>

namespace tessera::autoscheduler {

Machine Machine::usual(const Target &wanted, int cores) {
    const Target target = wanted.with_implied_features();
    Machine m;
    m.cores = cores > 0 ? cores : int(std::max(1U, std::thread::hardware_concurrency()));
    m.vector_bytes = std::max(16, target.natural_vector_size(1, true));
    m.registers = m.vector_bytes == 64 || target.arch == Target::ARM ? 32 : 16;
    auto set = [&](OperationClass c, double cycles) { m.cycles[size_t(c)] = cycles; };
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
    m.caches = {{{32e3, 32}, {1e6, 12}, {4e6, 4}}};
    return m;
}

}  // namespace tessera::autoscheduler
