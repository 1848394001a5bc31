# Is the model that ships as good as it was with the log that it is kept with, and is that still one
# of the pipelines that the generator makes? Variables: TRAINER, LOG, FOLDER.
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} -E tar xf ${LOG} WORKING_DIRECTORY ${FOLDER}
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${TRAINER} evaluate --log one.jsonl --log two.jsonl --least-pairs 0.80
        --least-programs 5000
    WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
