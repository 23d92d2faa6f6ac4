/*
 * sanitize.c - see sanitize.h.
 *
 * The one invariant: a case's process ends by _exit(), so that the leak check of AddressSanitizer
 * would never run if it were not asked for here.
 */
#include "conform/sanitize.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BK_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define BK_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(BK_ASAN)
#define BK_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(BK_TSAN)
#define BK_TSAN 1
#endif

#ifdef BK_ASAN
#include <sanitizer/lsan_interface.h>
#endif

unsigned bk_sanitizer_slowdown(void)
{
#if defined(BK_TSAN)
	return 5;
#elif defined(BK_ASAN)
	return 3;
#else
	return 1;
#endif
}

bool bk_sanitizer_memory(void)
{
#if defined(BK_TSAN) || defined(BK_ASAN)
	return true;
#else
	return false;
#endif
}

bool bk_sanitizer_leaks(void)
{
#ifdef BK_ASAN
	return __lsan_do_recoverable_leak_check() != 0;
#else
	return false;
#endif
}
