#include "capture.h"
#include <doctest/doctest.h>

namespace {

constexpr uint32_t uint8 = 1 | 8 << 8 | 1 << 16;
constexpr uint32_t float32x4 = 2 | 32 << 8 | 4 << 16;

}  // namespace

TEST_SUITE("runtime errors") {
    TEST_CASE("the handler gets the caller's context") {
        auto old = tessera_set_error_handler(
            [](void *context, const char *s) { *static_cast<std::string *>(context) = s; });
        std::string text;
        tessera_error(&text, "hello");
        tessera_set_error_handler(old);
        CHECK(text == "hello");
    }
    TEST_CASE("a very long message is cut, not overrun") {
        Capture capture;
        std::string long_text(100000, 'x');
        CHECK(tessera_error_specialize_fail(nullptr, "", "f", long_text.c_str()) ==
              tessera_error_code_specialize_fail);
        CHECK(capture.text().size() > 1000);
        CHECK(capture.text().size() < 10000);
    }
    TEST_CASE("each failure returns its code and says what was wrong and what would be right") {
        Capture capture;
        auto said = [&](int code, int wanted, const std::string &sentence) {
            CHECK(code == wanted);
            CHECK(capture.text() == sentence);
            capture.text().clear();
        };
        said(tessera_error_bad_type(nullptr, "in", uint8, float32x4), tessera_error_code_bad_type,
             "Buffer in has elements of type uint8, but the pipeline was compiled for float32x4; "
             "pass one of that type, or write the pipeline for uint8");
        said(tessera_error_bad_dimensions(nullptr, "in", 1, 3), tessera_error_code_bad_dimensions,
             "Buffer in has 1 dimension, but the pipeline was compiled for 3");
        said(tessera_error_access_out_of_bounds(nullptr, "in", 1, -2, 11, 0, 9, ""),
             tessera_error_code_access_out_of_bounds,
             "Buffer in is too small in dimension 1: the pipeline touches [-2, 11], but the buffer "
             "has [0, 9] (2 missing before its min) (2 missing beyond its max)");
        said(tessera_error_access_out_of_bounds(nullptr, "in", 0, 0, 4, 0, -1, "x is split by 8"),
             tessera_error_code_access_out_of_bounds,
             "Buffer in is too small in dimension 0: the pipeline touches [0, 4], but the buffer "
             "is empty there (5 missing beyond its max); x is split by 8");
        const std::string hint = "; compile it for a target with the feature LargeBuffers "
                                 "(large_buffers in its text)";
        said(tessera_error_buffer_allocation_too_large(nullptr, "f", 5000000000u, 2147483647u),
             tessera_error_code_buffer_allocation_too_large,
             "The storage of f needs 5000000000 bytes, more than the 2147483647 that this target "
             "can address" +
                 hint);
        said(tessera_error_buffer_allocation_too_large(nullptr, "f", UINT64_MAX, 2147483647u),
             tessera_error_code_buffer_allocation_too_large,
             "The storage of f needs 2^64 or more bytes, more than the 2147483647 that this target "
             "can address" +
                 hint);
        said(tessera_error_buffer_extents_too_large(nullptr, "in", 5000000000, 2147483647),
             tessera_error_code_buffer_extents_too_large,
             "Buffer in has 5000000000 elements, more than the 2147483647 that this pipeline can "
             "address" +
                 hint);
        said(tessera_error_coordinates_too_large(nullptr, "f.x.max", 5000000000, -64, 64),
             tessera_error_code_coordinates_too_large,
             "The coordinates that the pipeline needs are too large: f.x.max is computed from "
             "5000000000, and only coordinates within [-64, 64] are sure not to overflow");
        said(tessera_error_buffer_extents_negative(nullptr, "in", 2, -7),
             tessera_error_code_buffer_extents_negative,
             "Buffer in has the extent -7 in dimension 2; extents must not be negative");
        said(tessera_error_buffer_argument_is_null(nullptr, "in"),
             tessera_error_code_buffer_argument_is_null, "Buffer in is a null pointer");
        said(tessera_error_host_is_null(nullptr, "in"), tessera_error_code_host_is_null,
             "Buffer in has no memory: its host pointer is null. Allocate it before the pipeline "
             "runs");
        said(tessera_error_unaligned_host_ptr(nullptr, "in", 64),
             tessera_error_code_unaligned_host_ptr,
             "The memory of buffer in is not aligned to 64 bytes, as the pipeline was promised");
        said(tessera_error_device_dirty_with_no_device_support(nullptr, "in"),
             tessera_error_code_device_dirty_with_no_device_support,
             "Buffer in has its newest contents on a device, but the pipeline runs on the CPU; "
             "copy it to the host first");
        said(tessera_error_output_overlaps_input(nullptr, "out", "in", " (why)"),
             tessera_error_code_output_overlaps_input,
             "Output out shares memory with input in, of which elements would be read after they "
             "have been overwritten (why); give the output memory of its own");
        said(tessera_error_no_device_interface(nullptr), tessera_error_code_no_device_interface,
             "No device interface: neither does the buffer have one, nor was one given");
        said(tessera_error_buffer_is_null(nullptr, "f"), tessera_error_code_buffer_is_null,
             "f was given a null pointer instead of a buffer");
        said(tessera_error_device_interface_no_device(nullptr, "f"),
             tessera_error_code_device_interface_no_device,
             "f was given a buffer that has a device interface, but no memory on the device");
        said(tessera_error_host_and_device_dirty(nullptr, "f"),
             tessera_error_code_host_and_device_dirty,
             "f was given a buffer that has been changed both on the host and on the device; copy "
             "it after each change");
        said(tessera_error_incompatible_device_interface(nullptr, "f"),
             tessera_error_code_incompatible_device_interface,
             "f was given a buffer whose memory is on a device of another kind; free that memory "
             "first");
        said(tessera_error_constraint_violated(nullptr, "in.stride.0", 3, "1", 1),
             tessera_error_code_constraint_violated, "in.stride.0 is 3, but must be 1");
        said(tessera_error_constraint_violated(nullptr, "in.extent.0", 3, "out.extent.0", 4),
             tessera_error_code_constraint_violated,
             "in.extent.0 is 3, but must be 4 (out.extent.0)");
        said(tessera_error_constraints_make_required_region_smaller(nullptr, "in", 0, 0, 10, 0, 12),
             tessera_error_code_constraints_make_required_region_smaller,
             "The constraints on buffer in limit dimension 0 to [0, 9], but the pipeline needs "
             "[0, 11]");
        said(tessera_error_param_too_small_i64(nullptr, "p", -5, -1),
             tessera_error_code_param_too_small, "Parameter p is -5, but must be at least -1");
        said(tessera_error_param_too_small_u64(nullptr, "p", 1, UINT64_MAX),
             tessera_error_code_param_too_small,
             "Parameter p is 1, but must be at least 18446744073709551615");
        said(tessera_error_param_too_small_f64(nullptr, "p", 0.25, 0.5),
             tessera_error_code_param_too_small, "Parameter p is 0.25, but must be at least 0.5");
        said(tessera_error_param_too_large_i64(nullptr, "p", 5, 1),
             tessera_error_code_param_too_large, "Parameter p is 5, but must be at most 1");
        said(tessera_error_param_too_large_u64(nullptr, "p", 5, 1),
             tessera_error_code_param_too_large, "Parameter p is 5, but must be at most 1");
        said(tessera_error_param_too_large_f64(nullptr, "p", 1e30, 1),
             tessera_error_code_param_too_large, "Parameter p is 1e+30, but must be at most 1");
        said(tessera_error_out_of_memory(nullptr, "f", 1000), tessera_error_code_out_of_memory,
             "Out of memory: cannot allocate 1000 bytes for f");
        said(tessera_error_debug_to_file_failed(nullptr, "f", "/x/y", 2),
             tessera_error_code_debug_to_file_failed, "Cannot write f to the file /x/y (error 2)");
        said(tessera_error_bad_fold(nullptr, "", "f", "y", "yo"), tessera_error_code_bad_fold,
             "The storage of f cannot be folded along y: the loop over yo does not walk it in one "
             "direction");
        said(tessera_error_fold_factor_too_small(nullptr, nullptr, "f", "y", 2, "yo", 3),
             tessera_error_code_fold_factor_too_small,
             "The storage of f is folded along y by 2, but one iteration of the loop over yo needs "
             "3");
        said(tessera_error_bad_extern_fold(nullptr, "", "f", "work", 1, 3, 4, 2, 4),
             tessera_error_code_bad_extern_fold,
             "The storage of f is folded by 4 along dimension 1, starting at 2, but the extern "
             "stage work needs [3, 6], which wraps around. Use a larger fold factor, one that the "
             "extern stage's step divides");
        said(tessera_error_storage_bound_too_small(nullptr, "a.cpp:7", "f", "x", 8, 10),
             tessera_error_code_storage_bound_too_small,
             "a.cpp:7: The storage of f is bounded to 8 along x, but 10 are needed");
        said(tessera_error_explicit_bounds_too_small(nullptr, "a.cpp:7", "f", "x", 0, 9, 0, 10),
             tessera_error_code_explicit_bounds_too_small,
             "a.cpp:7: The bounds given for f along x are [0, 9], but [0, 10] is needed");
        said(tessera_error_split_factor_not_positive(nullptr, "a.cpp:7", "f", "x", "n/2", 0),
             tessera_error_code_split_factor_not_positive,
             "a.cpp:7: In the schedule of f, x is split by n/2, which is 0; a split factor must be "
             "positive");
        said(tessera_error_requirement_failed(nullptr, "a.cpp:7", "n > 3", "n is 2"),
             tessera_error_code_requirement_failed, "a.cpp:7: Requirement failed: n > 3: n is 2");
        said(tessera_error_specialize_fail(nullptr, "a.cpp:7", "f", "odd width"),
             tessera_error_code_specialize_fail, "a.cpp:7: No specialization of f fits: odd width");
        said(tessera_error_extern_stage_failed(nullptr, "sort", 4),
             tessera_error_code_extern_stage_failed, "The extern stage sort failed: it returned 4");
        said(tessera_error_bounds_query_failed(nullptr, "sort", 4),
             tessera_error_code_bounds_query_failed,
             "The extern stage sort failed when asked which input it needs: it returned 4");
        said(
            tessera_error_extern_stage_enlarged(nullptr, "a.cpp:7", "tiles", "f", 1, 0, 15, 3, 10),
            tessera_error_code_extern_stage_enlarged,
            "a.cpp:7: The extern stage tiles wants to compute [0, 15] of f in dimension 1, and "
            "[3, 10] is what there is; it may compute more than that only where f is stored on the "
            "heap at the loop where it is computed");
        said(tessera_error_extern_stage_input_too_small(nullptr, "a.cpp:7", "tiles", "f", 1, 0, 15,
                                                        3, 10),
             tessera_error_code_extern_stage_input_too_small,
             "a.cpp:7: The extern stage tiles wants to read [0, 15] of f in dimension 1 for a part "
             "of what it computes, and [3, 10] is what there is, all that it wanted for the whole; "
             "let it say of the whole what it reads for each part, or compute it as a whole");
        said(tessera_error_unsupported_target(nullptr, "blur"),
             tessera_error_code_unsupported_target,
             "Pipeline blur was compiled for instructions that this CPU does not have, or for a "
             "GPU that this machine does not have");
    }
}
