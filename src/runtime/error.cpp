#include "runtime/message.h"
#include <atomic>
#include <cstdio>
#include <cstring>

using tessera::Message;

namespace {

void default_error_handler(void *, const char *message) {
    std::fprintf(stderr, "Error: %s\n", message);
}

std::atomic<tessera_error_handler_t> error_handler{default_error_handler};

tessera_type_t unpack(uint32_t type) {
    return {uint8_t(type), uint8_t(type >> 8), uint16_t(type >> 16)};
}

const char *const hint_at_large_buffers =
    "; compile it for a target with the feature LargeBuffers (large_buffers in its text)";

template<typename T> int param_too_small(void *user_context, const char *param, T value, T min) {
    return (Message() << "Parameter " << param << " is " << value << ", but must be at least "
                      << min)
        .raise(user_context, tessera_error_code_param_too_small);
}

template<typename T> int param_too_large(void *user_context, const char *param, T value, T max) {
    return (Message() << "Parameter " << param << " is " << value << ", but must be at most "
                      << max)
        .raise(user_context, tessera_error_code_param_too_large);
}

}  // namespace

tessera::Message &tessera::Message::operator<<(double d) {
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%.9g", d);
    return *this << digits;
}

extern "C" {

[[gnu::weak]] void tessera_error(void *user_context, const char *message) {
    error_handler.load(std::memory_order_relaxed)(user_context, message);
}

tessera_error_handler_t tessera_set_error_handler(tessera_error_handler_t handler) {
    return error_handler.exchange(handler ? handler : default_error_handler);
}

int tessera_error_bad_type(void *user_context, const char *buffer, uint32_t type_given,
                           uint32_t type_wanted) {
    return (Message() << "Buffer " << buffer << " has elements of type " << unpack(type_given)
                      << ", but the pipeline was compiled for " << unpack(type_wanted)
                      << "; pass one of that type, or write the pipeline for "
                      << unpack(type_given))
        .raise(user_context, tessera_error_code_bad_type);
}

int tessera_error_bad_dimensions(void *user_context, const char *buffer, int32_t given,
                                 int32_t wanted) {
    return (Message() << "Buffer " << buffer << " has " << given
                      << (given == 1 ? " dimension" : " dimensions")
                      << ", but the pipeline was compiled for " << wanted)
        .raise(user_context, tessera_error_code_bad_dimensions);
}

int tessera_error_access_out_of_bounds(void *user_context, const char *buffer, int32_t dimension,
                                       int32_t min_touched, int32_t max_touched, int32_t min_valid,
                                       int32_t max_valid, const char *beyond) {
    Message message;
    message << "Buffer " << buffer << " is too small in dimension " << dimension
            << ": the pipeline touches [" << min_touched << ", " << max_touched << "]";
    if (max_valid < min_valid) {
        message << ", but the buffer is empty there";
    } else {
        message << ", but the buffer has [" << min_valid << ", " << max_valid << "]";
    }
    if (min_touched < min_valid) {
        message << " (" << int64_t(min_valid) - min_touched << " missing before its min)";
    }
    if (max_touched > max_valid) {
        message << " (" << int64_t(max_touched) - max_valid << " missing beyond its max)";
        if (beyond && *beyond) message << "; " << beyond;
    }
    return message.raise(user_context, tessera_error_code_access_out_of_bounds);
}

int tessera_error_buffer_allocation_too_large(void *user_context, const char *buffer,
                                              uint64_t bytes, uint64_t max_bytes) {
    Message message;
    message << "The storage of " << buffer << " needs ";
    if (bytes == UINT64_MAX) {
        message << "2^64 or more";
    } else {
        message << bytes;
    }
    message << " bytes, more than the " << max_bytes << " that this target can address";
    if (max_bytes <= INT32_MAX) message << hint_at_large_buffers;
    return message.raise(user_context, tessera_error_code_buffer_allocation_too_large);
}

int tessera_error_buffer_extents_too_large(void *user_context, const char *buffer, int64_t elements,
                                           int64_t max_elements) {
    return (Message() << "Buffer " << buffer << " has " << elements << " elements, more than the "
                      << max_elements << " that this pipeline can address"
                      << (max_elements <= INT32_MAX ? hint_at_large_buffers : ""))
        .raise(user_context, tessera_error_code_buffer_extents_too_large);
}

int tessera_error_coordinates_too_large(void *user_context, const char *bound, int64_t value,
                                        int64_t lowest, int64_t highest) {
    return (Message() << "The coordinates that the pipeline needs are too large: " << bound
                      << " is computed from " << value << ", and only coordinates within ["
                      << lowest << ", " << highest << "] are sure not to overflow")
        .raise(user_context, tessera_error_code_coordinates_too_large);
}

int tessera_error_buffer_extents_negative(void *user_context, const char *buffer, int32_t dimension,
                                          int32_t extent) {
    return (Message() << "Buffer " << buffer << " has the extent " << extent << " in dimension "
                      << dimension << "; extents must not be negative")
        .raise(user_context, tessera_error_code_buffer_extents_negative);
}

int tessera_error_buffer_argument_is_null(void *user_context, const char *buffer) {
    return (Message() << "Buffer " << buffer << " is a null pointer")
        .raise(user_context, tessera_error_code_buffer_argument_is_null);
}

int tessera_error_host_is_null(void *user_context, const char *buffer) {
    return (Message() << "Buffer " << buffer
                      << " has no memory: its host pointer is null. Allocate it before the "
                         "pipeline runs")
        .raise(user_context, tessera_error_code_host_is_null);
}

int tessera_error_unaligned_host_ptr(void *user_context, const char *buffer, int32_t alignment) {
    return (Message() << "The memory of buffer " << buffer << " is not aligned to " << alignment
                      << " bytes, as the pipeline was promised")
        .raise(user_context, tessera_error_code_unaligned_host_ptr);
}

int tessera_error_output_overlaps_input(void *user_context, const char *output, const char *input,
                                        const char *in_place) {
    return (Message() << "Output " << output << " shares memory with input " << input
                      << ", of which elements would be read after they have been overwritten"
                      << in_place << "; give the output memory of its own")
        .raise(user_context, tessera_error_code_output_overlaps_input);
}

int tessera_error_device_dirty_with_no_device_support(void *user_context, const char *buffer) {
    return (Message() << "Buffer " << buffer
                      << " has its newest contents on a device, but the pipeline runs on the CPU; "
                         "copy it to the host first")
        .raise(user_context, tessera_error_code_device_dirty_with_no_device_support);
}

int tessera_error_no_device_interface(void *user_context) {
    return (Message() << "No device interface: neither does the buffer have one, nor was one given")
        .raise(user_context, tessera_error_code_no_device_interface);
}

int tessera_error_buffer_is_null(void *user_context, const char *routine) {
    return (Message() << routine << " was given a null pointer instead of a buffer")
        .raise(user_context, tessera_error_code_buffer_is_null);
}

int tessera_error_device_interface_no_device(void *user_context, const char *routine) {
    return (Message() << routine
                      << " was given a buffer that has a device interface, but no memory on "
                         "the device")
        .raise(user_context, tessera_error_code_device_interface_no_device);
}

int tessera_error_host_and_device_dirty(void *user_context, const char *routine) {
    return (Message() << routine
                      << " was given a buffer that has been changed both on the host and on the "
                         "device; copy it after each change")
        .raise(user_context, tessera_error_code_host_and_device_dirty);
}

int tessera_error_incompatible_device_interface(void *user_context, const char *routine) {
    return (Message() << routine
                      << " was given a buffer whose memory is on a device of another kind; free "
                         "that memory first")
        .raise(user_context, tessera_error_code_incompatible_device_interface);
}

int tessera_error_constraint_violated(void *user_context, const char *variable, int32_t value,
                                      const char *constraint, int32_t constraint_value) {
    Message message;
    message << variable << " is " << value << ", but must be " << constraint_value;
    char digits[16];
    std::snprintf(digits, sizeof(digits), "%d", constraint_value);
    if (constraint && std::strcmp(constraint, digits) != 0) message << " (" << constraint << ")";
    return message.raise(user_context, tessera_error_code_constraint_violated);
}

int tessera_error_constraints_make_required_region_smaller(
    void *user_context, const char *buffer, int32_t dimension, int32_t constrained_min,
    int32_t constrained_extent, int32_t required_min, int32_t required_extent) {
    return (Message() << "The constraints on buffer " << buffer << " limit dimension " << dimension
                      << " to [" << constrained_min << ", "
                      << int64_t(constrained_min) + constrained_extent - 1
                      << "], but the pipeline needs [" << required_min << ", "
                      << int64_t(required_min) + required_extent - 1 << "]")
        .raise(user_context, tessera_error_code_constraints_make_required_region_smaller);
}

int tessera_error_param_too_small_i64(void *user_context, const char *param, int64_t value,
                                      int64_t min) {
    return param_too_small(user_context, param, value, min);
}

int tessera_error_param_too_small_u64(void *user_context, const char *param, uint64_t value,
                                      uint64_t min) {
    return param_too_small(user_context, param, value, min);
}

int tessera_error_param_too_small_f64(void *user_context, const char *param, double value,
                                      double min) {
    return param_too_small(user_context, param, value, min);
}

int tessera_error_param_too_large_i64(void *user_context, const char *param, int64_t value,
                                      int64_t max) {
    return param_too_large(user_context, param, value, max);
}

int tessera_error_param_too_large_u64(void *user_context, const char *param, uint64_t value,
                                      uint64_t max) {
    return param_too_large(user_context, param, value, max);
}

int tessera_error_param_too_large_f64(void *user_context, const char *param, double value,
                                      double max) {
    return param_too_large(user_context, param, value, max);
}

int tessera_error_out_of_memory(void *user_context, const char *func, uint64_t bytes) {
    Message message;
    message << "Out of memory: cannot allocate " << bytes << " bytes";
    if (func) message << " for " << func;
    return message.raise(user_context, tessera_error_code_out_of_memory);
}

int tessera_error_debug_to_file_failed(void *user_context, const char *func, const char *file,
                                       int32_t error_code) {
    return (Message() << "Cannot write " << func << " to the file " << file << " (error "
                      << error_code << ")")
        .raise(user_context, tessera_error_code_debug_to_file_failed);
}

int tessera_error_bad_fold(void *user_context, const char *where, const char *func, const char *var,
                           const char *loop) {
    return (Message(where) << "The storage of " << func << " cannot be folded along " << var
                           << ": the loop over " << loop << " does not walk it in one direction")
        .raise(user_context, tessera_error_code_bad_fold);
}

int tessera_error_fold_factor_too_small(void *user_context, const char *where, const char *func,
                                        const char *var, int32_t fold_factor, const char *loop,
                                        int32_t required) {
    return (Message(where) << "The storage of " << func << " is folded along " << var << " by "
                           << fold_factor << ", but one iteration of the loop over " << loop
                           << " needs " << required)
        .raise(user_context, tessera_error_code_fold_factor_too_small);
}

int tessera_error_bad_extern_fold(void *user_context, const char *where, const char *func,
                                  const char *function, int32_t dimension, int32_t min,
                                  int32_t extent, int32_t valid_min, int32_t fold_factor) {
    return (Message(where)
            << "The storage of " << func << " is folded by " << fold_factor << " along dimension "
            << dimension << ", starting at " << valid_min << ", but the extern stage " << function
            << " needs [" << min << ", " << int64_t(min) + extent - 1
            << "], which wraps around. Use a larger fold factor, one that the extern "
               "stage's step divides")
        .raise(user_context, tessera_error_code_bad_extern_fold);
}

int tessera_error_storage_bound_too_small(void *user_context, const char *where, const char *func,
                                          const char *var, int32_t bound, int32_t required) {
    return (Message(where) << "The storage of " << func << " is bounded to " << bound << " along "
                           << var << ", but " << required << " are needed")
        .raise(user_context, tessera_error_code_storage_bound_too_small);
}

int tessera_error_explicit_bounds_too_small(void *user_context, const char *where, const char *func,
                                            const char *var, int32_t min_bound, int32_t max_bound,
                                            int32_t min_required, int32_t max_required) {
    return (Message(where) << "The bounds given for " << func << " along " << var << " are ["
                           << min_bound << ", " << max_bound << "], but [" << min_required << ", "
                           << max_required << "] is needed")
        .raise(user_context, tessera_error_code_explicit_bounds_too_small);
}

int tessera_error_split_factor_not_positive(void *user_context, const char *where, const char *func,
                                            const char *var, const char *factor_text,
                                            int32_t factor) {
    return (Message(where) << "In the schedule of " << func << ", " << var << " is split by "
                           << factor_text << ", which is " << factor
                           << "; a split factor must be positive")
        .raise(user_context, tessera_error_code_split_factor_not_positive);
}

int tessera_error_requirement_failed(void *user_context, const char *where, const char *condition,
                                     const char *message) {
    bool both = condition && *condition && message && *message;
    return (Message(where) << "Requirement failed: " << (condition ? condition : "")
                           << (both ? ": " : "") << (message ? message : ""))
        .raise(user_context, tessera_error_code_requirement_failed);
}

int tessera_error_specialize_fail(void *user_context, const char *where, const char *func,
                                  const char *message) {
    return (Message(where) << "No specialization of " << func << " fits: " << message)
        .raise(user_context, tessera_error_code_specialize_fail);
}

int tessera_error_extern_stage_failed(void *user_context, const char *function, int32_t result) {
    return (Message() << "The extern stage " << function << " failed: it returned " << result)
        .raise(user_context, tessera_error_code_extern_stage_failed);
}

int tessera_error_bounds_query_failed(void *user_context, const char *function, int32_t result) {
    return (Message() << "The extern stage " << function
                      << " failed when asked which input it needs: it returned " << result)
        .raise(user_context, tessera_error_code_bounds_query_failed);
}

int tessera_error_extern_stage_enlarged(void *user_context, const char *where, const char *function,
                                        const char *func, int32_t dimension, int32_t min,
                                        int32_t max, int32_t needed_min, int32_t needed_max) {
    return (Message(where) << "The extern stage " << function << " wants to compute [" << min
                           << ", " << max << "] of " << func << " in dimension " << dimension
                           << ", and [" << needed_min << ", " << needed_max
                           << "] is what there is; it may compute more than that only where "
                           << func << " is stored on the heap at the loop where it is computed")
        .raise(user_context, tessera_error_code_extern_stage_enlarged);
}

int tessera_error_extern_stage_input_too_small(void *user_context, const char *where,
                                               const char *function, const char *input,
                                               int32_t dimension, int32_t min, int32_t max,
                                               int32_t held_min, int32_t held_max) {
    return (Message(where) << "The extern stage " << function << " wants to read [" << min << ", "
                           << max << "] of " << input << " in dimension " << dimension
                           << " for a part of what it computes, and [" << held_min << ", "
                           << held_max
                           << "] is what there is, all that it wanted for the whole; let it say "
                              "of the whole what it reads for each part, or compute it as a whole")
        .raise(user_context, tessera_error_code_extern_stage_input_too_small);
}

int tessera_error_unsupported_target(void *user_context, const char *pipeline) {
    return (Message() << "Pipeline " << pipeline
                      << " was compiled for instructions that this CPU does not have, or for a GPU "
                         "that this machine does not have")
        .raise(user_context, tessera_error_code_unsupported_target);
}

void tessera_default_error(void *user_context, const char *message) {
    default_error_handler(user_context, message);
}
}
