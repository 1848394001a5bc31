/* Compiled pipelines as functions of a Python module: what a file of the type python_extension
 * includes. Plain C, on Python's limited API from Python 3.11 on: one module serves all later
 * versions.
 *
 * One function is a module of its own name. For several, define when each file is compiled
 *     TESSERA_PYTHON_FUNCTIONS="X(blur) X(sharpen)"    the functions of the module
 * and when one of them is compiled, too
 *     TESSERA_PYTHON_MODULE=filters                    the name of the module
 *
 * A function takes its arguments by position or by name: numbers, and objects with the buffer
 * protocol, whose memory is shared. Axis j of an array of n axes is dimension n - 1 - j. Elements
 * of bfloat16, which the protocol does not know, are passed as uint16, floats of 8 bits as uint8. A
 * Buffer of Tessera's keeps its mins. Outputs are arguments, too, and numbers with a default may be
 * left out. With the feature user_context any object may come before them, where none of the others
 * is left out. TypeError says which argument does not fit; a failure is a RuntimeError with the
 * runtime's message. The global interpreter lock is released meanwhile.
 */
#pragma once
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <tessera_runtime.h>

PyObject *tessera_python_call(const tessera_filter_metadata_t *metadata,
                              int (*argv)(void *const *args), PyObject *args, PyObject *names);

#define X(name)                                                                                    \
    PyObject *tessera_python_##name(PyObject *module, PyObject *args, PyObject *names);            \
    extern const char tessera_python_doc_##name[];
TESSERA_PYTHON_FUNCTIONS
#undef X

#ifdef TESSERA_PYTHON_MODULE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Messages of the runtime ----
 *
 * A thread of Python that calls a function keeps those that are reported on it; what the threads of
 * the runtime report is for whoever has failed and has no message. */

static __thread char *tessera_python_message;
static char *tessera_python_other_message;
static __thread int tessera_python_is_calling;

