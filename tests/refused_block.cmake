# Puts a truncated block in the place of a whole one: n5_read must refuse it, for its header is another.
file(REMOVE_RECURSE "${WORK}")
file(COPY "${DATASET}/" DESTINATION "${WORK}")
configure_file("${DATASET}/3/0/1" "${WORK}/0/0/1" COPYONLY)
execute_process(COMMAND "${PROGRAM}" "${WORK}" "${VOLUME}" RESULT_VARIABLE failed ERROR_VARIABLE message)
if(NOT failed OR NOT message MATCHES "CORRUPT_DATA: codecs\\[3\\] \"pad\"")
  message(FATAL_ERROR "the block was not refused: ${message}")
endif()
