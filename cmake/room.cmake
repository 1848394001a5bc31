# room(<name> DEPENDS <rooms and libraries> PRIVATE <libraries> PRECOMPILED <header>):
# every .cpp below src/<name> in one static library, to be included as "<name>/file.h".
function(room name)
    cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE;PRECOMPILED" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
    if(NOT sources)
        add_library(${name} INTERFACE)
        target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
        target_link_libraries(${name} INTERFACE ${ARG_DEPENDS} ${ARG_PRIVATE})
        return()
    endif()
    add_library(${name} STATIC ${sources})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME tessera_${name})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    # g++ 12 warns of overlapping copies in its own std::string (GCC bug 105651).
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wsuggest-override
                                           $<$<BOOL:${PROJECT_IS_TOP_LEVEL}>:-Werror>
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
    # With sanitizers it warns of std::optional's empty value as well.
    if(TESSERA_SANITIZE)
        target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
    endif()
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
    if(ARG_PRECOMPILED)
        target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${ARG_PRECOMPILED})
    endif()
endfunction()
