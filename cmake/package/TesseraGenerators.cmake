# Functions for projects that compile pipelines ahead of time. They are there after
# find_package(Tessera), and where Tessera is a part of the build.

# add_tessera_generator(<target> SOURCES <file>... [LINK_LIBRARIES <library>...])
#
# An executable of the generators that these files register. If one cross-compiles, it is built for
# this machine, by the compiler TESSERA_HOST_CXX, as <target>.host; but a target of this name that
# is there already (an imported executable) is used as it is.
#
# A first file that ends in .py is a script of generators in Python, which calls tessera.main(); the
# others are those that it imports. Python (find_package) has the package tessera, or the folder
# TESSERA_PYTHON_PATH has it.
function(add_tessera_generator target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINK_LIBRARIES")
    _tessera_require_parsed(add_tessera_generator ${target} "${ARG_UNPARSED_ARGUMENTS}")
    if(NOT ARG_SOURCES)
        message(FATAL_ERROR "add_tessera_generator(${target}): SOURCES are missing")
    endif()
    if(TARGET ${target})
        return()
    endif()
    list(GET ARG_SOURCES 0 first)
    if(first MATCHES "\\.py$")
        _tessera_python_generator(${target} "${ARG_SOURCES}")
        return()
    endif()
    if(CMAKE_CROSSCOMPILING)
        _tessera_host_generator(${target} "${ARG_SOURCES}" "" "")
        return()
    endif()
    add_executable(${target} ${ARG_SOURCES})
    target_link_libraries(${target} PRIVATE Tessera::Generator ${ARG_LINK_LIBRARIES})
endfunction()

# add_tessera_library(<target> FROM <generator target>
#     [GENERATOR <name>]           of those in the executable; <target> without it
#     [FUNCTION_NAME <name>]       of the C function, and of its header; <target> without it
#     [FILE_BASE <name>]           of the header, if it is another than the function's
#     [TARGETS <target>...]        such as x86-64-linux-avx2; several become one library that
#                                  chooses when it runs; this machine, or that which one
#                                  cross-compiles for, without it
#     [FEATURES <feature>...]      of each target
#     [PARAMS <name=value>...]
#     [OUTPUTS <type>...]          more files than the library and its header: assembly, stmt, ...;
#                                  they are in the folder <target>.files; a shared_library has no
#                                  runtime within it
#     [USE_RUNTIME <target>]       made by add_tessera_runtime
#     [AUTOSCHEDULER <name>]       makes the schedule: one that the generators' program or a plugin
#                                  adds; PARAMS autoscheduler.<option>=<value> are for it
#     [PLUGINS <plugin>...])       shared libraries (targets or files) that the generator loads
#
# A library to link with: its compiled function, the header, and the runtime.
function(add_tessera_library target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG ""
        "FROM;GENERATOR;FUNCTION_NAME;FILE_BASE;USE_RUNTIME;AUTOSCHEDULER"
        "TARGETS;FEATURES;PARAMS;OUTPUTS;PLUGINS")
    _tessera_require_parsed(add_tessera_library ${target} "${ARG_UNPARSED_ARGUMENTS}")
    if(NOT TARGET "${ARG_FROM}")
        message(FATAL_ERROR "add_tessera_library(${target}): FROM wants a target of "
                            "add_tessera_generator, not '${ARG_FROM}'")
    endif()
    _tessera_default(ARG_GENERATOR ${target})
    _tessera_default(ARG_FUNCTION_NAME ${target})
    _tessera_default(ARG_FILE_BASE ${ARG_FUNCTION_NAME})
    _tessera_default_target(default_target)
    _tessera_default(ARG_TARGETS ${default_target})
    if(NOT ARG_USE_RUNTIME)
        _tessera_default_runtime(ARG_USE_RUNTIME)
    endif()

    if(NOT TARGET "${ARG_USE_RUNTIME}")
        message(FATAL_ERROR "add_tessera_library(${target}): USE_RUNTIME wants a target of "
                            "add_tessera_runtime, not '${ARG_USE_RUNTIME}'")
    endif()

    set(targets)
    foreach(t IN LISTS ARG_TARGETS)
        _tessera_require_machine(${target} ${t})
        foreach(f IN LISTS ARG_FEATURES ITEMS no_runtime)
            if(NOT "${t}-" MATCHES "-${f}-")
                string(APPEND t "-${f}")
            endif()
        endforeach()
        list(APPEND targets "${t}")
    endforeach()
    list(JOIN targets "," targets)
    _tessera_scheduling(scheduling scheduling_files "${ARG_AUTOSCHEDULER}" "${ARG_PLUGINS}")
    set(outputs static_library c_header ${ARG_OUTPUTS})
    list(JOIN outputs "," outputs)

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.files)
    file(MAKE_DIRECTORY ${folder})
    set(library ${folder}/${ARG_FILE_BASE}.a)
    set(header ${folder}/${ARG_FILE_BASE}.h)
    # With several targets, most of the other files exist once for each.
    set(others)
    list(LENGTH ARG_TARGETS how_many)
    foreach(once IN ITEMS python_extension:.py.c shared_library:.so)  # these are there once
        string(REPLACE ":" ";" once ${once})
        list(POP_FRONT once type)
        if(type IN_LIST ARG_OUTPUTS)
            list(APPEND others ${folder}/${ARG_FILE_BASE}${once})
        endif()
    endforeach()
    # Generators have a shared library linked by the compiler that the project is compiled by.
    set(linker)
    if("shared_library" IN_LIST ARG_OUTPUTS)
        set(linker ${CMAKE_CXX_COMPILER})
        if(CMAKE_C_COMPILER)
            set(linker ${CMAKE_C_COMPILER})
        endif()
        set(linker ${CMAKE_COMMAND} -E env "CC=${linker}")
    endif()
    if(how_many EQUAL 1)
        foreach(type IN LISTS ARG_OUTPUTS)
            _tessera_output_extension(extension ${type})
            if(extension)  # else the generator says what there is
                list(APPEND others ${folder}/${ARG_FILE_BASE}${extension})
            endif()
        endforeach()
    endif()
    list(REMOVE_DUPLICATES others)
    get_target_property(scripts ${ARG_FROM} TESSERA_SCRIPTS)
    if(NOT scripts)
        set(scripts)
    endif()
    add_custom_command(OUTPUT ${library} ${header} ${others}
        COMMAND ${linker} $<TARGET_FILE:${ARG_FROM}> -g ${ARG_GENERATOR} -f ${ARG_FUNCTION_NAME}
                -n ${ARG_FILE_BASE} -o ${folder} -e ${outputs} target=${targets} ${scheduling}
                ${ARG_PARAMS}
        DEPENDS ${ARG_FROM} $<TARGET_FILE:${ARG_FROM}> ${scripts} ${scheduling_files}
        COMMENT "Compiling the pipeline ${target}" VERBATIM)
    add_custom_target(${target}.build DEPENDS ${library} ${header} ${others})
    add_library(${target} STATIC IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES
        IMPORTED_LOCATION ${library} IMPORTED_LINK_INTERFACE_LANGUAGES CXX
        INTERFACE_INCLUDE_DIRECTORIES ${folder} TESSERA_FUNCTION ${ARG_FUNCTION_NAME})
    if("python_extension" IN_LIST ARG_OUTPUTS)
        set_target_properties(${target} PROPERTIES
            TESSERA_PYTHON_EXTENSION ${folder}/${ARG_FILE_BASE}.py.c)
    endif()
    add_dependencies(${target} ${target}.build)
    target_link_libraries(${target} INTERFACE ${ARG_USE_RUNTIME})
