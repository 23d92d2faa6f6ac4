# What every S3 backend is built with besides its own files.
set(S3_COMMON_SOURCES)
foreach(name buf bytes endpoint life own pace page service site sizes)
	list(APPEND S3_COMMON_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
endforeach()
