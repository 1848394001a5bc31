# cmake -Dname=<symbol> -Dpath=<file, or nothing> -Doutput=<assembly> -P bytes_of.cmake
set(bytes)
if(path)
    set(bytes ".incbin \"${path}\"")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/bytes_of.S.in ${output} @ONLY)
file(TOUCH ${output})  # the file has changed, if not its name