endfunction()

# add_tessera_run(<target> FROM <library target>...)
#
# The program tessera-run with libraries of add_tessera_library linked in. Wants the packages TIFF,
# PNG and ZLIB.
function(add_tessera_run target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FROM")
    _tessera_require_parsed(add_tessera_run ${target} "${ARG_UNPARSED_ARGUMENTS}")
    if(NOT TARGET Tessera::Run)
        message(FATAL_ERROR "add_tessera_run(${target}): the library of tessera-run is only there "
                            "for the machine that Tessera was built on, and not where Tessera is "
                            "a part of another project")
    endif()
    set(declarations)
    set(rows)
    foreach(library IN LISTS ARG_FROM)
        set(function)
        if(TARGET ${library})
            get_target_property(function ${library} TESSERA_FUNCTION)
        endif()
        if(NOT function)
            message(FATAL_ERROR "add_tessera_run(${target}): FROM wants targets of "
                                "add_tessera_library, not '${library}'")
        endif()
        string(APPEND declarations "int ${function}_argv(void *const *args);\n"
               "const tessera_filter_metadata_t *${function}_metadata(void);\n")
        string(APPEND rows "    {${function}_argv, ${function}_metadata},\n")
    endforeach()
    if(NOT rows)
        message(FATAL_ERROR "add_tessera_run(${target}): FROM is missing")
    endif()
    foreach(package TIFF PNG ZLIB)
        find_package(${package} REQUIRED)
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.run.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include <tessera_run.h>
extern "C" {
@declarations@}
int main(int argc, char **argv) {
    const tessera_run_function_t functions[] = {
@rows@    };
    return tessera_run_main(argc, argv, functions, int(sizeof(functions) / sizeof(functions[0])));
}
]])
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE Tessera::Run ${ARG_FROM})
endfunction()

