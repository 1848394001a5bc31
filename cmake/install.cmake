# Says what `cmake --install` puts where: libtessera.so, which has LLVM within itself, so that
# programs with the compiler in them need none; headers; the runtime, as a library for this machine
# and as sources for others; the package for CMake and for pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(tessera_runtime_shipped PROPERTIES EXPORT_NAME Runtime)
set(include ${CMAKE_INSTALL_INCLUDEDIR})
foreach(target tessera_shared tessera_runtime_shipped)
    target_include_directories(${target} INTERFACE
        $<INSTALL_INTERFACE:${include}> $<INSTALL_INTERFACE:${include}/tessera>)
endforeach()

# tessera-run, and its library for add_tessera_run.
set_target_properties(tessera_run PROPERTIES EXPORT_NAME Run)
set_target_properties(tessera_run_main PROPERTIES EXPORT_NAME RunMain)
target_include_directories(tessera_run INTERFACE
    $<INSTALL_INTERFACE:${include}> $<INSTALL_INTERFACE:${include}/tessera>)
install(FILES tools/run/tessera_run.h DESTINATION ${include})

# Programs written for Halide; those that only call compiled pipelines need the second alone.
add_library(tessera_halide STATIC $<TARGET_OBJECTS:TesseraHalideCompat>)
add_library(tessera_halide_runtime STATIC
            $<TARGET_OBJECTS:TesseraHalideRuntime> $<TARGET_OBJECTS:tessera_base>)
set_target_properties(tessera_halide PROPERTIES
    EXPORT_NAME HalideCompat LINKER_LANGUAGE CXX)
set_target_properties(tessera_halide_runtime PROPERTIES
    EXPORT_NAME HalideRuntime LINKER_LANGUAGE CXX)
target_link_libraries(tessera_halide INTERFACE tessera_halide_runtime tessera_shared)
target_link_libraries(tessera_halide_runtime INTERFACE tessera_runtime_shipped)
target_include_directories(tessera_halide_runtime INTERFACE
    $<INSTALL_INTERFACE:${include}/tessera/halide>)
target_compile_features(tessera_halide_runtime INTERFACE cxx_std_20)
target_link_options(tessera_halide INTERFACE -rdynamic)

install(TARGETS tessera-tune tessera-measure RUNTIME)
install(TARGETS tessera_shared tessera_runtime_shipped tessera_run tessera_run_main tessera-run
                tessera_halide tessera_halide_runtime
        EXPORT TesseraTargets)
install(DIRECTORY compat/halide/ DESTINATION ${include}/tessera/halide FILES_MATCHING PATTERN *.h)
install(FILES compat/halide/support.cpp DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/halide)
install(DIRECTORY include/ DESTINATION ${include})
install(FILES autoscheduler/tune_template.h DESTINATION ${include}/tessera/autoscheduler)
foreach(name IN LISTS tessera_components)
    install(DIRECTORY src/${name} DESTINATION ${include}/tessera
            FILES_MATCHING PATTERN *.h PATTERN llvm EXCLUDE PATTERN host EXCLUDE
            PATTERN x86 EXCLUDE PATTERN aarch64 EXCLUDE)
endforeach()
install(DIRECTORY src/runtime DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera
        FILES_MATCHING PATTERN *.cpp PATTERN *.h)
install(FILES tools/generator_main.cpp DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
set(here ${PROJECT_BINARY_DIR}/package)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package})
configure_package_config_file(cmake/package/TesseraConfig.cmake.in ${here}/TesseraConfig.cmake.in
    INSTALL_DESTINATION ${package}
    PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR)
file(GENERATE OUTPUT ${here}/TesseraConfig.cmake INPUT ${here}/TesseraConfig.cmake.in)
write_basic_package_version_file(${here}/TesseraConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${here}/TesseraConfig.cmake ${here}/TesseraConfigVersion.cmake
              cmake/package/TesseraGenerators.cmake cmake/package/HalideGenerators.cmake
        DESTINATION ${package})
# find_package(Halide) finds Tessera where Halide_DIR says so.
install(FILES cmake/package/HalideConfig.cmake cmake/package/HalideConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/halide)
file(RELATIVE_PATH prefix_from_here /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/package/tessera.pc.in ${here}/tessera.pc @ONLY)
install(FILES ${here}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
