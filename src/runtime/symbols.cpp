#include "runtime/symbols.h"
#include "runtime/half_libcalls.h"
#include "runtime/tessera_runtime.h"

namespace tessera {

namespace {

template<typename F>
RuntimeSymbol symbol(const char *name, F *function) {
    return {name, reinterpret_cast<void *>(function)};
}

#define RUNTIME_FUNCTIONS(X) \
    X(tessera_error) X(tessera_set_error_handler) X(tessera_error_bad_type) \
    X(tessera_error_bad_dimensions) X(tessera_error_access_out_of_bounds) \
    X(tessera_error_buffer_allocation_too_large) X(tessera_error_buffer_extents_too_large) \
    X(tessera_error_buffer_extents_negative) X(tessera_error_buffer_argument_is_null) \
    X(tessera_error_host_is_null) X(tessera_error_unaligned_host_ptr) \
    X(tessera_error_device_dirty_with_no_device_support) X(tessera_error_no_device_interface) \
    X(tessera_error_constraint_violated) \
    X(tessera_error_constraints_make_required_region_smaller) \
    X(tessera_error_param_too_small_i64) X(tessera_error_param_too_small_u64) \
    X(tessera_error_param_too_small_f64) X(tessera_error_param_too_large_i64) \
    X(tessera_error_param_too_large_u64) X(tessera_error_param_too_large_f64) \
    X(tessera_error_out_of_memory) X(tessera_error_debug_to_file_failed) \
    X(tessera_error_bad_fold) X(tessera_error_fold_factor_too_small) \
    X(tessera_error_bad_extern_fold) X(tessera_error_storage_bound_too_small) \
    X(tessera_error_explicit_bounds_too_small) X(tessera_error_split_factor_not_positive) \
    X(tessera_error_requirement_failed) X(tessera_error_specialize_fail) \
    X(tessera_error_extern_stage_failed) X(tessera_error_bounds_query_failed) \
    X(tessera_error_unsupported_target) X(tessera_malloc) X(tessera_free) \
    X(tessera_set_custom_malloc) X(tessera_set_custom_free) X(tessera_print) \
    X(tessera_set_custom_print) X(tessera_string_to_string) X(tessera_int64_to_string) \
    X(tessera_uint64_to_string) X(tessera_double_to_string) X(tessera_pointer_to_string) \
    X(tessera_type_to_string) X(tessera_buffer_to_string) X(tessera_do_par_for) \
    X(tessera_do_task) X(tessera_set_custom_do_par_for) X(tessera_set_custom_do_task) \
    X(tessera_semaphore_init) X(tessera_semaphore_release) X(tessera_semaphore_try_acquire) \
    X(tessera_semaphore_acquire) X(tessera_do_parallel_tasks) \
    X(tessera_set_custom_do_parallel_tasks) X(tessera_set_num_threads) \
    X(tessera_get_num_threads) X(tessera_shutdown_thread_pool) X(tessera_mutex_array_create) \
    X(tessera_mutex_array_destroy) X(tessera_mutex_array_lock) X(tessera_mutex_array_unlock) \
    X(tessera_trace) X(tessera_set_custom_trace) X(tessera_shutdown_trace) \
    X(tessera_profiler_instance_start) X(tessera_profiler_instance_end) \
    X(tessera_profiler_enter_func) X(tessera_profiler_set_current_func) \
    X(tessera_profiler_incr_active_threads) X(tessera_profiler_decr_active_threads) \
    X(tessera_profiler_memory_allocate) X(tessera_profiler_memory_free) \
    X(tessera_profiler_stack_peak) X(tessera_profiler_report) X(tessera_profiler_reset) \
    X(tessera_profiler_get_pipeline) X(tessera_profiler_get_func) \
    X(tessera_can_use_target_features) X(tessera_set_custom_can_use_target_features) \
    X(tessera_buffer_number_of_elements) X(tessera_buffer_size_in_bytes) X(tessera_buffer_copy) \
    X(tessera_copy_to_host) X(tessera_copy_to_device) X(tessera_device_malloc) \
    X(tessera_device_free) X(tessera_device_sync) X(tessera_f16_to_f32) X(tessera_f16_to_f64) \
    X(tessera_f32_to_f16) X(tessera_f64_to_f16) X(tessera_bf16_to_f32) X(tessera_bf16_to_f64) \
    X(tessera_f32_to_bf16) X(tessera_f64_to_bf16)

#define SYMBOL(name) symbol(#name, name),
const RuntimeSymbol symbols[] = {
    RUNTIME_FUNCTIONS(SYMBOL)
    symbol("__extendhfsf2", tessera_extendhfsf2),
    symbol("__truncsfhf2", tessera_truncsfhf2),
    symbol("__truncdfhf2", tessera_truncdfhf2),
    symbol("__truncsfbf2", tessera_truncsfbf2),
    symbol("__truncdfbf2", tessera_truncdfbf2),
    symbol("__gnu_h2f_ieee", tessera_f16_to_f32),
    symbol("__gnu_f2h_ieee", tessera_f32_to_f16),
};

}  // namespace

std::span<const RuntimeSymbol> tessera_runtime_symbols() { return symbols; }

}  // namespace tessera
