/*
 * sigv4.h - AWS Signature Version 4, for S3.
 *
 * The one invariant: what is signed is byte for byte what is sent: the caller hands over the path,
 * the query and the headers as they will stand in the request.
 */
#ifndef BK_S3_SIGV4_H
#define BK_S3_SIGV4_H

#include "s3-common/buf.h"

#include <openssl/evp.h>

#define S3_HASH_HEX 65 /* a SHA-256 as text */

extern const char s3_hash_of_nothing[]; /* SHA-256 of no bytes */
#define S3_UNSIGNED "UNSIGNED-PAYLOAD"

struct s3_header {
	const char *name; /* lower case */
	const char *value;
};

/* One thread's.  The key of a day is derived once: four HMACs less for each request. */
struct s3_signer {
	const char *access_key, *secret_key, *region; /* borrowed */
	EVP_MD *sha256, *md5;
	EVP_MD_CTX *ctx;
	char day[9];
	unsigned char key[32];
	struct s3_buf text; /* scratch */
};

bool s3_signer_init(struct s3_signer *signer, const char *access_key, const char *secret_key,
		    const char *region);
void s3_signer_free(struct s3_signer *signer);

void s3_sha256(unsigned char out[32], struct s3_signer *signer, const void *data, size_t len);
void s3_sha256_hex(char out[S3_HASH_HEX], struct s3_signer *signer, const void *data, size_t len);
void s3_md5(unsigned char out[16], struct s3_signer *signer, const void *data, size_t len);
void s3_hex(char *out, const unsigned char *bytes, size_t n); /* 2n + 1 bytes */

/* Appends the value of the Authorization header.  `path` and `query` are encoded, the query sorted;
 * `headers` is sorted here by name; `date` is that of x-amz-date (20130524T000000Z). */
void s3_sign(struct s3_buf *out, struct s3_signer *signer, const char *method, const char *path,
	     const char *query, struct s3_header *headers, size_t n, const char *payload_hash,
	     const char *date);

#endif
