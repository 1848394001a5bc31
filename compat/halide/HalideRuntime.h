#pragma once
// Halide's runtime interface by its names: these are other names of Tessera's own.
#include "halide_target_features.h"
#include "runtime/tessera_runtime.h"
#include "runtime/tessera_runtime_cuda.h"
#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#endif

#define HALIDE_VERSION_MAJOR 21
#define HALIDE_VERSION_MINOR 0
#define HALIDE_VERSION_PATCH 0
#define HALIDE_ALWAYS_INLINE inline __attribute__((always_inline))
#define HALIDE_NEVER_INLINE __attribute__((noinline))
#define HALIDE_FUNCTION_ATTRS
#define HALIDE_EXPORT_SYMBOL __attribute__((visibility("default")))
#define HALIDE_EXPORT HALIDE_EXPORT_SYMBOL
#define HALIDE_ATTRIBUTE_ALIGN(x) __attribute__((aligned(x)))
#define HALIDE_ATTRIBUTE_DEPRECATED(x) __attribute__((deprecated(x)))
#define HALIDE_ALLOCA __builtin_alloca
// Says how much of Halide's header a program has met.
#define HALIDE_HALIDERUNTIME_H 1
#ifdef __cplusplus
#define HALIDE_MUST_USE_RESULT [[nodiscard]]
#else
#define HALIDE_MUST_USE_RESULT __attribute__((warn_unused_result))
#endif

// ---- Types and buffers ----
#define halide_type_code_t tessera_type_code_t
#define halide_type_int tessera_type_int
#define halide_type_uint tessera_type_uint
#define halide_type_float tessera_type_float
#define halide_type_handle tessera_type_handle
#define halide_type_bfloat tessera_type_bfloat
#define halide_type_t tessera_type_t
#define halide_dimension_t tessera_dimension_t
#define halide_buffer_t tessera_buffer_t
#define halide_device_interface_t tessera_device_interface_t
#define halide_buffer_flag_host_dirty tessera_buffer_flag_host_dirty
#define halide_buffer_flag_device_dirty tessera_buffer_flag_device_dirty

// ---- Devices ----
#define halide_copy_to_host tessera_copy_to_host
#define halide_copy_to_device tessera_copy_to_device
#define halide_device_malloc tessera_device_malloc
#define halide_device_free tessera_device_free
#define halide_device_sync tessera_device_sync
#define halide_device_sync_global tessera_device_sync_global
#define halide_device_release tessera_device_release
#define halide_device_and_host_malloc tessera_device_and_host_malloc
#define halide_device_and_host_free tessera_device_and_host_free
#define halide_device_crop tessera_device_crop
#define halide_device_slice tessera_device_slice
#define halide_device_release_crop tessera_device_release_crop
#define halide_device_wrap_native tessera_device_wrap_native
#define halide_device_detach_native tessera_device_detach_native
#define halide_buffer_copy tessera_device_buffer_copy
#define halide_reuse_device_allocations tessera_reuse_device_allocations
#define halide_can_reuse_device_allocations tessera_can_reuse_device_allocations
#define halide_set_gpu_device tessera_set_gpu_device
#define halide_get_gpu_device tessera_get_gpu_device

// ---- Descriptions of compiled functions ----
#define halide_argument_kind_t tessera_argument_kind_t
#define halide_argument_kind_input_scalar tessera_argument_kind_input_scalar
#define halide_argument_kind_input_buffer tessera_argument_kind_input_buffer
#define halide_argument_kind_output_buffer tessera_argument_kind_output_buffer
// With the layout of Tessera's own; values are in `u`.
typedef struct halide_scalar_value_t {
    tessera_scalar_value_t u;
} halide_scalar_value_t;
typedef struct halide_filter_argument_t {
    const char *name;
    int32_t kind;
    int32_t dimensions;
    struct halide_type_t type;
    const struct halide_scalar_value_t *scalar_def, *scalar_min, *scalar_max, *scalar_estimate;
    int64_t const *const *buffer_estimates;
} halide_filter_argument_t;
typedef struct halide_filter_metadata_t {
    int32_t version, num_arguments;
    const struct halide_filter_argument_t *arguments;
    const char *target;
    const char *name;
} halide_filter_metadata_t;
#define halide_filter_metadata_t_VERSION 1
// Called before main() by a pipeline's file of the type registration; the program defines it.
#ifdef __cplusplus
extern "C"
#endif
    void halide_register_argv_and_metadata(int (*filter_argv_call)(void **),
                                           const struct halide_filter_metadata_t *filter_metadata,
                                           const char *const *extra_key_value_pairs);