# add_tessera_python_module(<target> FROM <library target>... [MODULE_NAME <name>])
#
# A module of Python with the functions of libraries of add_tessera_library, whose OUTPUTS have
# python_extension; its name is <target> without MODULE_NAME. With Python 3.11 and later it serves all
# versions from 3.11 on.
function(add_tessera_python_module target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE_NAME" "FROM")
    _tessera_require_parsed(add_tessera_python_module ${target} "${ARG_UNPARSED_ARGUMENTS}")
    _tessera_default(ARG_MODULE_NAME ${target})
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    set(functions)
    set(files)
    set(includes)
    set(builds)
    foreach(library IN LISTS ARG_FROM)
        set(file)
        if(TARGET ${library})
            get_target_property(file ${library} TESSERA_PYTHON_EXTENSION)
        endif()
        if(NOT file)
            message(FATAL_ERROR "add_tessera_python_module(${target}): FROM wants targets of "
                                "add_tessera_library with OUTPUTS python_extension, not '${library}'")
        endif()
        get_target_property(function ${library} TESSERA_FUNCTION)
        string(APPEND functions " X(${function})")
        string(APPEND includes "#include \"${file}\"\n")
        list(APPEND files ${file})
        list(APPEND builds ${library}.build)
    endforeach()
    if(NOT files)
        message(FATAL_ERROR "add_tessera_python_module(${target}): FROM is missing")
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.module.c)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#define TESSERA_PYTHON_MODULE @ARG_MODULE_NAME@
#define TESSERA_PYTHON_FUNCTIONS@functions@
@includes@")
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}")
    Python_add_library(${target} MODULE ${source})
    add_dependencies(${target} ${builds})
    target_link_libraries(${target} PRIVATE ${ARG_FROM})
    get_property(folders GLOBAL PROPERTY TESSERA_INCLUDE_DIRS)
    target_include_directories(${target} SYSTEM PRIVATE ${folders})
    # Each module has a runtime of its own, which nobody else sees.
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_MODULE_NAME} LINKER_LANGUAGE CXX)
    if(Python_VERSION VERSION_GREATER_EQUAL 3.11)
        set_target_properties(${target} PROPERTIES SUFFIX .abi3.so)
    endif()
endfunction()

