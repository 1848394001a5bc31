/* This file declares what a compiled pipeline calls, and what a program that ships one may call or
 * replace.
 *
 * Plain C. A function that can fail returns a `tessera_error_code_t` (0: it worked) after telling
 * `tessera_error` in a sentence what was wrong. `user_context` is the caller's own pointer: every
 * function hands it on to the handlers that the caller may have installed, and reads it not.
 * A `tessera_set_...` returns what was installed before; NULL restores the built-in one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types and buffers: the same layout as halide_type_t and halide_buffer_t ---- */

typedef enum tessera_type_code_t {
    tessera_type_int = 0,
    tessera_type_uint = 1,
    tessera_type_float = 2,
    tessera_type_handle = 3,
    tessera_type_bfloat = 4,
    tessera_type_float8_e4m3 = 5, /* of 8 bits, as the next one */
    tessera_type_float8_e5m2 = 6
} tessera_type_code_t;

/* It is also passed as an integer (the `uint32_t` types below): code | bits << 8 | lanes << 16. */
typedef struct tessera_type_t {
    uint8_t code; /* a tessera_type_code_t */
    uint8_t bits;
    uint16_t lanes;
#ifdef __cplusplus
    constexpr tessera_type_t() : code(0), bits(0), lanes(0) {}
    constexpr tessera_type_t(int code, int bits, int lanes = 1)
        : code(uint8_t(code)), bits(uint8_t(bits)), lanes(uint16_t(lanes)) {}
    constexpr tessera_type_t with_lanes(int n) const { return {code, bits, n}; }
    constexpr tessera_type_t element_of() const { return with_lanes(1); }
    constexpr int bytes() const { return (bits + 7) / 8; } /* of one element */
    constexpr uint32_t as_u32() const {
        return uint32_t(code) | uint32_t(bits) << 8 | uint32_t(lanes) << 16;
    }
    constexpr bool operator==(const tessera_type_t &o) const { return as_u32() == o.as_u32(); }
    constexpr bool operator!=(const tessera_type_t &o) const { return as_u32() != o.as_u32(); }
    constexpr bool operator<(const tessera_type_t &o) const { return as_u32() < o.as_u32(); }
#endif
} tessera_type_t;

typedef struct tessera_dimension_t {
    int32_t min, extent, stride; /* the stride counts elements */
    uint32_t flags;              /* none so far: 0 */
#ifdef __cplusplus
    constexpr tessera_dimension_t() : min(0), extent(0), stride(0), flags(0) {}
    constexpr tessera_dimension_t(int32_t min, int32_t extent, int32_t stride, uint32_t flags = 0)
        : min(min), extent(extent), stride(stride), flags(flags) {}
    constexpr bool operator==(const tessera_dimension_t &o) const {
        return min == o.min && extent == o.extent && stride == o.stride && flags == o.flags;
    }
    constexpr bool operator!=(const tessera_dimension_t &o) const { return !(*this == o); }
#endif
} tessera_dimension_t;

enum { tessera_buffer_flag_host_dirty = 1, tessera_buffer_flag_device_dirty = 2 };

struct tessera_device_interface_t;

typedef struct tessera_buffer_t {
    uint64_t device; /* a handle of the device interface; 0: not on a device */
    const struct tessera_device_interface_t *device_interface;
    uint8_t *host;  /* the element at the minimum of every dimension */
    uint64_t flags; /* tessera_buffer_flag_... */
    tessera_type_t type;
    int32_t dimensions;
    tessera_dimension_t *dim;
    void *padding;
#ifdef __cplusplus
    bool get_flag(int flag) const { return (flags & uint64_t(flag)) != 0; }
    void set_flag(int flag, bool on) {
        flags = on ? flags | uint64_t(flag) : flags & ~uint64_t(flag);
    }
    bool host_dirty() const { return get_flag(tessera_buffer_flag_host_dirty); }
    bool device_dirty() const { return get_flag(tessera_buffer_flag_device_dirty); }
    void set_host_dirty(bool on = true) { set_flag(tessera_buffer_flag_host_dirty, on); }
    void set_device_dirty(bool on = true) { set_flag(tessera_buffer_flag_device_dirty, on); }
    /* Neither memory here nor on a device: the callee says which region it needs. */
    bool is_bounds_query() const { return !host && !device; }
    size_t number_of_elements() const {
        size_t n = 1;
        for (int d = 0; d < dimensions; d++) n *= size_t(dim[d].extent);
        return n;
    }
    /* The lowest address of an element, and that behind the highest. */
    uint8_t *begin() const { return host + reach(false) * type.bytes(); }
    uint8_t *end() const { return host + (reach(true) + 1) * type.bytes(); }
    size_t size_in_bytes() const {
        return size_t(reach(true) + 1 - reach(false)) * size_t(type.bytes());
    }
    uint8_t *address_of(const int *at) const {
        ptrdiff_t index = 0;
        for (int d = 0; d < dimensions; d++) {
            index += ptrdiff_t(dim[d].stride) * (at[d] - dim[d].min);
        }
        return host + index * type.bytes();
    }

private:
    /* Returns the offset from `host` of the last element along all dimensions of positive strides,
     * or along the others. */
    ptrdiff_t reach(bool up) const {
        ptrdiff_t index = 0;
        for (int d = 0; d < dimensions; d++) {
            if ((dim[d].stride > 0) == up) {
                index += ptrdiff_t(dim[d].stride) * (dim[d].extent - 1);
            }
        }
        return index;
    }
#endif
} tessera_buffer_t;