// ---- Errors ----
#define halide_error_code_t tessera_error_code_t
#define halide_error_code_success tessera_error_code_success
#define halide_error_code_generic_error tessera_error_code_generic
#define halide_error_code_explicit_bounds_too_small tessera_error_code_explicit_bounds_too_small
#define halide_error_code_bad_type tessera_error_code_bad_type
#define halide_error_code_access_out_of_bounds tessera_error_code_access_out_of_bounds
#define halide_error_code_buffer_allocation_too_large tessera_error_code_buffer_allocation_too_large
#define halide_error_code_buffer_extents_too_large tessera_error_code_buffer_extents_too_large
#define halide_error_code_constraints_make_required_region_smaller                                 \
    tessera_error_code_constraints_make_required_region_smaller
#define halide_error_code_constraint_violated tessera_error_code_constraint_violated
#define halide_error_code_param_too_small tessera_error_code_param_too_small
#define halide_error_code_param_too_large tessera_error_code_param_too_large
#define halide_error_code_out_of_memory tessera_error_code_out_of_memory
#define halide_error_code_buffer_argument_is_null tessera_error_code_buffer_argument_is_null
#define halide_error_code_debug_to_file_failed tessera_error_code_debug_to_file_failed
#define halide_error_code_copy_to_host_failed tessera_error_code_copy_to_host_failed
#define halide_error_code_copy_to_device_failed tessera_error_code_copy_to_device_failed
#define halide_error_code_device_malloc_failed tessera_error_code_device_malloc_failed
#define halide_error_code_device_sync_failed tessera_error_code_device_sync_failed
#define halide_error_code_device_free_failed tessera_error_code_device_free_failed
#define halide_error_code_no_device_interface tessera_error_code_no_device_interface
#define halide_error_code_device_run_failed tessera_error_code_device_run_failed
#define halide_error_code_unaligned_host_ptr tessera_error_code_unaligned_host_ptr
#define halide_error_code_bad_fold tessera_error_code_bad_fold
#define halide_error_code_fold_factor_too_small tessera_error_code_fold_factor_too_small
#define halide_error_code_requirement_failed tessera_error_code_requirement_failed
#define halide_error_code_buffer_extents_negative tessera_error_code_buffer_extents_negative
#define halide_error_code_specialize_fail tessera_error_code_specialize_fail
#define halide_error_code_host_is_null tessera_error_code_host_is_null
#define halide_error_code_bad_extern_fold tessera_error_code_bad_extern_fold
#define halide_error_code_device_dirty_with_no_device_support                                      \
    tessera_error_code_device_dirty_with_no_device_support
#define halide_error_code_storage_bound_too_small tessera_error_code_storage_bound_too_small
#define halide_error_code_bad_dimensions tessera_error_code_bad_dimensions
#define halide_error_code_split_factor_not_positive tessera_error_code_split_factor_not_positive
#define halide_error_code_trace_failed tessera_error_code_trace_failed
#define halide_error_code_device_wrap_native_failed tessera_error_code_device_wrap_native_failed
#define halide_error_code_device_detach_native_failed tessera_error_code_device_detach_native_failed
#define halide_error_code_device_interface_no_device tessera_error_code_device_interface_no_device
#define halide_error_code_host_and_device_dirty tessera_error_code_host_and_device_dirty
#define halide_error_code_buffer_is_null tessera_error_code_buffer_is_null
#define halide_error_code_device_buffer_copy_failed tessera_error_code_device_buffer_copy_failed
#define halide_error_code_device_crop_unsupported tessera_error_code_device_crop_unsupported
#define halide_error_code_device_crop_failed tessera_error_code_device_crop_failed
#define halide_error_code_incompatible_device_interface tessera_error_code_incompatible_device_interface
#define halide_error_code_gpu_device_error tessera_error_code_gpu_device_error
// These are for what this runtime does not do.
#define halide_error_code_internal_error (-22)
#define halide_error_code_symbol_not_found (-23)
#define halide_error_code_unimplemented (-30)
#define halide_error_handler_t tessera_error_handler_t
#define halide_error tessera_error
#define halide_set_error_handler tessera_set_error_handler

