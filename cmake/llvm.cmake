# LLVM 22, as one interface target that links statically and hides its warnings.
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
llvm_map_components_to_libnames(llvm_libraries
    x86codegen x86asmparser x86desc x86info aarch64codegen aarch64asmparser aarch64desc aarch64info
    nvptxcodegen nvptxdesc nvptxinfo orcjit passes bitwriter irreader linker target mcdisassembler
    x86disassembler)
add_library(tessera_llvm INTERFACE)
target_include_directories(tessera_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tessera_llvm INTERFACE ${llvm_definitions})
target_link_libraries(tessera_llvm INTERFACE ${llvm_libraries})