/* ---- Descriptions of compiled functions: the layout of halide_filter_metadata_t ---- */

enum { TESSERA_FILTER_METADATA_VERSION = 1 };

typedef enum tessera_argument_kind_t {
    tessera_argument_kind_input_scalar = 0,
    tessera_argument_kind_input_buffer = 1,
    tessera_argument_kind_output_buffer = 2
} tessera_argument_kind_t;

typedef union tessera_scalar_value_t {
    bool b;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    void *handle;
} tessera_scalar_value_t;

typedef struct tessera_filter_argument_t {
    const char *name;
    int32_t kind;       /* a tessera_argument_kind_t */
    int32_t dimensions; /* of a buffer */
    tessera_type_t type;
    /* The facts of a scalar: NULL where the pipeline says nothing. */
    const tessera_scalar_value_t *scalar_def, *scalar_min, *scalar_max, *scalar_estimate;
    /* The facts of a buffer: NULL, or for each dimension the minimum and extent, each of which may
     * be NULL.
     */
    const int64_t *const *buffer_estimates;
} tessera_filter_argument_t;

/* Describes a compiled function f: f_metadata() returns it. f_argv() takes an array of
 * `num_arguments` pointers: to the tessera_buffer_t, or to the value of the scalar. */
typedef struct tessera_filter_metadata_t {
    int32_t version; /* TESSERA_FILTER_METADATA_VERSION */
    int32_t num_arguments;
    const tessera_filter_argument_t *arguments;
    const char *target;
    const char *name;
} tessera_filter_metadata_t;

/* ---- Errors ---- */

typedef enum tessera_error_code_t {
    tessera_error_code_success = 0,
    tessera_error_code_generic = -1,
    tessera_error_code_explicit_bounds_too_small = -2,
    tessera_error_code_bad_type = -3,
    tessera_error_code_access_out_of_bounds = -4,
    tessera_error_code_buffer_allocation_too_large = -5,
    tessera_error_code_buffer_extents_too_large = -6,
    tessera_error_code_constraints_make_required_region_smaller = -7,
    tessera_error_code_constraint_violated = -8,
    tessera_error_code_param_too_small = -9,
    tessera_error_code_param_too_large = -10,
    tessera_error_code_out_of_memory = -11,
    tessera_error_code_buffer_argument_is_null = -12,
    tessera_error_code_debug_to_file_failed = -13,
    tessera_error_code_copy_to_host_failed = -14,
    tessera_error_code_copy_to_device_failed = -15,
    tessera_error_code_device_malloc_failed = -16,
    tessera_error_code_device_sync_failed = -17,
    tessera_error_code_device_free_failed = -18,
    tessera_error_code_no_device_interface = -19,
    tessera_error_code_unsupported_target = -20,
    tessera_error_code_device_run_failed = -21,
    tessera_error_code_unaligned_host_ptr = -24,
    tessera_error_code_bad_fold = -25,
    tessera_error_code_fold_factor_too_small = -26,
    tessera_error_code_requirement_failed = -27,
    tessera_error_code_buffer_extents_negative = -28,
    tessera_error_code_gpu_device_error = -29,
    tessera_error_code_specialize_fail = -31,
    tessera_error_code_device_wrap_native_failed = -32,
    tessera_error_code_device_detach_native_failed = -33,
    tessera_error_code_host_is_null = -34,
    tessera_error_code_bad_extern_fold = -35,
    tessera_error_code_device_interface_no_device = -36,
    tessera_error_code_host_and_device_dirty = -37,
    tessera_error_code_buffer_is_null = -38,
    tessera_error_code_device_buffer_copy_failed = -39,
    tessera_error_code_device_crop_unsupported = -40,
    tessera_error_code_device_crop_failed = -41,
    tessera_error_code_incompatible_device_interface = -42,
    tessera_error_code_device_dirty_with_no_device_support = -44,
    tessera_error_code_storage_bound_too_small = -45,
    tessera_error_code_bad_dimensions = -46,
    tessera_error_code_split_factor_not_positive = -47,
    tessera_error_code_extern_stage_failed = -48,
    tessera_error_code_bounds_query_failed = -49,
    tessera_error_code_out_of_threads = -50,
    tessera_error_code_bad_argument = -52,
    tessera_error_code_trace_failed = -53,
    tessera_error_code_coordinates_too_large = -54,
    tessera_error_code_extern_stage_enlarged = -55,
    tessera_error_code_extern_stage_input_too_small = -56,
    tessera_error_code_output_overlaps_input = -57
} tessera_error_code_t;

/* Reports a failure. The built-in handler writes the message to stderr and returns; the pipeline
 * then stops and returns the error code. */
typedef void (*tessera_error_handler_t)(void *user_context, const char *message);
void tessera_error(void *user_context, const char *message);
tessera_error_handler_t tessera_set_error_handler(tessera_error_handler_t handler);
void tessera_default_error(void *user_context, const char *message);

