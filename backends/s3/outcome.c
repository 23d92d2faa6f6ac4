/*
 * outcome.c - what an answer, or none, comes to.
 *
 * The one invariant: an error text quotes the server's code and message, never a secret.
 */
#include "http.h"
#include "xml.h"

/* By the code of the error document; those that their HTTP status tells already are not here. */
static const struct {
	const char *code;
	bk_status status;
	const char *hint;
} out_codes[] = {
	{"SignatureDoesNotMatch", BK_AUTH, "is the secret key right?"},
	{"InvalidAccessKeyId", BK_AUTH, "is the access key right?"},
	{"RequestTimeTooSkewed", BK_AUTH, "this machine's clock is wrong"},
	{"ExpiredToken", BK_AUTH, "the session token has expired"},
	{"InvalidToken", BK_AUTH, "the session token is not valid here"},
	{"AuthorizationHeaderMalformed", BK_AUTH, "is the region right?"},
	{"AccessDenied", BK_AUTH, NULL}, /* in the body of a 200, too */
	{"NoSuchBucket", BK_NOT_FOUND, "it has not been made, or was removed"},
	{"NoSuchUpload", BK_CONFLICT, "somebody ended the upload"},
	{"QuotaExceeded", BK_NO_SPACE, NULL},
	{"TooManyBuckets", BK_NO_SPACE, NULL},
	{"EntityTooLarge", BK_TOO_LARGE, NULL},
	{"KeyTooLongError", BK_TOO_LARGE, NULL},
	{"XAmzContentSHA256Mismatch", BK_CORRUPT, "the server received other bytes than were sent"},
	{"BadDigest", BK_CORRUPT, "the server received other bytes than were sent"},
	{"NotImplemented", BK_UNSUPPORTED, NULL},
	{"MethodNotAllowed", BK_UNSUPPORTED, NULL},
	{"ConditionalRequestConflict", BK_CONFLICT, NULL},
	{"OperationAborted", BK_CONFLICT, NULL},
	{"BucketAlreadyExists", BK_FOREIGN, "bucket names are shared; choose another"},
	{"RequestTimeout", BK_IO, NULL},
	{"SlowDown", BK_IO, NULL},
	{"InternalError", BK_IO, NULL},
};

static bk_status out_of_http(long status)
{
	switch (status) {
	case 301:
	case 302:
	case 307:
	case 400:
	case 416:
		return BK_INVALID;
	case 401:
	case 403:
		return BK_AUTH;
	case 404:
		return BK_NOT_FOUND;
	case 405:
	case 501:
		return BK_UNSUPPORTED;
	case 409:
		return BK_CONFLICT;
	case 412:
		return BK_EXISTS;
	case 413:
		return BK_TOO_LARGE;
	case 507:
		return BK_NO_SPACE;
	default:
		return BK_IO;
	}
}

static bool out_is_busy(const struct s3_answer *a)
{
	return a->status == 503 || a->status == 429 || a->status == 408 ||
	       strcmp(a->code, "SlowDown") == 0 || strcmp(a->code, "RequestTimeout") == 0 ||
	       strcmp(a->code, "ServiceUnavailable") == 0;
}

static bool out_is_broken(const struct s3_answer *a)
{
	return a->status == 500 || a->status == 502 || a->status == 504 ||
	       strcmp(a->code, "InternalError") == 0;
}

/* "s3: put of 'key' in bucket 'b'" */
static void out_of_what(char *out, size_t cap, const struct s3_request *r)
{
	int most = r->key.len > 160 ? 160 : (int)r->key.len;

	if (!r->bucket)
		snprintf(out, cap, "s3: %s", r->what);
	else if (!r->key.len)
		snprintf(out, cap, "s3: %s: bucket '%s'", r->what, r->bucket);
	else
		snprintf(out, cap, "s3: %s of '%.*s'%s in bucket '%s'", r->what, most,
			 (const char *)r->key.data, r->key.len > 160 ? "..." : "", r->bucket);
}

static void out_tried(char *out, size_t cap, unsigned tried)
{
	out[0] = '\0';
	if (tried)
		snprintf(out, cap, ", after %u tries more", tried);
}

static bk_status out_refused(struct s3_transfer *t, const struct s3_request *r, unsigned tried,
			     struct bk_error *err)
{
	struct s3_answer *a = &t->answer;
	bk_status st = out_of_http(a->status);
	char what[320], more[40], hint[400] = "";
	size_t i;

