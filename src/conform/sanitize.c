/*
 * sanitize.c - see sanitize.h.
 *
 * The one invariant: a case's process ends by _exit(), so that neither the leak check of
 * AddressSanitizer nor the exit status of ThreadSanitizer would be seen if they were not asked for
 * here.
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
#ifdef BK_TSAN
#include <stdatomic.h>
#endif
#include <stddef.h>

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

#ifdef BK_TSAN
/* The runtime calls this for each report that is not suppressed; it knows no other way. */
static atomic_bool race_reported;

void __tsan_on_report(void *report);
void __tsan_on_report(void *report)
{
	atomic_store(&race_reported, true);
}
#endif

const char *bk_sanitizer_found(void)
{
#if defined(BK_ASAN)
	return __lsan_do_recoverable_leak_check() ? "memory is lost (see below)" : NULL;
#elif defined(BK_TSAN)
	return atomic_load(&race_reported) ? "there is a data race (see below)" : NULL;
#else
	return NULL;
#endif
}