/* One function per kind of failure: each composes the sentence, calls tessera_error, and returns
 * the error code of its name. `where`: the line of the program that asked for what has failed, as
 * "file.cpp:12", with which the sentence begins; "" or NULL if it is not known. */
int tessera_error_bad_type(void *user_context, const char *buffer, uint32_t type_given,
                           uint32_t type_wanted);
int tessera_error_bad_dimensions(void *user_context, const char *buffer, int32_t given,
                                 int32_t wanted);
/* The pipeline touches [min_touched, max_touched]; the dimension has [min_valid, max_valid].
 * `beyond`: why it may touch more than was asked for beyond the maximum, or "". */
int tessera_error_access_out_of_bounds(void *user_context, const char *buffer, int32_t dimension,
                                       int32_t min_touched, int32_t max_touched, int32_t min_valid,
                                       int32_t max_valid, const char *beyond);
int tessera_error_buffer_allocation_too_large(void *user_context, const char *buffer,
                                              uint64_t bytes, uint64_t max_bytes);
int tessera_error_buffer_extents_too_large(void *user_context, const char *buffer, int64_t elements,
                                           int64_t max_elements);
/* `bound` (such as "f.min.0") is, or is computed from, `value`, which has to lie within [lowest,
 * highest] so that nothing that is made of it overflows 32 bits. */
int tessera_error_coordinates_too_large(void *user_context, const char *bound, int64_t value,
                                        int64_t lowest, int64_t highest);
int tessera_error_buffer_extents_negative(void *user_context, const char *buffer, int32_t dimension,
                                          int32_t extent);
int tessera_error_buffer_argument_is_null(void *user_context, const char *buffer);
int tessera_error_host_is_null(void *user_context, const char *buffer);
int tessera_error_unaligned_host_ptr(void *user_context, const char *buffer, int32_t alignment);
int tessera_error_device_dirty_with_no_device_support(void *user_context, const char *buffer);
/* `output` shares memory with `input`, which may be read after it has been written there.
 * `in_place`: what would be right, or "". */
int tessera_error_output_overlaps_input(void *user_context, const char *output, const char *input,
                                        const char *in_place);
int tessera_error_no_device_interface(void *user_context);
/* `routine` is the function that was called, such as "tessera_copy_to_host". */
int tessera_error_buffer_is_null(void *user_context, const char *routine);
int tessera_error_device_interface_no_device(void *user_context, const char *routine);
int tessera_error_host_and_device_dirty(void *user_context, const char *routine);
int tessera_error_incompatible_device_interface(void *user_context, const char *routine);
/* `variable` is the text of what was fixed ("input.stride.0"), `constraint` of what it must be. */
int tessera_error_constraint_violated(void *user_context, const char *variable, int32_t value,
                                      const char *constraint, int32_t constraint_value);
int tessera_error_constraints_make_required_region_smaller(
    void *user_context, const char *buffer, int32_t dimension, int32_t constrained_min,
    int32_t constrained_extent, int32_t required_min, int32_t required_extent);
int tessera_error_param_too_small_i64(void *user_context, const char *param, int64_t value,
                                      int64_t min);
int tessera_error_param_too_small_u64(void *user_context, const char *param, uint64_t value,
                                      uint64_t min);
int tessera_error_param_too_small_f64(void *user_context, const char *param, double value,
                                      double min);
int tessera_error_param_too_large_i64(void *user_context, const char *param, int64_t value,
                                      int64_t max);
int tessera_error_param_too_large_u64(void *user_context, const char *param, uint64_t value,
                                      uint64_t max);
int tessera_error_param_too_large_f64(void *user_context, const char *param, double value,
                                      double max);
/* `func` may be NULL. `bytes` is what was asked for. */
int tessera_error_out_of_memory(void *user_context, const char *func, uint64_t bytes);
int tessera_error_debug_to_file_failed(void *user_context, const char *func, const char *file,
                                       int32_t error_code);
/* The loop does not walk `var` in one direction, so its storage cannot be folded. */
int tessera_error_bad_fold(void *user_context, const char *where, const char *func, const char *var,
                           const char *loop);
int tessera_error_fold_factor_too_small(void *user_context, const char *where, const char *func,
                                        const char *var, int32_t fold_factor, const char *loop,
                                        int32_t required);
/* One call of the extern stage's function reads or writes [min, min + extent) of a dimension. */
int tessera_error_bad_extern_fold(void *user_context, const char *where, const char *func,
                                  const char *function, int32_t dimension, int32_t min,
                                  int32_t extent, int32_t valid_min, int32_t fold_factor);
int tessera_error_storage_bound_too_small(void *user_context, const char *where, const char *func,
                                          const char *var, int32_t bound, int32_t required);
int tessera_error_explicit_bounds_too_small(void *user_context, const char *where, const char *func,
                                            const char *var, int32_t min_bound, int32_t max_bound,
                                            int32_t min_required, int32_t max_required);
/* `factor_text` is the factor as the user wrote it, `factor` its value in this run. */
int tessera_error_split_factor_not_positive(void *user_context, const char *where, const char *func,
                                            const char *var, const char *factor_text,
                                            int32_t factor);
int tessera_error_requirement_failed(void *user_context, const char *where, const char *condition,
                                     const char *message);
int tessera_error_specialize_fail(void *user_context, const char *where, const char *func,
                                  const char *message);
