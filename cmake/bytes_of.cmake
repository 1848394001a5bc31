# cmake -Dname=<symbol> -Dpath=<file> -Doutput=<assembly> -P bytes_of.cmake
configure_file(${CMAKE_CURRENT_LIST_DIR}/bytes_of.S.in ${output} @ONLY)
file(TOUCH ${output})  # the file has changed, if not its name
