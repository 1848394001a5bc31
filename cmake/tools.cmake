# ccache and a fast linker, where they are installed; sanitizers and coverage on request. Paths are not
# rewritten to be the same for all clones: an error tells the project's own lines by where they are.
find_program(CCACHE ccache)
if(CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# The compiler looks for this name alone.
find_program(LLD ld.lld)
if(LLD)
    add_link_options(-fuse-ld=lld)
endif()

if(TESSERA_SANITIZE)
    add_compile_options(-fsanitize=${TESSERA_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer -g1)
    add_link_options(-fsanitize=${TESSERA_SANITIZE})
endif()
if(TESSERA_COVERAGE)
    add_compile_options(--coverage -O0)
    add_link_options(--coverage)
endif()