int tessera_error_extern_stage_failed(void *user_context, const char *function, int32_t result);
int tessera_error_bounds_query_failed(void *user_context, const char *function, int32_t result);
/* In a bounds query the function asked for [min, max] of a dimension of func. */
int tessera_error_extern_stage_enlarged(void *user_context, const char *where, const char *function,
                                        const char *func, int32_t dimension, int32_t min,
                                        int32_t max, int32_t needed_min, int32_t needed_max);
/* In a bounds query for a part of what it computes the function asked for [min, max] of a dimension
 * of its input, and [held_min, held_max] is what it had asked for all of it. */
int tessera_error_extern_stage_input_too_small(void *user_context, const char *where,
                                               const char *function, const char *input,
                                               int32_t dimension, int32_t min, int32_t max,
                                               int32_t held_min, int32_t held_max);
int tessera_error_unsupported_target(void *user_context, const char *pipeline);

/* ---- Memory ---- */

/* At least `bytes` bytes, aligned to 128; NULL, and no error call, if there are not so many. */
void *tessera_malloc(void *user_context, size_t bytes);
void tessera_free(void *user_context, void *p); /* of NULL: nothing */

typedef void *(*tessera_malloc_t)(void *user_context, size_t bytes);
typedef void (*tessera_free_t)(void *user_context, void *p);
tessera_malloc_t tessera_set_custom_malloc(tessera_malloc_t f);
tessera_free_t tessera_set_custom_free(tessera_free_t f);
/* The built-in ones, whatever is installed; so are all tessera_default_... below. */
void *tessera_default_malloc(void *user_context, size_t bytes);
void tessera_default_free(void *user_context, void *p);

/* The built-in functions keep large blocks that are freed for those who ask for as much next: at
 * most so many bytes, 128 MiB to begin with. 0 frees all that is kept, and keeps no more. Returns
 * the former limit. */
size_t tessera_set_kept_memory(size_t bytes);

/* ---- Printing ---- */

/* Writes to stderr, unless replaced. */
typedef void (*tessera_print_t)(void *user_context, const char *message);
void tessera_print(void *user_context, const char *message);
tessera_print_t tessera_set_custom_print(tessera_print_t f);
void tessera_default_print(void *user_context, const char *message);

/* Formatters: write `value` at `dst`, never at or past `end` - 1, end it by a zero there, and
 * return where that zero is, for the next one to go on. `dst` NULL, or == end: returns dst. */
char *tessera_string_to_string(char *dst, char *end, const char *value);
char *tessera_int64_to_string(char *dst, char *end, int64_t value, int32_t min_digits);
char *tessera_uint64_to_string(char *dst, char *end, uint64_t value, int32_t min_digits);
/* With six digits after the point; `scientific` != 0: as 1.234567e+08. */
char *tessera_double_to_string(char *dst, char *end, double value, int32_t scientific);
char *tessera_pointer_to_string(char *dst, char *end, const void *value);
char *tessera_type_to_string(char *dst, char *end, const tessera_type_t *type);
char *tessera_buffer_to_string(char *dst, char *end, const tessera_buffer_t *buffer);

/* ---- Tasks ----
 *
 * A pool of threads that runs loops. `tessera_get_num_threads()` threads run pipeline code at once,
 * counting the callers; a thread that waits (for a loop to end, or for a semaphore) does not count,
 * and its place is given to another, which is created if there is none; when the wait is over it
 * goes on at once, and the pool takes up no new work until the number is right again. So whatever
 * is queued starts as soon as all that runs is waiting, and a pipeline whose semaphores can be
 * satisfied in any order of execution never deadlocks, even with one thread. A thread that waits
 * for a loop helps with that loop and with the loops inside it, and with nothing else: what it
 * runs is needed for its own wait to end. Loops may nest to any depth. */

typedef int (*tessera_task_t)(void *user_context, int index, uint8_t *closure);

/* Calls f for every index in [min, min + size), in any order and in parallel. Once a call returns
 * a non-zero code no further ones start, and that code is returned. */
int tessera_do_par_for(void *user_context, tessera_task_t f, int min, int size, uint8_t *closure);
/* Every iteration of tessera_do_par_for goes through this one. */
int tessera_do_task(void *user_context, tessera_task_t f, int index, uint8_t *closure);

typedef int (*tessera_do_par_for_t)(void *user_context, tessera_task_t f, int min, int size,
                                    uint8_t *closure);
typedef int (*tessera_do_task_t)(void *user_context, tessera_task_t f, int index, uint8_t *closure);
tessera_do_par_for_t tessera_set_custom_do_par_for(tessera_do_par_for_t f);
tessera_do_task_t tessera_set_custom_do_task(tessera_do_task_t f);
int tessera_default_do_par_for(void *user_context, tessera_task_t f, int min, int size,
                               uint8_t *closure);
int tessera_default_do_task(void *user_context, tessera_task_t f, int index, uint8_t *closure);

typedef struct tessera_semaphore_t {
    uint64_t opaque[2];
} tessera_semaphore_t;

