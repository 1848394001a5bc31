# Packs the Python package of another build of this source, so that a wheel of it takes seconds.
set(package ${TESSERA_BUILT}/python_bindings/tessera)
add_custom_target(python_package)
install(FILES ${package}/_tessera.abi3.so DESTINATION tessera COMPONENT python)
install(DIRECTORY ${package}/_tessera DESTINATION tessera COMPONENT python)
file(REAL_PATH ${package}/libtessera.so.0 library)
install(FILES ${library} DESTINATION tessera COMPONENT python RENAME libtessera.so.0)
file(REAL_PATH ${package}/tessera-measure measure)
install(PROGRAMS ${measure} DESTINATION tessera COMPONENT python)
