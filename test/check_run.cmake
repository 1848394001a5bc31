# Runs a program, which has to end with this code and to write what matches:
#
#     cmake -DCOMMAND=<program>;<argument>... -DCODE=<number> -DEXPECTED=<regex> -P check_run.cmake
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT code STREQUAL CODE)
    message(FATAL_ERROR "it ended with ${code}, not ${CODE}, and wrote:\n${text}")
endif()
if(NOT text MATCHES "${EXPECTED}")
    message(FATAL_ERROR "it wrote:\n${text}\nwhich does not match: ${EXPECTED}")
endif()
