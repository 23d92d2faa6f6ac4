/*
 * url.h - the parts of scheme://user:password@host:port/path?query.
 *
 * The one invariant: parts come decoded, but for the query, which keeps its encoding.
 */
#ifndef BK_SERVICE_URL_H
#define BK_SERVICE_URL_H

#include <bakeoff/backend.h>

struct bk_url { /* each the caller's to free by bk_url_free(); "" when absent */
	char *scheme, *user, *password, *host, *port, *path, *query;
};
bk_status bk_url_parse(struct bk_url *out, const char *text, struct bk_error *err);
void bk_url_free(struct bk_url *url);

/* The decoded value of a key of the query, the caller's to free; NULL. */
char *bk_url_query(const struct bk_url *url, const char *key);
/* The query without some keys (NULL-terminated), the caller's to free; "" when nothing is left. */
char *bk_url_query_without(const struct bk_url *url, const char *const *keys);

#endif
