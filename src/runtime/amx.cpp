#include "runtime/amx.h"
#include "runtime/message.h"
#if defined(__x86_64__) && defined(__linux__)
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

// Returns 0 or the error of the system: "x86 specific ABI extensions", Linux kernel documentation.
int request() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr int arch_req_xcomp_perm = 0x1023, xfeature_xtiledata = 18;
    return syscall(SYS_arch_prctl, arch_req_xcomp_perm, xfeature_xtiledata) ? errno : 0;
#else
    return -1;
#endif
}

}  // namespace

extern "C" {

[[gnu::weak]] int tessera_request_amx(void *user_context) {
    static const int refused = request();
    if (!refused) return 0;
    return (tessera::Message()
            << "The system does not let this process use the tile registers of AMX, which a "
               "pipeline was compiled for: arch_prctl(ARCH_REQ_XCOMP_PERM) failed with error "
            << refused
            << "; Linux gives them from version 5.16 on, if the machine has them. Compile for a "
               "target without avx512_sapphirerapids, or use another instruction than amx")
        .raise(user_context, tessera_error_code_unsupported_target);
}
}