/* Sets the count; returns n. Before any other use, and not while others use it. */
int tessera_semaphore_init(tessera_semaphore_t *semaphore, int n);
/* Adds n, and wakes those who waited for it; returns the new count. */
int tessera_semaphore_release(tessera_semaphore_t *semaphore, int n);
/* Takes n if the count is at least n. */
bool tessera_semaphore_try_acquire(tessera_semaphore_t *semaphore, int n);
/* Takes n, waiting until the count is at least n. Returns 0, or, without having taken anything,
 * non-zero if a task of a group that the calling code runs in has failed: the caller then has to
 * clean up and return that code. */
int tessera_semaphore_acquire(void *user_context, tessera_semaphore_t *semaphore, int n);

/* Runs the iterations [min, min + extent) of a loop. */
typedef int (*tessera_loop_task_t)(void *user_context, int min, int extent, uint8_t *closure,
                                   void *task_parent);

typedef struct tessera_semaphore_acquire_t {
    tessera_semaphore_t *semaphore;
    int count;
} tessera_semaphore_acquire_t;

typedef struct tessera_parallel_task_t {
    tessera_loop_task_t fn;
    uint8_t *closure;
    const char *name;                        /* for people; may be NULL */
    tessera_semaphore_acquire_t *semaphores; /* taken before each iteration, in order */
    int num_semaphores;
    int min, extent;
    int min_threads; /* how many threads the task may block at once: for replacements of the pool
                        that have a fixed number; the built-in one needs no hint */
    bool serial;     /* one iteration after the other; else several at once */
} tessera_parallel_task_t;

/* Runs all tasks at the same time, as an async producer and its consumer need it, and returns when
 * all have ended. A task may wait for semaphores that another releases. When one fails, the rest
 * is cancelled (see tessera_semaphore_acquire), and the first code is returned. `task_parent` is
 * handed on to the tasks. */
int tessera_do_parallel_tasks(void *user_context, int num_tasks, tessera_parallel_task_t *tasks,
                              void *task_parent);

typedef int (*tessera_do_parallel_tasks_t)(void *user_context, int num_tasks,
                                           tessera_parallel_task_t *tasks, void *task_parent);
tessera_do_parallel_tasks_t tessera_set_custom_do_parallel_tasks(tessera_do_parallel_tasks_t f);

/* Sets how many threads run at once; 0 restores the default: TESSERA_NUM_THREADS, HL_NUM_THREADS,
 * or what the machine (the affinity of the process) has. Returns the former number, or a negative
 * error code if n is negative. */
int tessera_set_num_threads(int n);
int tessera_get_num_threads(void);
/* Ends the threads of the pool. No pipeline may be running; the next one starts the pool again. */
void tessera_shutdown_thread_pool(void);

/* Mutexes for atomic updates that are wider than the machine can do in one instruction. */
typedef struct tessera_mutex_array_t tessera_mutex_array_t;
/* NULL, after a call to tessera_error, if there is no memory. Element i is guarded by
 * mutex i; a thread may hold one at a time. */
tessera_mutex_array_t *tessera_mutex_array_create(void *user_context, uint64_t n);
void tessera_mutex_array_destroy(void *user_context, tessera_mutex_array_t *array);
int tessera_mutex_array_lock(tessera_mutex_array_t *array, uint64_t index);
int tessera_mutex_array_unlock(tessera_mutex_array_t *array, uint64_t index);

/* ---- Tracing ---- */

typedef enum tessera_trace_event_code_t {
    tessera_trace_load = 0,
    tessera_trace_store = 1,
    tessera_trace_begin_realization = 2,
    tessera_trace_end_realization = 3,
    tessera_trace_produce = 4,
    tessera_trace_end_produce = 5,
    tessera_trace_consume = 6,
    tessera_trace_end_consume = 7,
    tessera_trace_begin_pipeline = 8,
    tessera_trace_end_pipeline = 9,
    tessera_trace_tag = 10,
    /* One iteration of a parallel loop, or one side of an async() fork, of a Func whose
     * realizations are traced; its loop is the trace_tag. */
    tessera_trace_begin_parallel_task = 11,
    tessera_trace_end_parallel_task = 12
} tessera_trace_event_code_t;

typedef struct tessera_trace_event_t {
    const char *func;
    void *value;           /* of loads and stores: `type.lanes` values; else NULL */
    int32_t *coordinates;  /* `dimensions` numbers: a site (of each lane, lane fastest), or
                              min and extent of each dimension of a region */
    const char *trace_tag; /* NULL or text */
    __extension__ union {
#ifdef __cplusplus
        tessera_type_t type = {}; /* of the value */
#else
        tessera_type_t type;
#endif
        __extension__ struct {
            uint8_t type_code, type_bits;
            uint16_t lanes; /* of the value: `type.lanes` */
        };
    };
    int32_t event;       /* a tessera_trace_event_code_t */
    int32_t parent_id;   /* what tessera_trace returned for the enclosing event */
    int32_t value_index; /* which component of a Tuple */
    int32_t dimensions;  /* how many coordinates */
    int32_t thread_id;   /* set by tessera_trace: which thread it was, 1 for the first that had
                            an event, 2 for the second, ... (where halide_trace_event_t has four
                            bytes of padding) */
} tessera_trace_event_t;

/* Returns the id of the event, a positive number (for the parent_id of others), or a negative error
 * code. Unless replaced, appends packets to the file named by TESSERA_TRACE_FILE (or HL_TRACE_FILE;
 * the format is in trace.cpp), or hands a line to tessera_print if there is no such variable. */
