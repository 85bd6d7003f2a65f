# Runs PROGRAM with the list ARGUMENTS: it must end with STATUS and print a text that matches TEXT. A regular expression of
# a test alone would ignore the status.
if(NOT TEXT OR NOT DEFINED STATUS)
  message(FATAL_ERROR "TEXT and STATUS say what is expected")
endif()
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
if(NOT status STREQUAL STATUS OR NOT "${printed}${errors}" MATCHES "${TEXT}")
  message(FATAL_ERROR "status ${status}: ${printed}${errors}")
endif()
