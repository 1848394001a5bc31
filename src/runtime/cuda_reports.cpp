#include "runtime/cuda_reports.h"
#include <algorithm>
#include <cstring>
#include <iterator>

namespace tessera::cuda {

namespace {

// The words of `lines` that may have been written.
uint64_t words_used(const tessera_cuda_reports_t &room) {
    return std::min<uint64_t>(room.words, std::size(room.lines));
}

}  // namespace

// It delegates, so that the destructor runs even if an error handler throws.
Reports::Reports(void *user_context, const Scope &scope) : Reports(scope, user_context) {
    failure = take();
}

int Reports::take() {
    State &state = scope.state();
    {
        std::lock_guard lock(state.mutex);
        if (!state.unused_reports.empty()) {
            room = state.unused_reports.back();
            state.unused_reports.pop_back();
            return 0;
        }
    }
    void *made = nullptr;
    if (Result r = scope.driver().allocate_host(&made, sizeof(*room))) {
        return scope.check(tessera_error_code_gpu_device_error, r,
                           Message() << "allocating " << sizeof(*room)
                                     << " bytes for what a kernel reports");
    }
    std::memset(made, 0, sizeof(*room));
    room = static_cast<tessera_cuda_reports_t *>(made);
    return 0;
}

Reports::~Reports() {
    if (!room) return;
    clean();
    std::lock_guard lock(scope.state().mutex);
    scope.state().unused_reports.push_back(room);
}

void Reports::clean() {
    std::fill_n(room->lines, words_used(*room), 0);
    std::memset(room, 0, offsetof(tessera_cuda_reports_t, lines));
}

// Behind the last line that found room there are zeros.
void Reports::print_lines(const char *kernel, tessera_cuda_report_t report) {
    const uint64_t *end = room->lines + words_used(*room);
    for (const uint64_t *line = room->lines; line < end && *line; line += *line >> 32) {
        report(user_context, line);
    }
    if (!room->lost) return;
    tessera_print(user_context, (Message() << "CUDA: " << room->lost << " more lines of the kernel "
                                           << kernel << " are lost: one launch can print "
                                           << sizeof(room->lines) << " bytes\n")
                                    .c_str());
}

// A kernel that has failed may have ended by a fault, and the context with it.
int Reports::tell(const char *kernel, tessera_cuda_report_t report) {
    const Result r = scope.driver().synchronize(scope.stream());
    print_lines(kernel, report);
    if (room->failed) {
        const int code = report(user_context, room->failure);
        return code ? code : tessera_error_code_generic;
    }
    return scope.check(tessera_error_code_gpu_device_error, r,
                       Message() << "waiting for the kernel " << kernel);
}

}  // namespace tessera::cuda
