#pragma once
#include "runtime/cuda_context.h"

namespace tessera::cuda {

// Room for what one launch of a kernel tells the host: pinned memory, in which the device writes by
// the same address. It is clean, and the context's, which keeps it for the next launch.
class Reports {
public:
    // Reports it, where there is no memory.
    Reports(void *user_context, const Scope &scope);
    ~Reports();
    Reports(const Reports &) = delete;
    Reports &operator=(const Reports &) = delete;

    int error() const { return failure; }
    // The kernel's argument.
    void *argument() { return static_cast<void *>(&room); }
    // Waits for the kernel, and hands over what it has told; the code of what has failed.
    int tell(const char *kernel, tessera_cuda_report_t report);

private:
    Reports(const Scope &scope, void *user_context) : user_context(user_context), scope(scope) {}
    int take();
    void print_lines(const char *kernel, tessera_cuda_report_t report);
    void clean();

    void *user_context;
    const Scope &scope;
    tessera_cuda_reports_t *room = nullptr;
    int failure = 0;
};

}  // namespace tessera::cuda
