# libtessera.so: all components in one, with LLVM within itself, so that programs are linked in no time
# and need no LLVM.
set(tessera_components runtime base files ir algebra program lower interpret codegen driver lang aot)
set(objects)
foreach(name IN LISTS tessera_components)
    list(APPEND objects $<TARGET_OBJECTS:tessera_${name}>)
endforeach()
list(APPEND objects $<TARGET_OBJECTS:tessera_autoscheduler>
                    $<TARGET_OBJECTS:tessera_autoscheduler_registration>)
add_library(tessera_shared SHARED ${objects})
set_target_properties(tessera_shared PROPERTIES
    OUTPUT_NAME tessera EXPORT_NAME Tessera VERSION ${PROJECT_VERSION} SOVERSION 0
    LINKER_LANGUAGE CXX)
target_link_libraries(tessera_shared PRIVATE tessera_runtime_bytes tessera_llvm PNG::PNG
                                             ZLIB::ZLIB Threads::Threads dl)
# LLVM's names stay inside, those of its templates too: another LLVM may be in the same process.
set(exports ${CMAKE_CURRENT_LIST_DIR}/exports.map)
target_link_options(tessera_shared PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,--version-script=${exports})
set_target_properties(tessera_shared PROPERTIES LINK_DEPENDS ${exports})
target_compile_features(tessera_shared INTERFACE cxx_std_20)
target_include_directories(tessera_shared INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
