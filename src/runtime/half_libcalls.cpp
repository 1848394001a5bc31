#include "runtime/half_libcalls.h"
#include "runtime/tessera_runtime.h"
#include <bit>

namespace tessera {

extern "C" {

float tessera_extendhfsf2(HalfRegister value) {
    return tessera_f16_to_f32(std::bit_cast<uint16_t>(value));
}

HalfRegister tessera_truncsfhf2(float value) {
    return std::bit_cast<HalfRegister>(tessera_f32_to_f16(value));
}

HalfRegister tessera_truncdfhf2(double value) {
    return std::bit_cast<HalfRegister>(tessera_f64_to_f16(value));
}

HalfRegister tessera_truncsfbf2(float value) {
    return std::bit_cast<HalfRegister>(tessera_f32_to_bf16(value));
}

HalfRegister tessera_truncdfbf2(double value) {
    return std::bit_cast<HalfRegister>(tessera_f64_to_bf16(value));
}

// Weak: where the system's library has them, its own are as good.
[[gnu::weak]] HalfRegister __truncsfbf2(float value) { return tessera_truncsfbf2(value); }
[[gnu::weak]] HalfRegister __truncdfbf2(double value) { return tessera_truncdfbf2(value); }
}

}  // namespace tessera
