# Halide's functions and targets for projects that compile generators ahead of time, over those of
# TesseraGenerators.cmake. docs/coming_from_halide.md says what is different.

# add_halide_generator(<target> SOURCES <file>... [LINK_LIBRARIES <library>...]
#                      [PACKAGE_NAME <name>] [PACKAGE_NAMESPACE <prefix>] [PYSTUB <generator>])
#
# An executable of the generators that these files register. If one cross-compiles, it is built for
# this machine, so that a package of generators that were built before (PACKAGE_NAME) is not wanted;
# PACKAGE_NAMESPACE makes an alias. A first file that ends in .py is a script of generators in Python.
#
# PYSTUB makes a module of Python, too: the target <target>_pystub, whose call() and
# create_callable() are those of one of the generators. A program imports tessera.halide before it.
function(add_halide_generator target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE;PYSTUB"
                          "SOURCES;LINK_LIBRARIES")
    _tessera_require_parsed(add_halide_generator ${target} "${ARG_UNPARSED_ARGUMENTS}")
    if(ARG_EXPORT_FILE)
        message(FATAL_ERROR "add_halide_generator(${target}): EXPORT_FILE is not there")
    endif()
    if(CMAKE_CROSSCOMPILING AND ARG_SOURCES AND NOT TARGET ${target})
        get_property(includes GLOBAL PROPERTY TESSERA_HALIDE_INCLUDE_DIRS)
        get_property(libraries GLOBAL PROPERTY TESSERA_HALIDE_LIBRARIES)
        _tessera_host_generator(${target} "${ARG_SOURCES}" "${includes}" "${libraries}")
    else()
        add_tessera_generator(${target} SOURCES ${ARG_SOURCES}
                              LINK_LIBRARIES Tessera::HalideCompat ${ARG_LINK_LIBRARIES})
    endif()
    if(ARG_PACKAGE_NAMESPACE AND NOT TARGET ${ARG_PACKAGE_NAMESPACE}${target})
        add_executable(${ARG_PACKAGE_NAMESPACE}${target} ALIAS ${target})
    endif()
    if(ARG_PYSTUB)
        _tessera_python_stub(${target} ${ARG_PYSTUB} "${ARG_SOURCES}" "${ARG_LINK_LIBRARIES}")
    endif()
endfunction()

# <target>_pystub: a module of Python of the generators that the sources register.
function(_tessera_python_stub target generator sources libraries)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    set(module ${target}_pystub)
    if(NOT module MATCHES "^[A-Za-z_][A-Za-z_0-9]*$")
        message(FATAL_ERROR "add_halide_generator(${target}): PYSTUB wants a target whose name is "
                            "one of Python's")
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${module}.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// The module @module@ of Python: the generator @generator@, which this library registers.
#include <Python.h>

static int fill(PyObject *module) {
    PyObject *generators = PyImport_ImportModule("tessera._generator");
    PyObject *filled =
        generators ? PyObject_CallMethod(generators, "_fill_stub", "Os", module, "@generator@") : nullptr;
    Py_XDECREF(generators);
    Py_XDECREF(filled);
    return filled ? 0 : -1;
}

PyMODINIT_FUNC PyInit_@module@() {
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void *>(&fill)},
                                       {0, nullptr}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "@module@", nullptr, 0,
                                     nullptr, slots, nullptr, nullptr, nullptr};
    return PyModuleDef_Init(&definition);
}
]])
    Python_add_library(${module} MODULE WITH_SOABI ${source} ${sources})
    # The library that the package tessera of Python has loaded has the generators, too.
    set(compiler Tessera::Tessera)
    if(TARGET tessera_shared)
        set(compiler tessera_shared)
    endif()
    target_link_libraries(${module} PRIVATE ${compiler} Tessera::HalideCompat ${libraries})
endfunction()