	for (i = 0; i < sizeof(out_codes) / sizeof(out_codes[0]); i++) {
		if (strcmp(out_codes[i].code, a->code) != 0)
			continue;
		st = out_codes[i].status;
		if (out_codes[i].hint)
			snprintf(hint, sizeof(hint), "; %s", out_codes[i].hint);
	}
	if (a->status >= 300 && a->status < 400)
		snprintf(hint, sizeof(hint), "; the bucket is elsewhere%s%s%s%s",
			 a->region[0] ? ", in region " : "", a->region,
			 a->location[0] ? ", at " : "", a->location);
	out_of_what(what, sizeof(what), r);
	out_tried(more, sizeof(more), tried);
	bk_fail(err, st, a->status, "%s: %ld%s%s%s%s%s%s", what, a->status, a->code[0] ? " " : "",
		a->code, a->message[0] ? ": " : "", a->message, hint, more);
	if (out_is_busy(a) || out_is_broken(a) || st == BK_CONFLICT)
		err->flags |= BK_ERR_RETRY;
	if (out_is_broken(a) && (r->flags & S3_CHANGES))
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	return st;
}

/* Nothing of the request was sent. */
static bool out_is_unsent(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_SSL_CONNECT_ERROR || code == CURLE_OPERATION_TIMEDOUT;
}

/* The last two: libcurl would have liked to send it again (transfer.c). */
static bool out_is_lost(CURLcode code)
{
	return out_is_unsent(code) || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
	       code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE ||
	       code == CURLE_SEND_FAIL_REWIND || code == CURLE_ABORTED_BY_CALLBACK;
}

static const char *out_why(const struct s3_transfer *t)
{
	if (t->result == CURLE_SEND_FAIL_REWIND || t->result == CURLE_ABORTED_BY_CALLBACK)
		return "the connection broke before an answer came";
	return t->why[0] ? t->why : curl_easy_strerror(t->result);
}

static bk_status out_unanswered(struct s3_transfer *t, const struct s3_request *r, unsigned tried,
				struct bk_error *err)
{
	const char *why = out_why(t);
	bk_status st = out_is_lost(t->result) ? BK_UNAVAILABLE : BK_IO;
	char what[320], more[40];

	if (t->result == CURLE_OUT_OF_MEMORY || t->answer.body.failed)
		st = BK_NOMEM;
	if (t->result == CURLE_PEER_FAILED_VERIFICATION)
		st = BK_AUTH;
	if (t->result == CURLE_SSL_CACERT_BADFILE || t->result == CURLE_URL_MALFORMAT)
		st = BK_INVALID;
	out_of_what(what, sizeof(what), r);
	out_tried(more, sizeof(more), tried);
	bk_fail(err, st, 0, "%s: %s%s%s", what, why,
		st == BK_AUTH ? "; name the CA's certificate with ca-file" : "", more);
	if (st == BK_UNAVAILABLE) {
		err->flags |= BK_ERR_RETRY;
		if ((r->flags & S3_CHANGES) && !out_is_unsent(t->result))
			err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	}
	return st;
}

static void out_read_error(struct s3_answer *a, const struct s3_options *o)
{
	struct bk_slice body = bk_slice_of(s3_buf_str(&a->body), a->body.len);

	s3_xml_text(body, "/Error/Code", a->code, sizeof(a->code));
	s3_xml_text(body, "/Error/Message", a->message, sizeof(a->message));
	s3_hide_secrets(a->code, o);
	s3_hide_secrets(a->message, o);
	s3_hide_secrets(a->location, o);
	s3_hide_secrets(a->region, o);
}

bk_status s3_outcome(bool *again, struct s3_transfer *t, const struct s3_request *request,
		     unsigned tried, struct bk_error *err)
{
	const struct s3_options *o = t->link->config->options;
	struct s3_answer *a = &t->answer;
	bool more = tried < o->access.retries && !(request->flags & S3_NO_RETRY);
	bool once = request->flags & S3_ONCE;

	*again = false;
	if (t->done && t->result != CURLE_OK) {
		*again = more && out_is_lost(t->result) && (!once || out_is_unsent(t->result));
		return out_unanswered(t, request, tried, err);
	}
	if (a->status >= 200 && a->status < 300 && !(request->flags & S3_LATE))
		return BK_OK;
	out_read_error(a, o);
	if (a->status >= 200 && a->status < 300 && !a->code[0])
		return BK_OK;
	*again = more && (out_is_busy(a) || (out_is_broken(a) && !once));
	return out_refused(t, request, tried, err);
}
