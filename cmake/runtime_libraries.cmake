# The runtime's library within the compiler, for the libraries that the compiler writes: for each
# machine that code can be made for, compiled with flags of its own, whatever this build is for.
# The one of this machine is tessera_runtime_shipped; for another one there is none (no bytes)
# unless its compiler is installed, as <machine>-linux-gnu-g++.
file(GLOB runtime_sources CONFIGURE_DEPENDS src/runtime/*.cpp)
set(runtime_flags -O2 -g0)
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT TESSERA_SANITIZE AND NOT TESSERA_COVERAGE)
    # The component `runtime` has the same flags then.
    add_library(tessera_runtime_shipped STATIC $<TARGET_OBJECTS:tessera_runtime>)
    set_target_properties(tessera_runtime_shipped PROPERTIES LINKER_LANGUAGE CXX)
else()
    add_library(tessera_runtime_shipped STATIC ${runtime_sources})
endif()
target_include_directories(tessera_runtime_shipped PRIVATE src INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_link_libraries(tessera_runtime_shipped PUBLIC Threads::Threads dl)
set_target_properties(tessera_runtime_shipped PROPERTIES COMPILE_OPTIONS "${runtime_flags}")

# Compiles the runtime for another machine; sets `library` to its path.
function(cross_runtime machine compiler archiver library)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/runtime_${machine})
    file(MAKE_DIRECTORY ${folder})
    set(objects)
    foreach(source ${runtime_sources})
        cmake_path(GET source STEM name)
        set(object ${folder}/${name}.o)
        add_custom_command(OUTPUT ${object}
            COMMAND ${compiler} -std=c++20 -fPIC ${runtime_flags} -I${PROJECT_SOURCE_DIR}/src
                    -MD -MF ${object}.d -c ${source} -o ${object}
            DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
        list(APPEND objects ${object})
    endforeach()
    set(path ${folder}/libtessera_runtime.a)
    add_custom_command(OUTPUT ${path}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${path}
        COMMAND ${archiver} qcs ${path} ${objects}
        DEPENDS ${objects} VERBATIM)
    set(${library} ${path} PARENT_SCOPE)
endfunction()

set(runtime_bytes)
foreach(machine x86_64 aarch64)
    set(path)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL machine)
        set(path $<TARGET_FILE:tessera_runtime_shipped>)
    else()
        find_program(TESSERA_${machine}_CXX ${machine}-linux-gnu-g++)
        find_program(TESSERA_${machine}_AR ${machine}-linux-gnu-ar)
        if(TESSERA_${machine}_CXX AND TESSERA_${machine}_AR)
            cross_runtime(${machine} ${TESSERA_${machine}_CXX} ${TESSERA_${machine}_AR} path)
        else()
            message(STATUS "No ${machine}-linux-gnu-g++: static libraries for ${machine} "
                           "can carry no runtime")
        endif()
    endif()
    set(bytes ${CMAKE_CURRENT_BINARY_DIR}/runtime_${machine}.S)
    add_custom_command(OUTPUT ${bytes}
        COMMAND ${CMAKE_COMMAND} -Dname=tessera_runtime_${machine} "-Dpath=${path}"
                -Doutput=${bytes} -P ${PROJECT_SOURCE_DIR}/cmake/bytes_of.cmake
        DEPENDS ${path} cmake/bytes_of.cmake cmake/bytes_of.S.in
        VERBATIM)
    list(APPEND runtime_bytes ${bytes})
endforeach()
add_library(tessera_runtime_bytes STATIC ${runtime_bytes})