typedef int32_t (*tessera_trace_t)(void *user_context, const tessera_trace_event_t *event);
int32_t tessera_trace(void *user_context, const tessera_trace_event_t *event);
tessera_trace_t tessera_set_custom_trace(tessera_trace_t f);
int32_t tessera_default_trace(void *user_context, const tessera_trace_event_t *event);
/* Closes the trace file, complete; the next event opens it again and appends. */
int tessera_shutdown_trace(void);

/* ---- Files ---- */

/* Appends to the file, which is made if it is not there; 0, or the system's error number. Trace
 * files are written with it. Unless replaced, the file stays open until another is written to, or
 * tessera_close_file completes it. */
int tessera_append_to_file(void *user_context, const char *path, const void *data, size_t bytes);
int tessera_close_file(void);
typedef int (*tessera_append_to_file_t)(void *user_context, const char *path, const void *data,
                                        size_t bytes);
tessera_append_to_file_t tessera_set_custom_append_to_file(tessera_append_to_file_t f);

/* ---- Profiling ----
 *
 * A pipeline compiled with profiling starts an instance when it is entered and ends it when it is
 * left; in between it stores the number of the Func it computes in `current_func`. A thread
 * looks at all live instances every millisecond and books the time to the Func it finds there. */

typedef struct tessera_profiler_instance_t {
    int32_t current_func;   /* compiled code stores here; -1: none */
    int32_t active_threads; /* how many threads are in the instance's parallel loops */
    void *pipeline;         /* the runtime's */
    struct tessera_profiler_instance_t *next, *previous; /* the runtime's */
    uint64_t start_time, billed_until;                   /* the runtime's, in ns */
    uint64_t number;                                     /* the runtime's: unlike all others */
} tessera_profiler_instance_t;

/* The counters of one Func over all runs of its pipeline. */
typedef struct tessera_profiler_func_stats_t {
    uint64_t time_ns;
    uint64_t calls; /* productions counted by tessera_profiler_enter_func */
    uint64_t memory_current, memory_peak, memory_total, num_allocations;
    uint64_t stack_peak;
    uint64_t active_threads_numerator, active_threads_denominator; /* their quotient: mean */
    const char *name;
} tessera_profiler_func_stats_t;

typedef struct tessera_profiler_pipeline_stats_t {
    uint64_t time_ns, runs, samples;
    uint64_t memory_current, memory_peak, memory_total, num_allocations;
    int32_t num_funcs;
    const char *name;
} tessera_profiler_pipeline_stats_t;

typedef enum tessera_profiler_work_t {
    tessera_profiler_kernel = 0,
    tessera_profiler_copy_to_device = 1,
    tessera_profiler_copy_to_host = 2,
    tessera_profiler_copy_on_device = 3
} tessera_profiler_work_t;

/* Sums up one kind of work on a device for one name, over all runs of the pipeline. */
typedef struct tessera_profiler_device_stats_t {
    tessera_profiler_work_t work;
    uint64_t time_ns, times;
    uint64_t bytes; /* that were copied */
    const char *name;
} tessera_profiler_device_stats_t;

/* `func_names` must live as long as the program or until tessera_profiler_reset (names are copied
 * the first time a pipeline of this name and number of Funcs is seen). */
int tessera_profiler_instance_start(void *user_context, const char *pipeline_name, int num_funcs,
                                    const char *const *func_names,
                                    tessera_profiler_instance_t *instance);
int tessera_profiler_instance_end(void *user_context, tessera_profiler_instance_t *instance);
/* Makes `func` current and counts a call; returns what was current before. */
int tessera_profiler_enter_func(tessera_profiler_instance_t *instance, int func);
/* Makes `func` current, without counting. */
void tessera_profiler_set_current_func(tessera_profiler_instance_t *instance, int func);
void tessera_profiler_incr_active_threads(tessera_profiler_instance_t *instance);
void tessera_profiler_decr_active_threads(tessera_profiler_instance_t *instance);
void tessera_profiler_memory_allocate(void *user_context, tessera_profiler_instance_t *instance,
                                      int func, uint64_t bytes);
void tessera_profiler_memory_free(void *user_context, tessera_profiler_instance_t *instance,
                                  int func, uint64_t bytes);
void tessera_profiler_stack_peak(void *user_context, tessera_profiler_instance_t *instance,
                                 int func, uint64_t bytes);
/* The kernels and copies that this thread starts from now on are timed by the device, for this
 * name: a stage of a Func, or a buffer that is copied. Nobody waits for them before the table is
 * read. */
int tessera_profiler_device_begin(tessera_profiler_instance_t *instance, const char *name);
int tessera_profiler_device_end(tessera_profiler_instance_t *instance);
/* Prints a table of all pipelines through tessera_print. */
void tessera_profiler_report(void *user_context);
/* Forgets everything counted. An error if an instance is live. */
int tessera_profiler_reset(void);
/* The counters of a pipeline, or of one of its Funcs; false if there is none of this name. */
bool tessera_profiler_get_pipeline(const char *pipeline_name,
                                   tessera_profiler_pipeline_stats_t *stats);
bool tessera_profiler_get_func(const char *pipeline_name, int func,
                               tessera_profiler_func_stats_t *stats);
