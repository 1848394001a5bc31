# tessera_unity(<target>): compiles its sources sixteen at a time, unless TESSERA_UNITY is OFF. The headers
# of the IR and of LLVM take longer to read than the sources: a third to a half of the time is left.
function(tessera_unity target)
    if(TESSERA_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
        # g++ takes what the sources keep in namespaces without a name for parts of a header.
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
endfunction()

# Release means -O3 to CMake, with which a batch of `program` compiled in 55 s of processor time, and in 41 with -O2.
set(tessera_optimization $<$<CONFIG:Release>:-O2>)

# component(<name> [SEPARATE] DEPENDS <components and libraries> PRIVATE <libraries>): every .cpp below
# src/<name> in one static library, to be included as "<name>/file.h"; SEPARATE: each is an object of its
# own. Its target is tessera_<name>: targets are global, and a project that adds Tessera may have a `base`
# of its own.
function(component name)
    set(target tessera_${name})
    cmake_parse_arguments(ARG "SEPARATE" "" "DEPENDS;PRIVATE" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
    if(NOT sources)
        add_library(${target} INTERFACE)
        target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/src)
        target_link_libraries(${target} INTERFACE ${ARG_DEPENDS} ${ARG_PRIVATE})
        return()
    endif()
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    # g++ 12 warns of overlapping copies in its own std::string (GCC bug 105651), g++ 13 of references
    # into trees that outlive the temporary handle through which they were reached.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wsuggest-override
                                             $<$<BOOL:${PROJECT_IS_TOP_LEVEL}>:-Werror>
                                             ${tessera_optimization}
                                             $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-dangling-reference>)
    # With sanitizers it warns of std::optional's empty value as well.
    if(TESSERA_SANITIZE)
        target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
    if(NOT ARG_SEPARATE)
        tessera_unity(${target})
    endif()
endfunction()