# Makes an executable that runs a script.
function(_tessera_python_generator target sources)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    set(scripts)
    foreach(file IN LISTS sources)
        get_filename_component(path ${file} ABSOLUTE)
        list(APPEND scripts ${path})
    endforeach()
    list(GET scripts 0 script)
    set(path)
    if(TESSERA_PYTHON_PATH)
        set(path "PYTHONPATH='${TESSERA_PYTHON_PATH}'\${PYTHONPATH:+:$PYTHONPATH} ")
    endif()
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${target}.run)
    file(WRITE ${program}.new "#!/bin/sh\n${path}exec '${Python_EXECUTABLE}' '${script}' \"$@\"\n")
    file(CHMOD ${program}.new PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
         GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${program}.new ${program})
    add_executable(${target} IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${program}
                                               TESSERA_SCRIPTS "${scripts}")
endfunction()

# Sets what a generator's command line says of its autoscheduler, and the files it then depends on.
function(_tessera_scheduling arguments files autoscheduler plugins)
    set(paths)
    foreach(plugin IN LISTS plugins)
        if(TARGET ${plugin})
            list(APPEND paths $<TARGET_FILE:${plugin}>)
        else()
            get_filename_component(path ${plugin} ABSOLUTE)
            if(NOT EXISTS ${path})
                message(FATAL_ERROR "PLUGINS: there is neither a target nor a file ${plugin}")
            endif()
            list(APPEND paths ${path})
        endif()
    endforeach()
    set(words)
    if(paths)
        list(JOIN paths "," joined)
        list(APPEND words -p ${joined})
    endif()
    if(autoscheduler)
        list(APPEND words autoscheduler=${autoscheduler})
    endif()
    set(${arguments} ${words} PARENT_SCOPE)
    set(${files} ${paths} PARENT_SCOPE)
endfunction()

# The end of the name of a file of this type.
function(_tessera_output_extension variable type)
    set(static_library .a)
    set(object .o)
    set(c_header .h)
    set(c_source .c)
    set(cpp_stub .stub.h)
    set(assembly .s)
    set(python_extension .py.c)
    set(bitcode .bc)
    set(llvm_assembly .ll)
    set(function_info_header .function_info.h)
    set(registration .registration.cpp)
    set(schedule .schedule.h)
    set(stmt .stmt)
    set(stmt_html .stmt.html)
    set(conceptual_stmt .conceptual.stmt)
    set(conceptual_stmt_html .conceptual.stmt.html)
    set(device_code .ptx)
    set(${variable} "${${type}}" PARENT_SCOPE)
endfunction()

