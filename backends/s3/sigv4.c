/*
 * sigv4.c - see sigv4.h.
 */
#include "sigv4.h"

#include <openssl/crypto.h>

const char s3_hash_of_nothing[] =
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

void s3_hex(char *out, const unsigned char *bytes, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < n; i++) {
		out[2 * i] = hex[bytes[i] >> 4];
		out[2 * i + 1] = hex[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}

static void sig_digest(unsigned char *out, struct s3_signer *s, const EVP_MD *md, const void *data,
		       size_t len)
{
	EVP_DigestInit_ex2(s->ctx, md, NULL);
	EVP_DigestUpdate(s->ctx, data, len);
	EVP_DigestFinal_ex(s->ctx, out, NULL);
}

void s3_sha256(unsigned char out[32], struct s3_signer *signer, const void *data, size_t len)
{
	sig_digest(out, signer, signer->sha256, data, len);
}

void s3_md5(unsigned char out[16], struct s3_signer *signer, const void *data, size_t len)
{
	sig_digest(out, signer, signer->md5, data, len);
}

void s3_sha256_hex(char out[S3_HASH_HEX], struct s3_signer *signer, const void *data, size_t len)
{
	unsigned char hash[32];

	s3_sha256(hash, signer, data, len);
	s3_hex(out, hash, 32);
}

/* HMAC-SHA256 by its definition: the library's own costs a context of its own for each key. */
static void sig_hmac(unsigned char out[32], struct s3_signer *s, const void *key, size_t key_len,
		     const void *data, size_t len)
{
	unsigned char pad[64] = {0}, inner[32];
	size_t i;

	if (key_len > sizeof(pad))
		s3_sha256(pad, s, key, key_len);
	else
		memcpy(pad, key, key_len);
	for (i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36;
	EVP_DigestInit_ex2(s->ctx, s->sha256, NULL);
	EVP_DigestUpdate(s->ctx, pad, sizeof(pad));
	EVP_DigestUpdate(s->ctx, data, len);
	EVP_DigestFinal_ex(s->ctx, inner, NULL);
	for (i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	EVP_DigestInit_ex2(s->ctx, s->sha256, NULL);
	EVP_DigestUpdate(s->ctx, pad, sizeof(pad));
	EVP_DigestUpdate(s->ctx, inner, sizeof(inner));
	EVP_DigestFinal_ex(s->ctx, out, NULL);
	OPENSSL_cleanse(pad, sizeof(pad));
}

bool s3_signer_init(struct s3_signer *signer, const char *access_key, const char *secret_key,
		    const char *region)
{
	memset(signer, 0, sizeof(*signer));
	signer->access_key = access_key;
	signer->secret_key = secret_key;
	signer->region = region;
	signer->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	signer->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
	signer->ctx = EVP_MD_CTX_new();
	return signer->sha256 && signer->md5 && signer->ctx;
}

void s3_signer_free(struct s3_signer *signer)
{
	EVP_MD_free(signer->sha256);
	EVP_MD_free(signer->md5);
	EVP_MD_CTX_free(signer->ctx);
	OPENSSL_cleanse(signer->key, sizeof(signer->key));
	s3_buf_free(&signer->text);
	memset(signer, 0, sizeof(*signer));
}

static void sig_key_of_day(struct s3_signer *s, const char *date)
{
	struct s3_buf secret = {0};
	unsigned char key[32];

	if (memcmp(s->day, date, 8) == 0)
		return;
	s3_buf_puts(&secret, "AWS4");
	s3_buf_puts(&secret, s->secret_key);
	sig_hmac(key, s, s3_buf_str(&secret), secret.len, date, 8);
	sig_hmac(key, s, key, sizeof(key), s->region, strlen(s->region));
	sig_hmac(key, s, key, sizeof(key), "s3", 2);
	sig_hmac(s->key, s, key, sizeof(key), "aws4_request", 12);
	if (secret.data)
		OPENSSL_cleanse(secret.data, secret.len);
	s3_buf_free(&secret);
	OPENSSL_cleanse(key, sizeof(key));
	memcpy(s->day, date, 8);
}

static void sig_sort(struct s3_header *headers, size_t n)
{
	size_t i, k;

	for (i = 1; i < n; i++) {
		struct s3_header h = headers[i];

		for (k = i; k > 0 && strcmp(headers[k - 1].name, h.name) > 0; k--)
			headers[k] = headers[k - 1];
		headers[k] = h;
	}
}

static void sig_names(struct s3_buf *out, const struct s3_header *headers, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (i)
			s3_buf_puts(out, ";");
		s3_buf_puts(out, headers[i].name);
	}
}

static void sig_request(struct s3_buf *out, const char *method, const char *path, const char *query,
			const struct s3_header *headers, size_t n, const char *payload_hash)
{
	size_t i;

	s3_buf_putf(out, "%s\n%s\n%s\n", method, path, query);
	for (i = 0; i < n; i++)
		s3_buf_putf(out, "%s:%s\n", headers[i].name, headers[i].value);
	s3_buf_puts(out, "\n");
	sig_names(out, headers, n);
	s3_buf_putf(out, "\n%s", payload_hash);
}

void s3_sign(struct s3_buf *out, struct s3_signer *signer, const char *method, const char *path,
	     const char *query, struct s3_header *headers, size_t n, const char *payload_hash,
	     const char *date)
{
	struct s3_buf *text = &signer->text;
	unsigned char signature[32];
	char hex[S3_HASH_HEX];

	sig_sort(headers, n);
	sig_key_of_day(signer, date);
	s3_buf_reset(text);
	sig_request(text, method, path, query, headers, n, payload_hash);
	s3_sha256_hex(hex, signer, s3_buf_str(text), text->len);
	out->failed = out->failed || text->failed;
	s3_buf_reset(text);
	s3_buf_putf(text, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/s3/aws4_request\n%s", date, date,
		    signer->region, hex);
	sig_hmac(signature, signer, signer->key, sizeof(signer->key), s3_buf_str(text), text->len);
	out->failed = out->failed || text->failed;
	s3_hex(hex, signature, 32);
	s3_buf_putf(out, "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/s3/aws4_request, SignedHeaders=",
		    signer->access_key, date, signer->region);
	sig_names(out, headers, n);
	s3_buf_putf(out, ", Signature=%s", hex);
}
