/*
 * u128.h - 128-bit products, which gcc and clang have and ISO C does not.
 */
#ifndef BK_UTIL_U128_H
#define BK_UTIL_U128_H

__extension__ typedef unsigned __int128 bk_u128;

#endif