static void tessera_python_keep(char **where, const char *message) {
    char *copy = strdup(message);
    char *none = NULL;
    if (!__atomic_compare_exchange_n(where, &none, copy, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        free(copy); /* the first one is the cause */
}

static void tessera_python_error(void *user_context, const char *message) {
    (void)user_context;
    tessera_python_keep(tessera_python_is_calling ? &tessera_python_message
                                                  : &tessera_python_other_message,
                        message);
}

static PyObject *tessera_python_fail(int code) {
    char *message = __atomic_exchange_n(&tessera_python_message, NULL, __ATOMIC_ACQ_REL);
    if (!message)
        message = __atomic_exchange_n(&tessera_python_other_message, NULL, __ATOMIC_ACQ_REL);
    if (message)
        PyErr_SetString(PyExc_RuntimeError, message);
    else
        PyErr_Format(PyExc_RuntimeError, "the function returned the error code %d", code);
    free(message);
    return NULL;
}

/* ---- Arguments ---- */

typedef struct tessera_python_argument_t {
    const tessera_filter_argument_t *info;
    int place; /* among those that Python passes; -1 for one that it does not */
    bool is_context;
    tessera_scalar_value_t scalar;
    tessera_buffer_t buffer;
    tessera_dimension_t *dim;
    Py_buffer view;
    bool has_view;
} tessera_python_argument_t;

static const char *tessera_python_type_name(tessera_type_t type, char *text, size_t size) {
    const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    if (type.code == tessera_type_uint && type.bits == 1)
        snprintf(text, size, "bool");
    else
        snprintf(text, size, "%s%d", type.code < 5 ? names[type.code] : "type", type.bits);
    return text;
}

/* Sets TypeError: "argument 2 (mask): ...; wanted 2 dimensions of uint8". */
static int tessera_python_refuse(const tessera_python_argument_t *a, const char *what) {
    char type[16];
    tessera_python_type_name(a->info->type, type, sizeof(type));
    if (a->info->kind == tessera_argument_kind_input_scalar)
        PyErr_Format(PyExc_TypeError, "argument %d (%s): %s; wanted a number of %s", a->place,
                     a->info->name, what, type);
    else
        PyErr_Format(PyExc_TypeError, "argument %d (%s): %s; wanted %d dimension%s of %s", a->place,
                     a->info->name, what, (int)a->info->dimensions,
                     a->info->dimensions == 1 ? "" : "s", type);
    return -1;
}

static uint16_t tessera_python_float16(double value) {
    union {
        float f;
        uint32_t bits;
    } u = {(float)value};
    const uint32_t sign = u.bits >> 16 & 0x8000, magnitude = u.bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) return (uint16_t)(sign | 0x7E00);
    if (magnitude >= 0x477FF000) return (uint16_t)(sign | 0x7C00);
    if (magnitude < 0x33000001) return (uint16_t)sign;
    const int exponent = (int)(magnitude >> 23);
    /* Of what is too small for a leading 1, more bits are cut off. */
    const int cut = exponent < 113 ? 126 - exponent : 13;
    const uint32_t mantissa =
        exponent < 113 ? (magnitude & 0x7FFFFF) | 0x800000 : magnitude - ((uint32_t)112 << 23);
    const uint32_t kept = mantissa >> cut, rest = mantissa & (((uint32_t)1 << cut) - 1),
                   half = (uint32_t)1 << (cut - 1);
    return (uint16_t)(sign | (kept + (rest > half || (rest == half && (kept & 1)))));
}

static uint16_t tessera_python_bfloat16(double value) {
    union {
        float f;
        uint32_t bits;
    } u = {(float)value};
    if (u.f != u.f) return (uint16_t)(u.bits >> 16 | 0x40);
    return (uint16_t)((u.bits + 0x7FFF + (u.bits >> 16 & 1)) >> 16);
}

/* The float of 8 bits with a mantissa of `digits` bits; `bias` is added to exponents. */
static uint8_t tessera_python_float8(double value, int digits, int bias, uint8_t largest) {
    const uint8_t sign = copysign(1, value) < 0 ? 0x80 : 0;
    const double size = fabs(value);
    int exponent = 0;
    if (isnan(value)) return (uint8_t)(sign | (digits == 3 ? 0x7F : 0x7E));
    frexp(size, &exponent);
    exponent = size == 0 || exponent < 2 - bias ? 1 - bias : exponent - 1;
    if (isinf(size) || exponent > bias + 2) return (uint8_t)(sign | largest);
    const int bits =
        ((exponent + bias - 1) << digits) + (int)nearbyint(ldexp(size, digits - exponent));
    return (uint8_t)(sign | (bits < largest ? bits : largest));
}

static int tessera_python_integer(tessera_python_argument_t *a, PyObject *given) {
    const int bits = a->info->type.bits;
    const bool is_signed = a->info->type.code == tessera_type_int;
    PyObject *number = PyNumber_Index(given);
    if (!number) {
        PyErr_Clear();
        return tessera_python_refuse(a, "it is no whole number");
    }
    bool fits;
    if (is_signed) {
        const long long value = PyLong_AsLongLong(number);
        fits = !PyErr_Occurred() &&
               (bits == 64 || (value >= -(1LL << (bits - 1)) && value < 1LL << (bits - 1)));
        a->scalar.i64 = value; /* the low bytes come first */
    } else {
        const unsigned long long value = PyLong_AsUnsignedLongLong(number);
        fits = !PyErr_Occurred() && (bits == 64 || value < 1ULL << bits);
        a->scalar.u64 = value;
    }
    PyErr_Clear();
    Py_DECREF(number);
    return fits ? 0 : tessera_python_refuse(a, "it does not fit the type");
}

static int tessera_python_scalar(tessera_python_argument_t *a, PyObject *given) {
    const tessera_type_t type = a->info->type;
    if (type.code == tessera_type_handle) {
        a->scalar.handle = given == Py_None ? NULL : PyLong_AsVoidPtr(given);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (type.code == tessera_type_uint && type.bits == 1) {
        const int value = PyObject_IsTrue(given);
        a->scalar.b = value > 0;
        return value < 0 ? -1 : 0;
    }
    if (type.code == tessera_type_int || type.code == tessera_type_uint)
        return tessera_python_integer(a, given);
    const double value = PyFloat_AsDouble(given);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return tessera_python_refuse(a, "it is no number");
    }
    if (type.code == tessera_type_bfloat)
        a->scalar.u16 = tessera_python_bfloat16(value);
    else if (type.code == tessera_type_float8_e4m3)
        a->scalar.u8 = tessera_python_float8(value, 3, 7, 0x7E);
    else if (type.code == tessera_type_float8_e5m2)
        a->scalar.u8 = tessera_python_float8(value, 2, 15, 0x7B);
    else if (type.bits == 16)
        a->scalar.u16 = tessera_python_float16(value);
    else if (type.bits == 32)
        a->scalar.f32 = (float)value;
    else
        a->scalar.f64 = value;
    return 0;
}

/* Says whether elements of this format of the buffer protocol are of the type. */
static bool tessera_python_is_format(const char *format, Py_ssize_t bytes, tessera_type_t type) {
    if (!format) format = "B";
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (!*format || format[1] || bytes != (type.bits + 7) / 8) return false;
    switch (type.code) {
    case tessera_type_int: return strchr("bhilqn", *format) != NULL;
    case tessera_type_uint:
        return type.bits == 1 ? *format == '?' : strchr("BHILQNc", *format) != NULL;
    case tessera_type_float: return strchr("efd", *format) != NULL;
    case tessera_type_bfloat: return *format == 'H';
    case tessera_type_float8_e4m3:
    case tessera_type_float8_e5m2: return *format == 'B';
    default: return false;
    }
}

/* A Buffer of Tessera's has the least coordinates besides, dimension 0 first. */
static int tessera_python_take_mins(tessera_python_argument_t *a, PyObject *given) {
    PyObject *mins = PyObject_GetAttrString(given, "mins");
    if (!mins) PyErr_Clear();
    const int n = a->info->dimensions;
    for (int d = 0; mins && PyTuple_Check(mins) && PyTuple_Size(mins) == n && d < n; d++) {
        a->dim[d].min = (int32_t)PyLong_AsLong(PyTuple_GetItem(mins, d));
    }
    Py_XDECREF(mins);
    return PyErr_Occurred() ? -1 : 0;
}

static int tessera_python_array(tessera_python_argument_t *a, PyObject *given) {
    const bool is_output = a->info->kind == tessera_argument_kind_output_buffer;
    if (PyObject_GetBuffer(given, &a->view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return tessera_python_refuse(a, "it has no buffer protocol");
    }
    a->has_view = true;
    const int n = a->info->dimensions;
    char what[96];
    if (a->view.ndim != n ||
        !tessera_python_is_format(a->view.format, a->view.itemsize, a->info->type)) {
        snprintf(what, sizeof(what), "an array of %d dimension%s of the format \"%.16s\"",
                 a->view.ndim, a->view.ndim == 1 ? "" : "s", a->view.format ? a->view.format : "B");
        return tessera_python_refuse(a, what);
    }
    if (is_output && a->view.readonly)
        return tessera_python_refuse(a, "the array may not be written, and is an output");
    a->dim = (tessera_dimension_t *)PyMem_Calloc((size_t)(n ? n : 1), sizeof(*a->dim));
    if (!a->dim) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t dense = a->view.itemsize; /* where the object says no strides */
    for (int d = 0; d < n; d++) {
        const Py_ssize_t extent = a->view.shape[n - 1 - d];
        const Py_ssize_t stride = a->view.strides ? a->view.strides[n - 1 - d] : dense;
        dense *= extent;
        const Py_ssize_t elements = stride / a->view.itemsize;
        if (stride % a->view.itemsize != 0)
            return tessera_python_refuse(a, "strides are no multiples of the size of an element");
        if (extent > INT32_MAX || elements > INT32_MAX || elements < INT32_MIN)
            return tessera_python_refuse(a, "an extent or a stride needs more than 32 bits");
        a->dim[d].extent = (int32_t)extent;
        a->dim[d].stride = (int32_t)elements;
    }
    /* Of an array without elements: anything that is no null pointer. */
    a->buffer.host = a->view.buf ? (uint8_t *)a->view.buf : (uint8_t *)a->dim;
    a->buffer.flags = is_output ? 0 : (uint64_t)tessera_buffer_flag_host_dirty;
    a->buffer.type = a->info->type;
    a->buffer.dimensions = n;
    a->buffer.dim = a->dim;
    return tessera_python_take_mins(a, given);
}

static int tessera_python_take(tessera_python_argument_t *a, PyObject *given) {
    if (a->is_context) { /* any object, of which the function gets the address */
        memcpy(&a->scalar, &given, sizeof(given));
        return 0;
    }
    if (a->info->kind != tessera_argument_kind_input_scalar) return tessera_python_array(a, given);
    if (given) return tessera_python_scalar(a, given);
    memcpy(&a->scalar, a->info->scalar_def, (size_t)(a->info->type.bits + 7) / 8);
    return 0;
}

/* Returns what Python passes as the argument, borrowed; NULL without an error if the default does.
 */
static PyObject *tessera_python_given(const tessera_python_argument_t *a, PyObject *args,
                                      PyObject *names, Py_ssize_t *named) {
    PyObject *by_name = names ? PyDict_GetItemString(names, a->info->name) : NULL;
    if (a->place < PyTuple_Size(args)) return PyTuple_GetItem(args, a->place);
    if (by_name)
        ++*named;
    else if (a->info->kind != tessera_argument_kind_input_scalar || !a->info->scalar_def)
        tessera_python_refuse(a, "it is missing");
    return by_name;
}

static int tessera_python_take_all(tessera_python_argument_t *all, int count, PyObject *args,
                                   PyObject *names) {
    Py_ssize_t named = 0;
    int last = -1;
    for (int i = 0; i < count; i++) {
        if (all[i].place < 0) continue;
        last = all[i].place;
        PyObject *given = tessera_python_given(&all[i], args, names, &named);
        if (PyErr_Occurred() || tessera_python_take(&all[i], given) < 0) return -1;
    }
    if (PyTuple_Size(args) <= last + 1 && (!names || named == PyDict_Size(names))) return 0;
    PyErr_Format(PyExc_TypeError,
                 "the function takes %d arguments, and one is too many, is given twice, or has a "
                 "name that it does not know",
                 last + 1);
    return -1;
}

/* Runs without the lock. Brings results to the host; nothing stays on a device. */
static int tessera_python_run(tessera_python_argument_t *all, int count, void *const *pointers,
                              int (*argv)(void *const *args)) {
    int code = argv(pointers);
    for (int i = 0; i < count; i++) {
        tessera_buffer_t *b = &all[i].buffer;
        if (!all[i].has_view) continue;
        if (!code && (b->flags & tessera_buffer_flag_device_dirty))
            code = tessera_copy_to_host(NULL, b);
        if (b->device) tessera_device_free(NULL, b);
    }
    return code;
}

PyObject *tessera_python_call(const tessera_filter_metadata_t *metadata,
                              int (*argv)(void *const *args), PyObject *args, PyObject *names) {
    const int count = metadata->num_arguments;
    tessera_python_argument_t *all =
        (tessera_python_argument_t *)PyMem_Calloc((size_t)count + 1, sizeof(*all));
    void **pointers = (void **)PyMem_Calloc((size_t)count + 1, sizeof(*pointers));
    PyObject *result = NULL;
    if (!all || !pointers) {
        PyMem_Free(all);
        PyMem_Free(pointers);
        return PyErr_NoMemory();
    }
    int place = 0;
    const Py_ssize_t given = PyTuple_Size(args) + (names ? PyDict_Size(names) : 0);
    for (int i = 0; i < count; i++) {
        all[i].info = &metadata->arguments[i];
        /* The user context may be left out. */
        all[i].is_context = strcmp(all[i].info->name, "__user_context") == 0;
        all[i].place = all[i].is_context && given < count ? -1 : place++;
        pointers[i] = all[i].info->kind == tessera_argument_kind_input_scalar
                          ? (void *)&all[i].scalar
                          : (void *)&all[i].buffer;
    }
    if (tessera_python_take_all(all, count, args, names) == 0) {
        int code;
        const int was_calling = tessera_python_is_calling;
        Py_BEGIN_ALLOW_THREADS tessera_python_is_calling = 1;
        code = tessera_python_run(all, count, pointers, argv);
        tessera_python_is_calling = was_calling;
        Py_END_ALLOW_THREADS if (code) { tessera_python_fail(code); }
        else {
            Py_INCREF(Py_None);
            result = Py_None;
        }
    }
    for (int i = 0; i < count; i++) {
        if (all[i].has_view) PyBuffer_Release(&all[i].view);
        PyMem_Free(all[i].dim);
    }
    PyMem_Free(all);
    PyMem_Free(pointers);
    return result;
}

/* ---- The module ---- */

#define TESSERA_PYTHON_TEXT_(name) #name
#define TESSERA_PYTHON_TEXT(name) TESSERA_PYTHON_TEXT_(name)
#define TESSERA_PYTHON_INIT_(name) PyInit_##name
#define TESSERA_PYTHON_INIT(name) TESSERA_PYTHON_INIT_(name)

PyMODINIT_FUNC TESSERA_PYTHON_INIT(TESSERA_PYTHON_MODULE)(void) {
    static PyMethodDef methods[] = {
#define X(name)                                                                                    \
    {#name, (PyCFunction)(void (*)(void))tessera_python_##name, METH_VARARGS | METH_KEYWORDS,      \
     tessera_python_doc_##name},
        TESSERA_PYTHON_FUNCTIONS
#undef X
        {NULL, NULL, 0, NULL}};
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                            TESSERA_PYTHON_TEXT(TESSERA_PYTHON_MODULE),
                                            "Pipelines that Tessera has compiled.",
                                            -1,
                                            methods,
                                            NULL,
                                            NULL,
                                            NULL,
                                            NULL};
    tessera_set_error_handler(tessera_python_error);
    return PyModule_Create(&definition);
}
#endif