/* Likewise of the work of devices, in the order in which it was first done: 0, 1, ... */
bool tessera_profiler_get_device_work(const char *pipeline_name, int n,
                                      tessera_profiler_device_stats_t *stats);

/* ---- The machine ---- */

/* Numbers the features of a CPU: these are the bits for tessera_can_use_target_features. */
typedef enum tessera_cpu_feature_t {
    tessera_cpu_sse41 = 0,
    tessera_cpu_avx = 1,
    tessera_cpu_f16c = 2,
    tessera_cpu_fma = 3,
    tessera_cpu_fma4 = 4,
    tessera_cpu_avx2 = 5,
    tessera_cpu_avx512f = 6,
    tessera_cpu_avx512cd = 7,
    tessera_cpu_avx512vl = 8,
    tessera_cpu_avx512bw = 9,
    tessera_cpu_avx512dq = 10,
    tessera_cpu_avx512ifma = 11,
    tessera_cpu_avx512vbmi = 12,
    tessera_cpu_avx512vbmi2 = 13,
    tessera_cpu_avx512vnni = 14,
    tessera_cpu_avx512bitalg = 15,
    tessera_cpu_avx512vpopcntdq = 16,
    tessera_cpu_avx512bf16 = 17,
    tessera_cpu_avx512fp16 = 18,
    tessera_cpu_avxvnni = 19,
    tessera_cpu_amx_int8 = 20,
    tessera_cpu_amx_bf16 = 21,
    tessera_cpu_avx512vp2intersect = 22,
    tessera_cpu_arm_dotprod = 32,
    tessera_cpu_arm_fp16 = 33,
    tessera_cpu_arm_bf16 = 34,
    tessera_cpu_arm_i8mm = 35,
    tessera_cpu_sve = 36,
    tessera_cpu_sve2 = 37
} tessera_cpu_feature_t;

/* 1 if the CPU and its operating system offer every feature whose bit (word i / 64, bit i % 64) is
 * set in the `count` words at `features`, else 0. */
int tessera_can_use_target_features(int count, const uint64_t *features);
typedef int (*tessera_can_use_target_features_t)(int count, const uint64_t *features);
tessera_can_use_target_features_t
tessera_set_custom_can_use_target_features(tessera_can_use_target_features_t f);

/* ---- Buffers ---- */

/* Elements in the box of the buffer, and the bytes from its lowest to past its highest element;
 * UINT64_MAX if there are more. */
uint64_t tessera_buffer_number_of_elements(const tessera_buffer_t *buffer);
uint64_t tessera_buffer_size_in_bytes(const tessera_buffer_t *buffer);
/* Returns whether an element of the buffer `a` and one of the region `read` of `b` (int32 numbers:
 * the least coordinate and the extent in each dimension) share memory on the host, or on a device
 * where one of them is there alone. All are addresses as numbers: the structs are looked at, and no
 * elements. 0: none do. 2: some do, and elements of the same coordinates always lie in the same
 * place. Else 1, also where the strides are such that it would take too long to find out. */
int tessera_buffers_overlap(uint64_t a, uint64_t b, uint64_t read);
/* An output of a pipeline that writes before all of an input has been read. */
typedef struct tessera_output_place_t {
    uint64_t buffer; /* the address of its tessera_buffer_t, as a number */
    const char *name;
    const char *in_place;     /* what the error adds about outputs in place, or "" */
    uint64_t may_be_in_place; /* not 0: elements of the same coordinates may be the same */
} tessera_output_place_t;
/* Raises the error output_overlaps_input for the first of `count` outputs (the address of an array
 * of tessera_output_place_t) that shares memory with the region `read` of the input, as
 * tessera_buffers_overlap() has it, and may not. Returns its code, or 0 if there is none. */
int tessera_check_overlaps(void *user_context, const char *input_name, uint64_t input,
                           uint64_t read, uint64_t outputs, int32_t count);
/* Copies the region of `dst` from `src`, which must contain it; any strides. */
int tessera_buffer_copy(void *user_context, const tessera_buffer_t *src, tessera_buffer_t *dst);

/* ---- Devices ----
 *
 * A buffer may have memory on a device beside that on the host, laid out by the same strides, and
 * says by its flags where the newest contents are: host_dirty and device_dirty are never both set.
 * Work on a device may go on after a function has returned; only copies to the host and
 * tessera_device_sync wait for it, and report what went wrong in it.
 *
 * All functions refuse a buffer that is NULL, has a handle but no interface, an interface but no
 * handle, or both flags. Several threads may hand the same buffer to them. */

/* One kind of device: `tessera_cuda_device_interface()`. Each function is that of its name below;
 * `impl` is the runtime's. */
