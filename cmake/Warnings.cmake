# Compiler and linker flags that every target of the project shares.
add_library(bakeoff_warnings INTERFACE)
target_compile_options(
	bakeoff_warnings
	INTERFACE -Wall
		  -Wextra
		  -Wpedantic
		  -Wshadow
		  -Wwrite-strings
		  -Wformat=2
		  -Wvla
		  -Wundef
		  -Wno-unused-parameter
		  -Wno-missing-field-initializers
		  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
		  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
		  $<$<COMPILE_LANGUAGE:C>:-Wold-style-definition>)
if(BAKEOFF_WERROR)
	target_compile_options(bakeoff_warnings INTERFACE -Werror)
endif()
if(BAKEOFF_SANITIZE)
	target_compile_options(bakeoff_warnings INTERFACE -fsanitize=${BAKEOFF_SANITIZE}
						 -fno-omit-frame-pointer -fno-sanitize-recover=all)
	target_link_options(bakeoff_warnings INTERFACE -fsanitize=${BAKEOFF_SANITIZE})
endif()
