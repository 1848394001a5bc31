# Halide's functions and targets for projects that compile generators ahead of time, over those of
# TesseraGenerators.cmake. docs/coming_from_halide.md says what is different.

# add_halide_generator(<target> SOURCES <file>... [LINK_LIBRARIES <library>...]
#                      [PACKAGE_NAME <name>] [PACKAGE_NAMESPACE <prefix>])
#
# An executable of the generators that these files register. If one cross-compiles, it is built for
# this machine, so that a package of generators that were built before (PACKAGE_NAME) is not wanted;
# PACKAGE_NAMESPACE makes an alias.
function(add_halide_generator target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE;PYSTUB"
                          "SOURCES;LINK_LIBRARIES")
    _tessera_require_parsed(add_halide_generator ${target} "${ARG_UNPARSED_ARGUMENTS}")
    foreach(what IN ITEMS EXPORT_FILE PYSTUB)
        if(ARG_${what})
            message(FATAL_ERROR "add_halide_generator(${target}): ${what} is not there")
        endif()
    endforeach()
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
# ASSEMBLY, BITCODE, LLVM_ASSEMBLY, FUNCTION_INFO_HEADER, REGISTRATION (a source for programs that
# link with Halide::RunGenMain), SCHEDULE, STMT, STMT_HTML, CONCEPTUAL_STMT or CONCEPTUAL_STMT_HTML.
function(add_halide_library target)
    set(files ASSEMBLY BITCODE CPP_STUB FUNCTION_INFO_HEADER LLVM_ASSEMBLY REGISTRATION SCHEDULE STMT
              STMT_HTML CONCEPTUAL_STMT CONCEPTUAL_STMT_HTML)
    set(refused FEATURIZATION PYTHON_EXTENSION PYTORCH_WRAPPER COMPILER_LOG
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
        if(how_many GREATER 1 AND NOT type MATCHES "^(cpp_stub|function_info_header|registration|schedule)$")
            message(FATAL_ERROR "add_halide_library(${target}): ${file} is one file for each of "
                                "several TARGETS; ask for it with one")
        endif()
        list(APPEND outputs ${type})
    endforeach()
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