# add_tessera_runtime(<target>)
#
# Makes a library of what compiled pipelines call, compiled by this project's own compiler.
function(add_tessera_runtime target)
    find_package(Threads REQUIRED)
    get_property(folder GLOBAL PROPERTY TESSERA_RUNTIME_SOURCES)
    get_property(includes GLOBAL PROPERTY TESSERA_INCLUDE_DIRS)
    file(GLOB sources ${folder}/runtime/*.cpp)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PRIVATE ${folder})
    target_include_directories(${target} SYSTEM INTERFACE ${includes})
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

function(_tessera_require_parsed function target unparsed)
    if(unparsed)
        message(FATAL_ERROR "${function}(${target}): what is '${unparsed}'?")
    endif()
endfunction()

function(_tessera_default variable value)
    if(NOT ${variable})
        set(${variable} ${value} PARENT_SCOPE)
    endif()
endfunction()

# Gives the name that Tessera has for a machine; it is empty if there is none.
function(_tessera_machine variable processor system)
    set(${variable} "" PARENT_SCOPE)
    if(system STREQUAL Linux AND processor MATCHES "^(x86_64|AMD64)$")
        set(${variable} x86-64-linux PARENT_SCOPE)
    elseif(system STREQUAL Linux AND processor MATCHES "^(aarch64|arm64)$")
        set(${variable} arm-64-linux PARENT_SCOPE)
    endif()
endfunction()

function(_tessera_default_target variable)
    set(${variable} host PARENT_SCOPE)
    if(NOT CMAKE_CROSSCOMPILING)
        return()
    endif()
    _tessera_machine(machine "${CMAKE_SYSTEM_PROCESSOR}" "${CMAKE_SYSTEM_NAME}")
    if(NOT machine)
        message(FATAL_ERROR "what Tessera calls ${CMAKE_SYSTEM_PROCESSOR} with "
                            "${CMAKE_SYSTEM_NAME} is not known: say TARGETS")
    endif()
    set(${variable} ${machine} PARENT_SCOPE)
endfunction()

# Says that a target is for another machine than the one that is built for: the linker would say no
# more than "file in wrong format". If one does not cross-compile, the library may be for elsewhere.
function(_tessera_require_machine library target)
    _tessera_machine(built_for "${CMAKE_SYSTEM_PROCESSOR}" "${CMAKE_SYSTEM_NAME}")
    string(REGEX MATCH "^[a-z0-9]+-[0-9]+-[a-z]+" machine "${target}")
    if(target MATCHES "^host")
        _tessera_machine(machine "${CMAKE_HOST_SYSTEM_PROCESSOR}" "${CMAKE_HOST_SYSTEM_NAME}")
    endif()
    if(NOT built_for OR NOT machine OR machine STREQUAL built_for)
        return()
    endif()
    set(kind WARNING)
    if(CMAKE_CROSSCOMPILING)
        set(kind FATAL_ERROR)
    endif()
    message(${kind} "add_tessera_library(${library}): the target ${target} is for another machine than "
                    "the one that is built for, which is ${built_for}: programs cannot be linked with "
                    "the library. Say other TARGETS, or none for ${built_for} alone")
endfunction()

# The installed library is this machine's.
function(_tessera_default_runtime variable)
    if(NOT CMAKE_CROSSCOMPILING)
        set(${variable} Tessera::Runtime PARENT_SCOPE)
        return()
    endif()
    if(NOT TARGET tessera_target_runtime)
        add_tessera_runtime(tessera_target_runtime)
    endif()
    set(${variable} tessera_target_runtime PARENT_SCOPE)
endfunction()

# Libraries and include paths beside Tessera's own are those of this machine.
function(_tessera_host_generator target sources more_includes more_libraries)
    find_program(TESSERA_HOST_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH
                 DOC "A C++ compiler for this machine, for generators")
    get_property(library GLOBAL PROPERTY TESSERA_LIBRARY)
    if(NOT TESSERA_HOST_CXX OR NOT library)
        message(FATAL_ERROR "add_tessera_generator(${target}): to cross-compile, an installed "
                            "Tessera and a compiler for this machine (TESSERA_HOST_CXX) are "
                            "wanted, or an imported executable ${target}")
    endif()
    get_property(includes GLOBAL PROPERTY TESSERA_INCLUDE_DIRS)
    get_property(main GLOBAL PROPERTY TESSERA_GENERATOR_MAIN)
    list(APPEND includes ${more_includes})
    list(TRANSFORM includes PREPEND "-I")
    list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/"
         REGEX "^[^/]")
    get_filename_component(folder ${library} DIRECTORY)
    set(host ${CMAKE_CURRENT_BINARY_DIR}/${target}.host)
    add_custom_command(OUTPUT ${host}
        COMMAND ${TESSERA_HOST_CXX} -std=c++20 -O1 ${includes} ${sources} ${main} -o ${host}
                ${more_libraries} ${library} -Wl,-rpath,${folder}
        DEPENDS ${sources} ${library}
        COMMENT "Building the generator ${target} for this machine" VERBATIM)
    add_custom_target(${target}.build DEPENDS ${host})
    add_executable(${target} IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${host})
    add_dependencies(${target} ${target}.build)
endfunction()