# add_halide_library(<target> FROM <generator target>
#     [GENERATOR <name>] [FUNCTION_NAME <name>] [USE_RUNTIME <target>]
#     [PARAMS <name=value>...] [TARGETS <target>...] [FEATURES <feature>...]
#     [NAMESPACE <name>]            of C++, for the compiled function: a::b
#     [AUTOSCHEDULER <name>]        of one that a plugin adds, or the target <prefix>::<name> of the
#                                   plugin that adds it
#     [PLUGINS <target or file>...]
#     [C_BACKEND]                   a library of C source, compiled by this project's own compiler
#     [<file> <variable>]...)       more files: the variable is set to the path
#
# The library <target>, whose header is <target>.h. A file is HEADER or C_HEADER, CPP_STUB,
# ASSEMBLY, BITCODE, LLVM_ASSEMBLY, FUNCTION_INFO_HEADER, PYTHON_EXTENSION, REGISTRATION (a source
# for programs that link with Halide::RunGenMain), SCHEDULE, STMT, STMT_HTML, CONCEPTUAL_STMT or
# CONCEPTUAL_STMT_HTML.
function(add_halide_library target)
    set(files ASSEMBLY BITCODE CPP_STUB FUNCTION_INFO_HEADER LLVM_ASSEMBLY PYTHON_EXTENSION
              REGISTRATION SCHEDULE STMT STMT_HTML CONCEPTUAL_STMT CONCEPTUAL_STMT_HTML)
    set(refused FEATURIZATION PYTORCH_WRAPPER COMPILER_LOG
                HLPIPE DEVICE_CODE)
    set(names FROM GENERATOR FUNCTION_NAME NAMESPACE USE_RUNTIME AUTOSCHEDULER HEADER C_HEADER)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "C_BACKEND;GRADIENT_DESCENT;NO_THREADS;NO_DL_LIBS"
        "${names};${files};${refused}" "PARAMS;TARGETS;FEATURES;PLUGINS")
    _tessera_require_parsed(add_halide_library ${target} "${ARG_UNPARSED_ARGUMENTS}")
    foreach(what IN LISTS refused ITEMS GRADIENT_DESCENT)
        if(ARG_${what})
            message(FATAL_ERROR "add_halide_library(${target}): ${what} is not there")
        endif()
    endforeach()
    # Those of Halide's that Tessera's own answer need no plugin.
    string(REGEX REPLACE "^Halide::(Mullapudi2016|Adams2019|Li2018)$" "\\1"
           ARG_AUTOSCHEDULER "${ARG_AUTOSCHEDULER}")
    if(ARG_AUTOSCHEDULER MATCHES "::")
        if(NOT TARGET ${ARG_AUTOSCHEDULER})
            message(FATAL_ERROR "add_halide_library(${target}): there is no plugin "
                                "${ARG_AUTOSCHEDULER}; Tessera's own need none")
        endif()
        list(APPEND ARG_PLUGINS ${ARG_AUTOSCHEDULER})
        string(REGEX REPLACE "^.*::" "" ARG_AUTOSCHEDULER ${ARG_AUTOSCHEDULER})
    endif()
    if(NOT TARGET "${ARG_FROM}")
        message(FATAL_ERROR "add_halide_library(${target}): FROM wants a target of "
                            "add_halide_generator, not '${ARG_FROM}'")
    endif()

    _tessera_default(ARG_GENERATOR ${target})
    _tessera_default(ARG_FUNCTION_NAME ${target})
    if(ARG_NAMESPACE)
        string(PREPEND ARG_FUNCTION_NAME "${ARG_NAMESPACE}::")
    endif()
    if(ARG_FUNCTION_NAME MATCHES "::" AND ARG_REGISTRATION)
        message(FATAL_ERROR "add_halide_library(${target}): REGISTRATION is not for functions in a "
                            "namespace; leave NAMESPACE out")
    endif()
    if(ARG_FUNCTION_NAME MATCHES "::")
        list(APPEND ARG_FEATURES c_plus_plus_name_mangling)
    endif()
    _tessera_default_target(default_target)
    list(TRANSFORM ARG_TARGETS REPLACE "^cmake(-|$)" "${default_target}\\1")
    _tessera_default(ARG_TARGETS ${default_target})
    list(LENGTH ARG_TARGETS how_many)
    if(ARG_REGISTRATION)
        foreach(package TIFF PNG ZLIB)  # of Halide::RunGenMain
            find_package(${package} QUIET)
        endforeach()
    endif()
    set(outputs)
    foreach(file IN LISTS files)
        if(NOT ARG_${file})
            continue()
        endif()
        string(TOLOWER ${file} type)
        if(how_many GREATER 1 AND NOT type MATCHES "^(cpp_stub|function_info_header|python_extension|registration|schedule)$")
            message(FATAL_ERROR "add_halide_library(${target}): ${file} is one file for each of "
                                "several TARGETS; ask for it with one")
        endif()
        list(APPEND outputs ${type})
    endforeach()
    # A module may want it of any library; what it is written for is C.
    if(NOT ARG_C_BACKEND AND NOT "${ARG_TARGETS};${ARG_FEATURES}" MATCHES "c_plus_plus_name_mangling")
        list(APPEND outputs python_extension)
        list(REMOVE_DUPLICATES outputs)
    endif()
    _tessera_halide_runtime(${target} "${ARG_USE_RUNTIME}" "${ARG_TARGETS};${ARG_FEATURES}")
    set(make add_tessera_library)
    if(ARG_C_BACKEND)
        set(make _tessera_c_library)
    endif()
    set(scheduled AUTOSCHEDULER "${ARG_AUTOSCHEDULER}" PLUGINS ${ARG_PLUGINS})
    if(NOT ARG_AUTOSCHEDULER)
        set(scheduled PLUGINS ${ARG_PLUGINS})
    endif()
    cmake_language(CALL ${make} ${target} ${scheduled} FROM ${ARG_FROM} GENERATOR ${ARG_GENERATOR}
        FUNCTION_NAME ${ARG_FUNCTION_NAME} FILE_BASE ${target} USE_RUNTIME ${target}.runtime
        TARGETS ${ARG_TARGETS} FEATURES ${ARG_FEATURES} PARAMS ${ARG_PARAMS} OUTPUTS ${outputs})

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.files)
    foreach(file IN LISTS files)
        if(ARG_${file})
            string(TOLOWER ${file} type)
            _tessera_output_extension(extension ${type})
            set(${ARG_${file}} ${folder}/${target}${extension} PARENT_SCOPE)
        endif()
    endforeach()
    foreach(file IN ITEMS HEADER C_HEADER)
        if(ARG_${file})
            set(${ARG_${file}} ${folder}/${target}.h PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# add_halide_python_extension_library(<target> HALIDE_LIBRARIES <library target>...
#                                     [MODULE_NAME <name>] [USE_RUNTIME <target>])
#
# A module of Python with the functions of libraries of add_halide_library; its name is <target>
# without MODULE_NAME. It has one runtime, so that USE_RUNTIME has nothing to choose.
function(add_halide_python_extension_library target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE_NAME;USE_RUNTIME" "HALIDE_LIBRARIES")
    _tessera_require_parsed(add_halide_python_extension_library ${target} "${ARG_UNPARSED_ARGUMENTS}")
    _tessera_default(ARG_MODULE_NAME ${target})
    add_tessera_python_module(${target} MODULE_NAME ${ARG_MODULE_NAME} FROM ${ARG_HALIDE_LIBRARIES})
endfunction()

# add_halide_runtime(<target> [TARGETS <target>...])
#
# Makes a library of what compiled pipelines call, and the functions of HalideRuntime.h. TARGETS
# have to be of this machine, or of that which one cross-compiles for, as the project's own compiler
# is used.
function(add_halide_runtime target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_THREADS;NO_DL_LIBS" "" "TARGETS")
    _tessera_require_parsed(add_halide_runtime ${target} "${ARG_UNPARSED_ARGUMENTS}")
    if(NOT CMAKE_CROSSCOMPILING)
        add_library(${target} INTERFACE)
        target_link_libraries(${target} INTERFACE Tessera::HalideRuntime Tessera::Runtime)
        return()
    endif()
    get_property(includes GLOBAL PROPERTY TESSERA_HALIDE_INCLUDE_DIRS)
    get_property(sources GLOBAL PROPERTY TESSERA_HALIDE_RUNTIME_SOURCES)
    add_tessera_runtime(${target})
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} SYSTEM PUBLIC ${includes})
    get_property(tessera GLOBAL PROPERTY TESSERA_INCLUDE_DIRS)
    target_include_directories(${target} PRIVATE ${tessera})
    target_compile_features(${target} PUBLIC cxx_std_20)
endfunction()

# <target>.runtime: the runtime named, or the one that all libraries share. None of a target or
# feature that says no_runtime: the program has one of its own.
function(_tessera_halide_runtime target named targets)
    if(named)
        if(NOT TARGET ${named})
            message(FATAL_ERROR "add_halide_library(${target}): USE_RUNTIME wants a target of "
                                "add_halide_runtime, not '${named}'")
        endif()
        set(runtime ${named})
    elseif(targets MATCHES "(^|[-;])no_runtime($|[-;])")
        set(runtime)
    else()
        set(runtime _tessera_shared_halide_runtime)
        if(NOT TARGET ${runtime})
            add_halide_runtime(${runtime})
        endif()
    endif()
    add_library(${target}.runtime INTERFACE)
    target_link_libraries(${target}.runtime INTERFACE ${runtime})
endfunction()

# Does the same as add_tessera_library(), with C source.
function(_tessera_c_library target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG ""
        "FROM;GENERATOR;FUNCTION_NAME;FILE_BASE;USE_RUNTIME;AUTOSCHEDULER"
        "TARGETS;FEATURES;PARAMS;OUTPUTS;PLUGINS")
    _tessera_scheduling(scheduling scheduling_files "${ARG_AUTOSCHEDULER}" "${ARG_PLUGINS}")
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    list(LENGTH ARG_TARGETS how_many)
    if(NOT "C" IN_LIST languages OR NOT how_many EQUAL 1)
        message(FATAL_ERROR "add_halide_library(${target}): C_BACKEND wants one target, and the "
                            "language C: project(... LANGUAGES C CXX)")
    endif()
    list(JOIN ARG_FEATURES "-" features)
    string(PREPEND features "-")
    string(REGEX REPLACE "-$" "" features "${features}")
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.files)
    file(MAKE_DIRECTORY ${folder})
    set(written)
    foreach(type IN ITEMS c_source c_header LISTS ARG_OUTPUTS)
        _tessera_output_extension(extension ${type})
        list(APPEND written ${folder}/${ARG_FILE_BASE}${extension})
    endforeach()
    list(JOIN ARG_OUTPUTS "," outputs)
    string(PREPEND outputs "c_source,c_header,")
    string(REGEX REPLACE ",$" "" outputs "${outputs}")
    add_custom_command(OUTPUT ${written}
        COMMAND $<TARGET_FILE:${ARG_FROM}> -g ${ARG_GENERATOR} -f ${ARG_FUNCTION_NAME}
                -n ${ARG_FILE_BASE} -o ${folder} -e ${outputs}
                target=${ARG_TARGETS}${features} ${scheduling} ${ARG_PARAMS}
        DEPENDS ${ARG_FROM} $<TARGET_FILE:${ARG_FROM}> ${scheduling_files}
        COMMENT "Writing the pipeline ${target} as C source" VERBATIM)
    add_library(${target} STATIC ${written})
    target_include_directories(${target} SYSTEM PUBLIC ${folder})
    target_link_libraries(${target} PUBLIC ${ARG_USE_RUNTIME} m)
endfunction()

# Halide's targets, unless Halide itself is there.
function(_tessera_halide_target name)
    if(NOT TARGET Halide::${name})
        add_library(Halide::${name} INTERFACE IMPORTED GLOBAL)
        target_link_libraries(Halide::${name} INTERFACE ${ARGN})
    endif()
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
    _tessera_halide_target(Halide Tessera::HalideCompat)
    _tessera_halide_target(Generator Tessera::Generator Tessera::HalideCompat)
    _tessera_halide_target(Tools Tessera::HalideCompat)
    _tessera_halide_target(ImageIO Tessera::HalideCompat)
    _tessera_halide_target(Runtime Tessera::HalideRuntime)
    _tessera_halide_target(RunGenMain Tessera::RunMain)
else()
    add_halide_runtime(_tessera_shared_halide_runtime)
    set_target_properties(_tessera_shared_halide_runtime PROPERTIES EXCLUDE_FROM_ALL ON)
    _tessera_halide_target(Runtime _tessera_shared_halide_runtime)
endif()
