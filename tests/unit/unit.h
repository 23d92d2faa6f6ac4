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
#undef stop /* a macro of cmocka 2; ours stop loads and backends */

#include <string.h>

/* A text that lacks a part is shown whole. */
#define assert_contains(text, part)                                                                \
	do {                                                                                       \
		if (!strstr((text), (part)))                                                       \
			fail_msg("'%s' lacks '%s'", (text), (part));                               \
	} while (0)

/* cmocka's assert_in_range() has another name from version 2 on. */
#define assert_between(value, least, most)                                                         \
	do {                                                                                       \
		long value_ = (long)(value);                                                       \
                                                                                                   \
		if (value_ < (long)(least) || value_ > (long)(most))                               \
			fail_msg(#value " is %ld, not from %ld to %ld", value_, (long)(least),     \
				 (long)(most));                                                    \
	} while (0)

#endif