// ---- Memory, printing ----
#define halide_malloc tessera_malloc
#define halide_free tessera_free
#define halide_malloc_t tessera_malloc_t
#define halide_free_t tessera_free_t
#define halide_set_custom_malloc tessera_set_custom_malloc
#define halide_set_custom_free tessera_set_custom_free
#define halide_print tessera_print
#define halide_print_t tessera_print_t
#define halide_set_custom_print tessera_set_custom_print
#define halide_string_to_string tessera_string_to_string
#define halide_int64_to_string tessera_int64_to_string
#define halide_uint64_to_string tessera_uint64_to_string
#define halide_double_to_string tessera_double_to_string
#define halide_pointer_to_string tessera_pointer_to_string
#define halide_type_to_string tessera_type_to_string
#define halide_buffer_to_string tessera_buffer_to_string

// ---- Tasks ----
#define halide_task_t tessera_task_t
#define halide_do_par_for tessera_do_par_for
#define halide_do_task tessera_do_task
#define halide_do_par_for_t tessera_do_par_for_t
#define halide_do_task_t tessera_do_task_t
#define halide_set_custom_do_par_for tessera_set_custom_do_par_for
#define halide_set_custom_do_task tessera_set_custom_do_task
#define halide_semaphore_t tessera_semaphore_t
#define halide_semaphore_acquire_t tessera_semaphore_acquire_t
#define halide_semaphore_init tessera_semaphore_init
#define halide_semaphore_release tessera_semaphore_release
#define halide_semaphore_try_acquire tessera_semaphore_try_acquire
#define halide_loop_task_t tessera_loop_task_t
#define halide_parallel_task_t tessera_parallel_task_t
#define halide_do_parallel_tasks tessera_do_parallel_tasks
#define halide_do_parallel_tasks_t tessera_do_parallel_tasks_t
#define halide_set_num_threads tessera_set_num_threads
#define halide_get_num_threads tessera_get_num_threads
#define halide_shutdown_thread_pool tessera_shutdown_thread_pool
#define halide_mutex_array tessera_mutex_array_t
#define halide_mutex_array_lock tessera_mutex_array_lock
#define halide_mutex_array_unlock tessera_mutex_array_unlock

// ---- Tracing ----
#define halide_trace_event_code_t tessera_trace_event_code_t
#define halide_trace_load tessera_trace_load
#define halide_trace_store tessera_trace_store
#define halide_trace_begin_realization tessera_trace_begin_realization
#define halide_trace_end_realization tessera_trace_end_realization
#define halide_trace_produce tessera_trace_produce
#define halide_trace_end_produce tessera_trace_end_produce
#define halide_trace_consume tessera_trace_consume
#define halide_trace_end_consume tessera_trace_end_consume
#define halide_trace_begin_pipeline tessera_trace_begin_pipeline
#define halide_trace_end_pipeline tessera_trace_end_pipeline
#define halide_trace_tag tessera_trace_tag
#define halide_trace_begin_parallel_task tessera_trace_begin_parallel_task
#define halide_trace_end_parallel_task tessera_trace_end_parallel_task
#define halide_trace_event_t tessera_trace_event_t
#define halide_trace_t tessera_trace_t
#define halide_trace tessera_trace
#define halide_set_custom_trace tessera_set_custom_trace
#define halide_shutdown_trace tessera_shutdown_trace

// ---- The built-in handlers, whatever is installed ----
#define halide_default_print tessera_default_print
#define halide_default_error tessera_default_error
#define halide_default_malloc tessera_default_malloc
#define halide_default_free tessera_default_free
#define halide_default_trace tessera_default_trace
#define halide_default_do_par_for tessera_default_do_par_for
#define halide_default_do_task tessera_default_do_task

// ---- Profiling ----
#define halide_profiler_report tessera_profiler_report
#define halide_profiler_reset tessera_profiler_reset

