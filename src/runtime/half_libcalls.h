#pragma once
#include <cstdint>

namespace tessera {

// The helpers that a compiler calls where the CPU cannot convert half precision itself, and that
// not every C library has. They pass a half in a vector register, as the ABI of the machine says;
// a bfloat16 travels as a half of the same bits.
#ifdef __aarch64__
using HalfRegister = __fp16;
#else
using HalfRegister = _Float16;
#endif

extern "C" {
float tessera_extendhfsf2(HalfRegister value);
HalfRegister tessera_truncsfhf2(float value);
HalfRegister tessera_truncdfhf2(double value);
HalfRegister tessera_truncsfbf2(float value);
HalfRegister tessera_truncdfbf2(double value);
}

}  // namespace tessera
