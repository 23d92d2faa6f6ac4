/*
 * endpoint.h - where a store is: the server, the bucket, the prefix.  Shared by bk-s3 and
 * bk-s3-libs3.
 */
#ifndef BK_S3_ENDPOINT_H
#define BK_S3_ENDPOINT_H

#include "buf.h"

struct s3_endpoint {
	bool tls;
	char *host;   /* as in the Host header: with the port unless it is the scheme's */
	char *bucket; /* as named, else of the URL's path, else "bakeoff" */
	char *root;   /* "" or "some/prefix/": what the user gave us to live under */
	char *space;  /* root + "space/": the store's own prefix */
};

#define S3_SPACE_MAX 24u

/* Of http(s)://HOST[:PORT][/BUCKET[/PREFIX]]; `bucket` and `prefix` come first unless NULL or "".
 * `backend` begins the error text. */
bk_status s3_endpoint_parse(struct s3_endpoint *out, const char *backend, const char *url,
			    const char *bucket, const char *prefix, const char *space,
			    struct bk_error *err);
void s3_endpoint_free(struct s3_endpoint *endpoint);

/* `text` without the secrets: servers and libraries may quote what they were given. */
void s3_hide(char *text, const char *const *secrets, size_t n);

#endif
