/*
 * net.h - random names, passwords, addresses and ports.
 *
 * The one invariant: passwords come from the kernel's random numbers and hold letters and digits
 * only, so that no quoting anywhere can go wrong.
 */
#ifndef BK_SERVICE_NET_H
#define BK_SERVICE_NET_H

#include <bakeoff/backend.h>

#include <stdbool.h>

/* `len` random letters and digits and NUL; `lower`: lower case only. */
bk_status bk_net_random(char *out, size_t len, bool lower, struct bk_error *err);
bk_status bk_net_uuid(char out[37], struct bk_error *err);

/* An address of 127.0.0.0/8 on which this process may listen: a random one that nobody else
 * guesses, so that its ports are free; or 127.0.0.1 (`plain`, or where there is no other). */
bk_status bk_net_host(char out[16], bool plain, struct bk_error *err);
/* `n` different free ports on it. */
bk_status bk_net_ports(uint16_t *out, size_t n, const char *host, struct bk_error *err);
bool bk_net_port_is_free(const char *host, uint16_t port);

/* Does something take a connection at a Unix socket, or on host and port?  Does not wait. */
bool bk_net_connects_unix(const char *path);
bool bk_net_connects(const char *host, uint16_t port);

#endif
