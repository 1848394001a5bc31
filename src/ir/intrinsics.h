#pragma once
#include <cstdint>
#include <string_view>

namespace tessera::ir {

// The table of intrinsic calls: name, number of operands (-1: any), pure.
// A pure one has no effect and gives the same value for the same operands, so it may be merged,
// moved and dropped. Unless a row says otherwise, operands and result have one common type, and
// vectors are worked on lane by lane.
// clang-format off
#define TESSERA_INTRINSICS(X) TESSERA_VALUE_INTRINSICS(X) TESSERA_RUNTIME_INTRINSICS(X)

#define TESSERA_VALUE_INTRINSICS(X)                                                                \
    /* integers and bits; shift counts may be signed, a negative count shifts the other way */     \
    X(abs, 1, true)                /* of an int: the unsigned type of the same bits */             \
    X(absd, 2, true)               /* |a - b|; of ints: unsigned of the same bits */               \
    X(bitwise_and, 2, true)                                                                        \
    X(bitwise_or, 2, true)                                                                         \
    X(bitwise_xor, 2, true)                                                                        \
    X(bitwise_not, 1, true)                                                                        \
    X(shift_left, 2, true)                                                                         \
    X(shift_right, 2, true)        /* arithmetic for ints */                                       \
    X(popcount, 1, true)                                                                           \
    X(count_leading_zeros, 1, true)  /* of 0: the number of bits */                                \
    X(count_trailing_zeros, 1, true) /* of 0: the number of bits */                                \
    X(div_round_to_zero, 2, true)                                                                  \
    X(mod_round_to_zero, 2, true)                                                                  \
    X(extract_bits, 2, true)       /* value, index of the lowest bit; width is the type's */       \
    X(concat_bits, -1, true)       /* least significant first */                                   \
    /* wider, narrower, saturating, rounding: the result is as if computed without overflow */     \
    X(widening_add, 2, true)                                                                       \
    X(widening_sub, 2, true)       /* always signed, but for floats */                             \
    X(widening_mul, 2, true)       /* signed if one operand is */                                  \
    X(widening_shift_left, 2, true)                                                                \
    X(widening_shift_right, 2, true)                                                               \
    X(widen_right_add, 2, true)                                                                    \
    X(widen_right_sub, 2, true)                                                                    \
    X(widen_right_mul, 2, true)                                                                    \
    X(saturating_add, 2, true)                                                                     \
    X(saturating_sub, 2, true)                                                                     \
    X(saturating_cast, 1, true)    /* to the call's type */                                        \
    X(halving_add, 2, true)                                                                        \
    X(halving_sub, 2, true)                                                                        \
    X(rounding_halving_add, 2, true)                                                               \
    X(rounding_shift_left, 2, true)                                                                \
    X(rounding_shift_right, 2, true)                                                               \
    X(mul_shift_right, 3, true)                                                                    \
    X(rounding_mul_shift_right, 3, true)                                                           \
    X(lerp, 3, true)               /* zero_val, one_val, weight (unsigned or float) */             \
    /* floats */                                                                                   \
    X(sqrt, 1, true) X(sin, 1, true) X(cos, 1, true) X(tan, 1, true) X(asin, 1, true)              \
    X(acos, 1, true) X(atan, 1, true) X(atan2, 2, true) X(sinh, 1, true) X(cosh, 1, true)          \
    X(tanh, 1, true) X(asinh, 1, true) X(acosh, 1, true) X(atanh, 1, true) X(exp, 1, true)         \
    X(log, 1, true) X(pow, 2, true)                                                                \
    X(floor, 1, true) X(ceil, 1, true) X(trunc, 1, true)                                           \
    X(round, 1, true)              /* half to even */                                              \
    X(fma, 3, true)                /* a * b + c, rounded once */                                   \
    X(is_nan, 1, true) X(is_inf, 1, true) X(is_finite, 1, true) /* bool */                         \
    X(fast_inverse, 1, true) X(fast_inverse_sqrt, 1, true)                                         \
    X(fast_exp, 1, true) X(fast_log, 1, true) /* float32, to about 1e-5 */                         \
    X(strict_float, 1, true)       /* the operand, computed without contraction */                 \
    /* hints about a value; each is its first operand */                                           \
    X(likely, 1, true)             /* true or taken in the steady state of a loop */               \
    X(likely_if_innermost, 1, true)                                                                \
    X(promise_clamped, 3, true)    /* value, min, max: promised by the compiler */                 \
    X(unsafe_promise_clamped, 3, true) /* promised by the user */                                  \
    /* values that are special */                                                                  \
    X(undef, 0, true)              /* the element that is there already */                         \
    X(random, -1, true)            /* variables and counters that seed it; float32 or (u)int32 */  \
    X(if_then_else, -1, true)      /* condition, value[, otherwise]: only one is evaluated */      \
    X(require, -1, false)          /* condition, value, place, message parts: fails unless condition */ \
    X(return_second, 2, false)     /* evaluates both, in order */                                  \
    X(gather, -1, true)            /* scatter/gather: several values of one element */             \
    X(scatter, -1, true)                                                                           \
    X(target_query, -1, true)      /* question by name: resolved when lowering begins */           \
    /* what lowered code needs */                                                                  \
    X(user_context, 0, true)       /* handle: the first argument of runtime functions */           \
    X(stringify, -1, true)         /* handle: the operands' texts, one after the other */          \
    X(make_struct, -1, false)      /* handle: the operands, in a struct on the stack */            \
    X(make_buffer, -1, false)      /* handle to a tessera_buffer_t on the stack: host, type code,  \
                                      bits, dimensions, then min, extent, stride of each */        \
    X(address_of, 1, true)         /* handle: where the operand, a Load, reads */                  \
    X(prefetch, -1, false)         /* address_of, then extent and byte stride per dimension */     \
    X(alloca, 1, false)            /* handle: that many bytes on the stack, zeroed */              \
    X(free, 1, false)              /* address_of the first element of a buffer: used no more */    \
    X(is_device_dirty, 1, false)   /* buffer handle: are its newest contents on a device? */       \
    X(set_buffer_field, -1, false) /* buffer handle, field, dim, value: in a bounds query */       \
    X(mark_host_dirty, 1, false)   /* buffer handle: its newest contents are here */               \
    X(mark_device_dirty, 1, false) /* buffer handle: its newest contents are on a device */        \
    X(device_buffer, -1, false)    /* make_buffer of a buffer that kernels use: the runtime gives  \
                                      it memory on the device, which goes with the scope of the    \
                                      let that this is the value of */                             \
    X(on_device, 1, false)         /* int32: the operand, a C function that uses what its buffers  \
                                      have on the device */                                        \
    X(device_address, 1, false)    /* handle: of the first element on the device; of a buffer's    \
                                      handle */                                                    \
    X(gpu_barrier, 0, false)       /* int32: all threads of a block wait here for one another, and \
                                      see what each has written before */                          \
    X(gpu_warp_barrier, 1, false)  /* int32: likewise the lanes of a row, the threads of a block   \
                                      that differ in x alone, which has so many: a power of two up \
                                      to 32 */                                                     \
    X(gpu_role_barrier, 2, false)  /* int32: likewise so many threads of a block, whole warps of a \
                                      role; the number of the barrier, from 1 on, and of threads */\
    X(gpu_is_producer, 0, false)   /* bool: whether this thread has the role that copies ahead for \
                                      the others (WarpRoles); before the threads of a kernel are  \
                                      one nest of loops */                                         \
    X(gpu_consumer_group, 0, false) /* int32: which of two groups of consumers this thread is of  \
                                      (WarpRoles::ping_pong); likewise before they are one nest */ \
    X(gpu_set_registers, 2, false) /* int32: how many registers each thread of this warpgroup has \
                                      from here on; whether they are more than before */           \
    X(shuffle_lanes, 3, false)     /* value, lane, number of the lanes of a row: the value that    \
                                      the thread of that lane has; all lanes of the row are here   \
                                      at the same time */                                          \
    X(gpu_cluster_barrier, 0, false) /* int32: all threads of all blocks of a cluster wait here    \
                                      for one another, and see what each has written before */     \
    X(cluster_load, 2, false)      /* value of an element's type: what the memory of another block \
                                      of the cluster has at this place (address_of an element in   \
                                      the memory of this one); the number of that block in the     \
                                      cluster */                                                   \
    X(async_commit, 0, false)      /* int32: what this thread has begun to copy (copy_async) since \
                                      the last one is a group */                                   \
    X(async_wait, 1, false)        /* int32: waits until all groups of this thread are done but so \
                                      many, the last ones */                                       \
    X(barrier_init, -1, false)     /* int32: of the barrier (an element in the memory of the       \
                                      block) at this place: a phase waits for so many arrivals (1, \
                                      if nothing is said), and the bytes that they expect */       \
    X(barrier_arrive, -1, false)   /* int32: place of a barrier: a warp arrives, which is one      \
                                      arrival, when all its threads have come here; the blocks of  \
                                      the cluster at whose barriers of this place it does, one bit \
                                      each, or else this one */                                    \
    X(barrier_expect, 2, false)    /* int32: place of a barrier, bytes: arrives; the phase ends    \
                                      when so many have been copied (copy_tile) */                      \
    X(barrier_wait, 2, false)      /* int32: place of a barrier, whether the phase that is waited  \
                                      for is an odd one */                                         \
    X(barrier_end, 1, false)       /* int32: place of a barrier that nobody uses any more */       \
    X(tensor_wait, 2, false)       /* int32: waits until all instructions wgmma of this warpgroup  \
                                      are done but those of so many groups, the last ones; place   \
                                      of the accumulators */                                       \
    X(gpu_processors, 0, false)    /* int32: of the device that kernels run on; 1 if there is none */ \
    X(tensor_map, -1, false)       /* handle: where the first element of a buffer is (address_of   \
                                      within a kernel, then device_address), one element's bytes,  \
                                      and what the runtime's tessera_cuda_tensor_map is told of    \
                                      the buffer, and of the box that one copy_tile copies, in its \
                                      argument `shape`; its last operand is the swizzle of the   \
                                      memory that is written */

// The operations of the runtime for lowered code: an int32, if nothing else is said. The back end
// decides how to call them (for a CPU: lower/finish/runtime_calls.h).
#define TESSERA_RUNTIME_INTRINSICS(X)                                                              \
    X(semaphore_init, 2, false)    /* semaphore (an alloca), count */                              \
    X(semaphore_release, 2, false) /* semaphore, count to add; Acquire waits for it: what has been \
                                      written before is seen by those who acquire it after */      \
    X(mutex_array_create, 1, false) /* handle: that many mutexes, 0 if there is no memory; they go \
                                      with the scope of the let that they are the value of */      \
    X(mutex_array_destroy, 1, false)                                                               \
    X(copy_to_host, 1, false)      /* buffer handle: an error code; nothing if its newest contents \
                                      are here */                                                  \
    X(copy_to_device, 1, false)    /* buffer handle: an error code; it gets memory there if it has \
                                      none, and what is newest here is copied */                   \
    X(device_free, 1, false)       /* buffer handle */                                             \
    X(device_part, 3, false)       /* buffer handle, number of an element (int64), handle of the   \
                                      buffer of a part that begins there: an error code; it shares \
                                      memory on the device and is as dirty, for the scope of the   \
                                      let that this is the value of */                             \
    X(device_release_crop, 1, false)                                                               \
    X(device_buffer_copy, 3, false) /* buffer handle, buffer handle, 1 if to the device, else 0:   \
                                      an error code; copies from where the first one is newest */  \
    X(trace, 1, false)             /* the id of the event: a make_struct */                        \
    X(profiler_instance_start, 4, false) /* pipeline, functions, names of these, instance (an      \
                                      alloca): an error code; ended like mutex_array_create */     \
    X(profiler_instance_end, 1, false)                                                             \
    X(profiler_enter_func, 2, false)        /* instance, number of the function */                 \
    X(profiler_set_current_func, 2, false)  /* instance, number of the function */                 \
    X(profiler_incr_active_threads, 1, false)                                                      \
    X(profiler_decr_active_threads, 1, false)                                                      \
    X(profiler_memory_allocate, 3, false)   /* instance, number of the function, bytes */          \
    X(profiler_memory_free, 3, false)                                                              \
    X(profiler_stack_peak, 3, false)                                                               \
    X(profiler_device_begin, 2, false)      /* instance, name: what this thread has a device do    \
                                      from now on, kernels and copies, is timed for that name */   \
    X(profiler_device_end, 1, false)        /* instance */
// clang-format on

enum class Intrinsic : uint8_t {
#define ENUMERATOR(name, arity, pure) name,
    TESSERA_INTRINSICS(ENUMERATOR)
#undef ENUMERATOR
};

struct IntrinsicInfo {
    std::string_view name;
    int arity;  // -1: any number of operands
    bool pure;
};

const IntrinsicInfo &info_of(Intrinsic i);
// Returns true for one of TESSERA_RUNTIME_INTRINSICS.
bool is_runtime_intrinsic(Intrinsic i);
// The intrinsic of that name; false if there is none.
bool find_intrinsic(std::string_view name, Intrinsic &found);

}  // namespace tessera::ir