#ifdef __cplusplus
extern "C" {
#endif

struct halide_mutex {
    uintptr_t _private[1];
};
void halide_mutex_lock(struct halide_mutex *mutex);
void halide_mutex_unlock(struct halide_mutex *mutex);
struct halide_thread;
struct halide_thread *halide_spawn_thread(void (*f)(void *), void *closure);
void halide_join_thread(struct halide_thread *thread);

// Results of memoized Funcs: there are none, so that there is nothing to limit or to forget.
void halide_memoization_cache_set_size(int64_t size);
void halide_memoization_cache_evict(void *user_context, uint64_t eviction_key);
void halide_memoization_cache_cleanup(void);

// Symbols of the process and of libraries, by dlsym() and dlopen().
typedef void *(*halide_get_symbol_t)(const char *name);
typedef void *(*halide_load_library_t)(const char *name);
typedef void *(*halide_get_library_symbol_t)(void *lib, const char *name);
void *halide_get_symbol(const char *name);
void *halide_load_library(const char *name);
void *halide_get_library_symbol(void *lib, const char *name);
void *halide_default_get_symbol(const char *name);
void *halide_default_load_library(const char *name);
void *halide_default_get_library_symbol(void *lib, const char *name);
halide_get_symbol_t halide_set_custom_get_symbol(halide_get_symbol_t f);
halide_load_library_t halide_set_custom_load_library(halide_load_library_t f);
halide_get_library_symbol_t halide_set_custom_get_library_symbol(halide_get_library_symbol_t f);

// A clock that only goes forward, from any time on; a pause.
int halide_start_clock(void *user_context);
int64_t halide_current_time_ns(void *user_context);
void halide_sleep_us(void *user_context, int microseconds);
int halide_host_cpu_count(void);

// The host's side of an allocation of both sides that was made elsewhere: nothing to give back.
int halide_device_host_nop_free(void *user_context, halide_buffer_t *buffer);

// 1 if the processor has every feature of the set: bits numbered by halide_target_feature_t.
int halide_can_use_target_features(int count, const uint64_t *features);
int halide_default_can_use_target_features(int count, const uint64_t *features);
typedef int (*halide_can_use_target_features_t)(int count, const uint64_t *features);
halide_can_use_target_features_t
halide_set_custom_can_use_target_features(halide_can_use_target_features_t f);

float halide_float16_bits_to_float(uint16_t bits);
double halide_float16_bits_to_double(uint16_t bits);

// The counters of what was profiled: a copy, made when it is asked for.
struct halide_profiler_func_stats {
    uint64_t time, memory_current, memory_peak, memory_total, stack_peak;
    uint64_t active_threads_numerator, active_threads_denominator;
    const char *name;
    int num_allocs;
};
struct halide_profiler_pipeline_stats {
    uint64_t time, memory_current, memory_peak, memory_total;
    uint64_t active_threads_numerator, active_threads_denominator;
    const char *name;
    struct halide_profiler_func_stats *funcs;
    void *next;
    int num_funcs, runs, samples, num_allocs;
};
// Null for a pipeline that has not run with profiling.
struct halide_profiler_pipeline_stats *halide_profiler_get_pipeline_state(const char *name);

#ifdef __cplusplus
}  // extern "C"

namespace Halide::Internal {
// These describe a class that is a number: Halide.h has those of float16_t and bfloat16_t.
template<typename T>
struct RuntimeType {
    static constexpr halide_type_t value() { return T::halide_type(); }
};

template<typename T>
constexpr halide_type_t runtime_type_of() {
    using U = std::remove_cv_t<std::remove_reference_t<T>>;
    if constexpr (std::is_same_v<U, bool>) {
        return {halide_type_uint, 1};
    } else if constexpr (std::is_pointer_v<U>) {
        return {halide_type_handle, 64};
    } else if constexpr (std::is_floating_point_v<U>) {
        return {halide_type_float, int(8 * sizeof(U))};
    } else if constexpr (std::is_integral_v<U> || std::is_enum_v<U>) {
        return {std::is_signed_v<U> ? halide_type_int : halide_type_uint, int(8 * sizeof(U))};
    } else {
        return RuntimeType<U>::value();
    }
}
}  // namespace Halide::Internal

// The type of an element of C++ type T: halide_type_of<uint8_t>().
template<typename T>
constexpr halide_type_t halide_type_of() {
    return Halide::Internal::runtime_type_of<T>();
}
#endif
