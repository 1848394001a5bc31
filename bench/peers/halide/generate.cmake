# Run a generator of Halide, and no longer than the limit:
#
#   cmake -D FUNCTION=<name> -D LIMIT=<seconds> -D TITLE=<what> -D ENTRY=<C++> -P generate.cmake
#         -- <program> <word>...
#
# leaves here the library <name>.a; its entry in the table of functions, <name>.inc; and <name>.log.
# A pipeline that cannot be generated gets an empty library, no entry, and a line that says so.
foreach(i RANGE ${CMAKE_ARGC})
    if(command_begins)
        list(APPEND command ${CMAKE_ARGV${i}})
    elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
        set(command_begins TRUE)
    endif()
endforeach()

file(REMOVE ${FUNCTION}.a)
string(TIMESTAMP begin "%s")
execute_process(COMMAND ${command} TIMEOUT ${LIMIT} RESULT_VARIABLE result
                OUTPUT_VARIABLE said ERROR_VARIABLE said)
string(TIMESTAMP end "%s")
math(EXPR seconds "${end} - ${begin}")
file(WRITE ${FUNCTION}.log "${TITLE}: ${seconds} s, ${result}\n${said}")

if(result STREQUAL 0 AND EXISTS ${FUNCTION}.a)
    file(WRITE ${FUNCTION}.inc "${ENTRY}\n")
else()
    message(STATUS "${TITLE} is left out after ${seconds} s: ${result} (see ${FUNCTION}.log)")
    file(WRITE ${FUNCTION}.a "!<arch>\n")
    file(WRITE ${FUNCTION}.inc "")
endif()
