/*
 * unit.h - what every unit test includes: cmocka and its prerequisites, in their order.
 */
#ifndef BK_TESTS_UNIT_H
#define BK_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* A text that lacks a part is shown whole. */
#define assert_contains(text, part)                                                                \
	do {                                                                                       \
		if (!strstr((text), (part)))                                                       \
			fail_msg("'%s' lacks '%s'", (text), (part));                               \
	} while (0)

#endif