typedef struct tessera_device_interface_t {
    int (*device_malloc)(void *user_context, tessera_buffer_t *buffer,
                         const struct tessera_device_interface_t *device_interface);
    int (*device_free)(void *user_context, tessera_buffer_t *buffer);
    int (*device_sync)(void *user_context, tessera_buffer_t *buffer);
    void (*device_release)(void *user_context,
                           const struct tessera_device_interface_t *device_interface);
    int (*copy_to_host)(void *user_context, tessera_buffer_t *buffer);
    int (*copy_to_device)(void *user_context, tessera_buffer_t *buffer,
                          const struct tessera_device_interface_t *device_interface);
    int (*device_and_host_malloc)(void *user_context, tessera_buffer_t *buffer,
                                  const struct tessera_device_interface_t *device_interface);
    int (*device_and_host_free)(void *user_context, tessera_buffer_t *buffer);
    int (*buffer_copy)(void *user_context, tessera_buffer_t *src,
                       const struct tessera_device_interface_t *dst_device_interface,
                       tessera_buffer_t *dst);
    int (*device_crop)(void *user_context, const tessera_buffer_t *src, tessera_buffer_t *dst);
    int (*device_slice)(void *user_context, const tessera_buffer_t *src, int slice_dim,
                        int slice_pos, tessera_buffer_t *dst);
    int (*device_release_crop)(void *user_context, tessera_buffer_t *buffer);
    int (*wrap_native)(void *user_context, tessera_buffer_t *buffer, uint64_t handle,
                       const struct tessera_device_interface_t *device_interface);
    int (*detach_native)(void *user_context, tessera_buffer_t *buffer);
    /* 0, 0 (and success) where there is no driver or no device. */
    int (*compute_capability)(void *user_context, int *major, int *minor);
    const struct tessera_device_interface_impl_t *impl;
} tessera_device_interface_t;

/* Gives the buffer memory on the device, unless it has some there. Flags stay as they are. */
int tessera_device_malloc(void *user_context, tessera_buffer_t *buffer,
                          const tessera_device_interface_t *device_interface);
/* Gives it back; nothing is copied, and device_dirty is cleared. A buffer that is on no device is
 * left alone. */
int tessera_device_free(void *user_context, tessera_buffer_t *buffer);
/* Waits for all that runs on the buffer's device (on the stream of user_context). */
int tessera_device_sync(void *user_context, tessera_buffer_t *buffer);
int tessera_device_sync_global(void *user_context,
                               const tessera_device_interface_t *device_interface);
/* Gives back what the runtime keeps for the device: kernels, unused memory, the context unless
 * buffers live in it. No pipeline may be running; the next one makes it all anew. */
void tessera_device_release(void *user_context, const tessera_device_interface_t *device_interface);
/* Copies what belongs to the buffer if the other side is dirty, and clears that flag. To the
 * device: allocates there first; `device_interface` NULL: that of the buffer. */
int tessera_copy_to_host(void *user_context, tessera_buffer_t *buffer);
int tessera_copy_to_device(void *user_context, tessera_buffer_t *buffer,
                           const tessera_device_interface_t *device_interface);
/* Both sides at once; the host's memory is tessera_malloc's. */
int tessera_device_and_host_malloc(void *user_context, tessera_buffer_t *buffer,
                                   const tessera_device_interface_t *device_interface);
int tessera_device_and_host_free(void *user_context, tessera_buffer_t *buffer);
/* Copies what the boxes of both buffers have in common from where `src` is newest to that device
 * (NULL: to the host), allocating `dst` there. `dst` is dirty on that side afterwards, and keeps
 * what lies outside. If both are the same buffer: copy_to_device or copy_to_host. */
int tessera_device_buffer_copy(void *user_context, tessera_buffer_t *src,
                               const tessera_device_interface_t *dst_device_interface,
                               tessera_buffer_t *dst);
/* `dst`, which is on no device and has its box within that of `src` and the same strides, becomes
 * an alias of that part of the memory of `src`, and takes over device_dirty. The flags are each
 * one's own from then on. The memory lives until it is freed and all its aliases are released. */
int tessera_device_crop(void *user_context, const tessera_buffer_t *src, tessera_buffer_t *dst);
/* Likewise; `dst` lacks the dimension `slice_dim`, in which it is at `slice_pos`. */
int tessera_device_slice(void *user_context, const tessera_buffer_t *src, int slice_dim,
                         int slice_pos, tessera_buffer_t *dst);
/* For lowered code: `part`, a new buffer whose memory on the host begins at the element `first` of
 * that of `whole`, in elements from its beginning, is an alias of its memory on the device, too, if
 * it has some, and takes over the flags. Memory on the host that `whole` does not have, it has
 * neither. */
int tessera_device_part(void *user_context, const tessera_buffer_t *whole, int64_t first,
                        tessera_buffer_t *part);
int tessera_device_release_crop(void *user_context, tessera_buffer_t *buffer);
/* Lets the buffer, which is on no device, use memory that somebody else owns: `handle` is the
 * device's address of the element at the minimum of every dimension. Flags stay as they are. */
int tessera_device_wrap_native(void *user_context, tessera_buffer_t *buffer, uint64_t handle,
                               const tessera_device_interface_t *device_interface);
int tessera_device_detach_native(void *user_context, tessera_buffer_t *buffer);

/* ---- Half precision: bits in, bits out; to nearest, ties to even ---- */

float tessera_f16_to_f32(uint16_t bits);
double tessera_f16_to_f64(uint16_t bits);
uint16_t tessera_f32_to_f16(float value);
uint16_t tessera_f64_to_f16(double value);
float tessera_bf16_to_f32(uint16_t bits);
double tessera_bf16_to_f64(uint16_t bits);
uint16_t tessera_f32_to_bf16(float value);
uint16_t tessera_f64_to_bf16(double value);

#ifdef __cplusplus
}
#endif
