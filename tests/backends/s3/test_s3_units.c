/*
 * test_s3_units.c - signatures against published examples; answers in XML; encoding; endpoints.
 *
 * The examples of signatures are those of the S3 documentation ("Signature Calculations for the
 * Authorization Header"): its keys, its date, its results.
 */
#include "list.h"
#include "sigv4.h"
#include "xml.h"

#include "s3-common/bytes.h"
#include "s3-common/endpoint.h"
#include "s3-common/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DATE "20130524T000000Z"

static struct s3_signer signer;

static int start(void **state)
{
	return s3_signer_init(&signer, "AKIAIOSFODNN7EXAMPLE",
			      "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
		       ? 0
		       : -1;
}

static int end(void **state)
{
	s3_signer_free(&signer);
	return 0;
}

static void signs(const char *method, const char *path, const char *query,
		  const struct s3_header *more, size_t n, const char *body, const char *names,
		  const char *signature)
{
	struct s3_header headers[8] = {{"x-amz-date", DATE},
				       {"host", "examplebucket.s3.amazonaws.com"}};
	struct s3_buf got = {0}, want = {0};
	char hash[S3_HASH_HEX];
	size_t i;

	s3_sha256_hex(hash, &signer, body, strlen(body));
	headers[2] = (struct s3_header){"x-amz-content-sha256", hash};
	for (i = 0; i < n; i++)
		headers[3 + i] = more[i];
	s3_sign(&got, &signer, method, path, query, headers, 3 + n, hash, DATE);
	s3_buf_putf(&want,
		    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
		    "aws4_request, SignedHeaders=%s, Signature=%s",
		    names, signature);
	assert_string_equal(got.data, want.data);
	s3_buf_free(&got);
	s3_buf_free(&want);
}

static void published_examples(void **state)
{
	static const struct s3_header range[] = {{"range", "bytes=0-9"}};
	static const struct s3_header put[] = {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
					       {"date", "Fri, 24 May 2013 00:00:00 GMT"}};

	signs("GET", "/test.txt", "", range, 1, "", "host;range;x-amz-content-sha256;x-amz-date",
	      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
	signs("PUT", "/test%24file.text", "", put, 2, "Welcome to Amazon S3.",
	      "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
	      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
	signs("GET", "/", "lifecycle=", NULL, 0, "", "host;x-amz-content-sha256;x-amz-date",
	      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
	signs("GET", "/", "max-keys=2&prefix=J", NULL, 0, "",
	      "host;x-amz-content-sha256;x-amz-date",
	      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

/* The key of a day is kept; the next day's is another. */
static void the_day_changes(void **state)
{
	struct s3_header h[] = {{"host", "h"}};
	struct s3_buf a = {0}, b = {0}, c = {0};

	s3_sign(&a, &signer, "GET", "/", "", h, 1, s3_hash_of_nothing, "20130524T235959Z");
	s3_sign(&b, &signer, "GET", "/", "", h, 1, s3_hash_of_nothing, "20130525T000000Z");
	s3_sign(&c, &signer, "GET", "/", "", h, 1, s3_hash_of_nothing, "20130524T235959Z");
	assert_string_equal(a.data, c.data);
	assert_string_not_equal(a.data, b.data);
	s3_buf_free(&a);
	s3_buf_free(&b);
	s3_buf_free(&c);
}

static void long_secret(void **state)
{
	/* Over 60 bytes "AWS4" + secret is more than a block: HMAC hashes it first.  Expected value
	 * by Python's hmac. */
	struct s3_header h[] = {{"host", "h"}};
	struct s3_signer other;
	struct s3_buf a = {0};

	assert_true(s3_signer_init(&other, "K",
				   "0123456789012345678901234567890123456789"
				   "0123456789012345678901234567890123456789",
				   "r"));
	s3_sign(&a, &other, "GET", "/", "", h, 1, s3_hash_of_nothing, DATE);
	assert_non_null(strstr(
		a.data,
		"Signature=dd52e112a56640e7f310f978469133362c1b42a4fbdcc502b9caceac491bf91a"));
	s3_buf_free(&a);
	s3_signer_free(&other);
}

static void digests(void **state)
{
	char hex[S3_HASH_HEX];
	unsigned char md5[16];
	char text[33];

	s3_sha256_hex(hex, &signer, "", 0);
	assert_string_equal(hex, s3_hash_of_nothing);
	s3_md5(md5, &signer, "abc", 3);
	s3_hex(text, md5, 16);
	assert_string_equal(text, "900150983cd24fb0d6963f7d28e17f72");
}

/* ---- Encoding ------------------------------------------------------------- */

static void encoding(void **state)
{
	struct s3_buf b = {0};
	unsigned c;
	char all[256];

	for (c = 1; c < 256; c++)
		all[c - 1] = (char)c;
	s3_buf_put_encoded(&b, bk_slice_of(all, 255), true);
	assert_null(strpbrk(b.data, " +&?#:;@()*!'[]{}\\\"<>|^`"));
	assert_non_null(strstr(b.data, "-./0123456789%3A"));
	assert_non_null(strstr(b.data, "%7D~%7F%80"));
	s3_buf_reset(&b);
	s3_buf_put_encoded(&b, bk_slice_str("a/b c"), false);
	assert_string_equal(b.data, "a%2Fb%20c");
	s3_buf_reset(&b);
	assert_true(s3_buf_put_xml(&b, bk_slice_str("<&>\n\xc3\xa9")));
	assert_string_equal(b.data, "&lt;&amp;&gt;&#10;\xc3\xa9");
	assert_false(s3_buf_put_xml(&b, bk_slice_str("\x01")));
	assert_false(s3_buf_put_xml(&b, bk_slice_str("\xef\xbf\xbe")));
	s3_buf_free(&b);
}

/* ---- XML ------------------------------------------------------------------ */

static void count(void *ctx, const char *path, struct bk_slice text)
{
	++*(int *)ctx;
}

static void xml_strict(void **state)
{
	static const char *const bad[] = {
		"",
		"no xml",
		"<a>",
		"<a></b>",
		"<a/><b/>",
		"<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
		"<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
		"<a>&nope;</a>",
		"<a>\x01</a>",
		"<a>\xff</a>",
		"<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a>"
		"</a></a></a></a></a></a></a></a></a></a>",
	};
	size_t i;
	int n = 0;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(s3_xml_parse(bk_slice_str(bad[i]), count, &n));
	assert_true(s3_xml_parse(bk_slice_str("<?xml version=\"1.0\"?><a><b>1</b><b/></a>"), count,
				 &n));
}

static void xml_text(void **state)
{
	static const char doc[] = "<Error xmlns=\"http://x/\"><Code>Slow&amp;Down</Code><Message>"
				  "a<![CDATA[<b>]]>&#99;</Message><Code>second</Code></Error>";
	char text[16];

	assert_true(s3_xml_text(bk_slice_str(doc), "/Error/Code", text, sizeof(text)));
	assert_string_equal(text, "Slow&Down");
	assert_true(s3_xml_text(bk_slice_str(doc), "/Error/Message", text, sizeof(text)));
	assert_string_equal(text, "a<b>c");
	assert_false(s3_xml_text(bk_slice_str(doc), "/Error/Cod", text, sizeof(text)));
	assert_true(s3_xml_text(bk_slice_str(doc), "/Error/Code", text, 5));
	assert_string_equal(text, "Slow");
}

/* ---- Endpoints ------------------------------------------------------------ */

static void endpoint_is(const char *url, const char *bucket, const char *prefix, const char *want)
{
	struct bk_error err = bk_error_init();
	struct s3_endpoint e = {0};
	char got[600];

	if (s3_endpoint_parse(&e, "t", url, bucket, prefix, "main", &err) != BK_OK)
		snprintf(got, sizeof(got), "%s", err.message);
	else
		snprintf(got, sizeof(got), "%d %s %s %s", e.tls, e.host, e.bucket, e.space);
	s3_endpoint_free(&e);
	assert_string_equal(got, want);
}

static void endpoints(void **state)
{
	endpoint_is("http://h:7480", NULL, NULL, "0 h:7480 bakeoff main/");
	endpoint_is("http://h:80/", "", "", "0 h bakeoff main/");
	endpoint_is("https://h:443/buck", NULL, NULL, "1 h buck main/");
	endpoint_is("https://h:80/buck/a/b", NULL, NULL, "1 h:80 buck a/b/main/");
	endpoint_is("http://[::1]:9/buck/a/", "other", "p", "0 [::1]:9 other p/main/");
	endpoint_is("ftp://h", NULL, NULL, "t: the endpoint must begin with http:// or https://");
	endpoint_is("http://", NULL, NULL,
		    "t: the endpoint is not http(s)://HOST[:PORT][/BUCKET[/PREFIX]]");
	endpoint_is("http://h/x?y", NULL, NULL,
		    "t: the endpoint is not http(s)://HOST[:PORT][/BUCKET[/PREFIX]]");
	endpoint_is("http://h", "ab", NULL, "t: the bucket name 'ab' is not 3 to 63 of [a-z0-9.-]");
	endpoint_is("http://h", "a b c", NULL,
		    "t: the bucket name 'a b c' is not 3 to 63 of [a-z0-9.-]");
}

static void no_secret_in_url_error(void **state)
{
	struct bk_error err = bk_error_init();
	struct s3_endpoint e = {0};

	assert_int_equal(s3_endpoint_parse(&e, "t", "http://key:canary@h", NULL, NULL, "m", &err),
			 BK_INVALID);
	assert_null(strstr(err.message, "canary"));
	assert_int_equal(
		s3_endpoint_parse(&e, "t", "http://key:can/ary@h:1", NULL, NULL, "m", &err),
		BK_INVALID);
	assert_null(strstr(err.message, "ary@h"));
	s3_endpoint_free(&e);
}

static void hiding(void **state)
{
	const char *const secrets[] = {"canary", NULL, "*", "x"};
	char text[64] = "a canary, canarycanary and an x*";

	s3_hide(text, secrets, 4);
	assert_string_equal(text, "a *, ** and an x*");
}

/* Bytes come out in order whether they were waited for or not; over the limit none is taken. */
static void intake(void **state)
{
	struct s3_intake in = {.room = 0};
	char buf[8];

	assert_true(s3_intake_take(&in, "abcdef", 6, 8));
	assert_false(s3_intake_take(&in, "ghi", 3, 8));
	assert_true(s3_intake_waits(&in));
	assert_int_equal(s3_intake_give(&in, buf, 4), 4);
	assert_memory_equal(buf, "abcd", 4);
	assert_int_equal(s3_intake_give(&in, buf, 4), 2);
	assert_memory_equal(buf, "ef", 2);
	assert_false(s3_intake_waits(&in));
	s3_intake_aim(&in, buf, 4);
	assert_true(s3_intake_take(&in, "gh", 2, 8));
	assert_true(s3_intake_take(&in, "ijkl", 4, 8));
	assert_int_equal(s3_intake_give(&in, buf, 4), 4);
	assert_memory_equal(buf, "ghij", 4);
	assert_int_equal(s3_intake_give(&in, buf, 4), 2);
	assert_memory_equal(buf, "kl", 2);
	s3_buf_free(&in.spill);
}

static void hold(void **state)
{
	struct s3_hold h = {.len = 0};
	static char data[100000];

	assert_true(s3_hold_put(&h, data, 10, 5000, 64, 1 << 20)); /* 5000 is not trusted */
	assert_int_equal(h.cap, 65536);
	assert_true(s3_hold_put(&h, data, 90000, 90010, 1 << 20, 1 << 20));
	assert_int_equal(h.cap, 90010);
	assert_true(s3_hold_put(&h, data, 1000, BK_SIZE_UNKNOWN, 1 << 20, 100000));
	assert_int_equal(h.cap, 100000);
	assert_int_equal(h.len, 91010);
	free(h.data);
}

static void pace(void **state)
{
	const struct s3_access access = {.timeout_us = 1000000};
	const struct s3_site site = {.backend = "s3", .access = &access};
	struct bk_error err = bk_error_init();
	uint64_t now = s3_now_ns(), until, longest = 0;
	struct s3_pace p;
	unsigned i;

	s3_pace_init(&p, &site, UINT64_C(5000000000));
	assert_false(s3_pace_enter(&p));
	assert_int_equal(s3_pace_check(&until, &p, 0, UINT64_MAX, "get", &err), BK_OK);
	assert_true(until == p.deadline_ns);
	assert_int_equal(s3_pace_check(&until, &p, 0, now, "get", &err), BK_OK);
	assert_true(until == now + 1000000000);
	assert_int_equal(s3_pace_check(&until, &p, now + 500000000, now, "get", &err), BK_OK);
	assert_true(until == now + 500000000);
	assert_int_equal(s3_pace_check(&until, &p, now, now, "get", &err), BK_END);
	assert_int_equal(s3_pace_check(&until, &p, 0, now - 1000000000, "get", &err), BK_TIMEOUT);
	assert_non_null(strstr(err.message, "option timeout"));
	p.deadline_ns = now;
	assert_int_equal(s3_pace_check(&until, &p, 0, now, "get", &err), BK_TIMEOUT);
	assert_true(err.flags & BK_ERR_RETRY);
	s3_pace_cancel(&p);
	assert_int_equal(s3_pace_check(&until, &p, 0, now, "get", &err), BK_CANCELLED);
	assert_true(s3_pace_enter(&p));
	for (i = 0; i < 2000; i++) {
		uint64_t ns = s3_pace_jitter_ns(&p, i % 100);

		assert_true(ns <= UINT64_C(5000000000));
		assert_true(i % 100 || ns <= 50000000);
		longest = ns > longest ? ns : longest;
	}
	assert_true(longest > UINT64_C(4000000000));
}

static void site_options(void **state)
{
	struct s3_access a = {.endpoint = "http://127.0.0.1:1",
			      .bucket = "Not_aHost",
			      .access_key = "key",
			      .secret_key = "secret",
			      .durability = BK_DURABLE_PROCESS};
	struct bk_store_config c = {.space = "main", .mark = "m", .durability = BK_DURABLE_PROCESS};
	struct bk_error err = bk_error_init();
	struct s3_site site;

	assert_int_equal(s3_site_init(&site, "s3", &a, &c, &err), BK_OK);
	assert_int_equal(s3_site_session(&site, BK_DURABLE_MACHINE, &err), BK_INVALID);
	s3_site_free(&site);
	a.addressing = S3_VIRTUAL_HOST;
	assert_int_equal(s3_site_init(&site, "s3", &a, &c, &err), BK_INVALID);
	s3_site_free(&site);
	a.addressing = S3_PATH_STYLE;
	a.secret_key = "se\ncret";
	assert_int_equal(s3_site_init(&site, "s3", &a, &c, &err), BK_INVALID);
	assert_null(strstr(err.message, "cret h"));
	s3_site_free(&site);
	c.durability = BK_DURABLE_MACHINE;
	assert_int_equal(s3_site_init(&site, "s3", &a, &c, &err), BK_UNSUPPORTED);
	s3_site_free(&site);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_examples),
		cmocka_unit_test(the_day_changes),
		cmocka_unit_test(long_secret),
		cmocka_unit_test(digests),
		cmocka_unit_test(encoding),
		cmocka_unit_test(xml_strict),
		cmocka_unit_test(xml_text),
		cmocka_unit_test(endpoints),
		cmocka_unit_test(no_secret_in_url_error),
		cmocka_unit_test(hiding),
		cmocka_unit_test(intake),
		cmocka_unit_test(hold),
		cmocka_unit_test(pace),
		cmocka_unit_test(site_options),
	};

	return cmocka_run_group_tests(tests, start, end);
}
