# Cuts the header of a .npy file inside the data type: npy.h must refuse it, and read nothing after its end.
string(ASCII 147 magic)
string(ASCII 1 version)
string(REPEAT " " 257 spaces) # the bytes of the size are 1 and 1: CMake writes no zeros
foreach(cut IN ITEMS "" "'" "'<" "'<f" "'<f4")
  string(LENGTH "'descr': ${cut}" size)
  math(EXPR padding "257 - ${size}")
  string(SUBSTRING "${spaces}" 0 ${padding} before)
  file(WRITE "${WORK}/cut.npy" "${magic}NUMPY${version}${version}${version}${version}${before}'descr': ${cut}")
  execute_process(COMMAND "${PROGRAM}" "${WORK}/cut.npy" RESULT_VARIABLE failed ERROR_VARIABLE message)
  if(NOT failed OR NOT message MATCHES "data type ${cut} is not one of")
    message(FATAL_ERROR "the header was not refused: ${message}")
  endif()
endforeach()
