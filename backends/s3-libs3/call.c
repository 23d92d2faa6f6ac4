/*
 * call.c - a request through libs3 from beginning to end, and what its status means.
 *
 * The one invariant: libs3 says OK to a body that was cut short; whoever reads one counts.
 */
#include "l3.h"

static const struct {
	S3Status code;
	bk_status status;
	const char *hint;
} cal_codes[] = {
	{S3StatusOutOfMemory, BK_NOMEM, NULL},
	{S3StatusInterrupted, BK_CANCELLED, NULL},
	{S3StatusKeyTooLong, BK_TOO_LARGE, NULL},
	{S3StatusUriTooLong, BK_TOO_LARGE, NULL},
	{S3StatusXmlParseFailure, BK_CORRUPT, NULL},
	{S3StatusNameLookupError, BK_UNAVAILABLE, NULL},
	{S3StatusFailedToConnect, BK_UNAVAILABLE, NULL},
	{S3StatusServerFailedVerification, BK_AUTH, NULL},
	{S3StatusConnectionFailed, BK_UNAVAILABLE, NULL},
	/* every failure of libcurl that libs3 has no name for; a lost connection, mostly */
	{S3StatusInternalError, BK_UNAVAILABLE, NULL},
	{S3StatusErrorAccessDenied, BK_AUTH, NULL},
	{S3StatusErrorAccountProblem, BK_AUTH, NULL},
	{S3StatusErrorInvalidAccessKeyId, BK_AUTH, "is the access key right?"},
	{S3StatusErrorSignatureDoesNotMatch, BK_AUTH, "is the secret key right?"},
	{S3StatusErrorRequestTimeTooSkewed, BK_AUTH, "this machine's clock is wrong"},
	{S3StatusErrorBadDigest, BK_CORRUPT, NULL},
	{S3StatusErrorBucketAlreadyExists, BK_FOREIGN, NULL},
	{S3StatusErrorBucketNotEmpty, BK_CONFLICT, NULL},
	{S3StatusErrorEntityTooLarge, BK_TOO_LARGE, NULL},
	{S3StatusErrorInternalError, BK_IO, NULL},
	{S3StatusErrorInvalidRange, BK_INVALID, NULL},
	{S3StatusErrorKeyTooLong, BK_TOO_LARGE, NULL},
	{S3StatusErrorMethodNotAllowed, BK_UNSUPPORTED, NULL},
	{S3StatusErrorNoSuchBucket, BK_NOT_FOUND, "it has not been made, or was removed"},
	{S3StatusErrorNoSuchKey, BK_NOT_FOUND, NULL},
	{S3StatusErrorNotImplemented, BK_UNSUPPORTED, NULL},
	{S3StatusErrorOperationAborted, BK_CONFLICT, NULL},
	{S3StatusErrorPermanentRedirect, BK_INVALID, "the bucket is elsewhere"},
	{S3StatusErrorPreconditionFailed, BK_CONFLICT, "the object is another one now"},
	{S3StatusErrorTooManyBuckets, BK_NO_SPACE, NULL},
	{S3StatusHttpErrorBadRequest, BK_INVALID, NULL},
	{S3StatusHttpErrorForbidden, BK_AUTH, NULL},
	{S3StatusHttpErrorNotFound, BK_NOT_FOUND, NULL},
	{S3StatusHttpErrorConflict, BK_CONFLICT, NULL},
};

/* Nothing of the request was sent. */
static bool cal_is_unsent(S3Status status)
{
	return status == S3StatusNameLookupError || status == S3StatusFailedToConnect;
}

static bool cal_is_lost(S3Status status)
{
	return cal_is_unsent(status) || status == S3StatusConnectionFailed ||
	       status == S3StatusInternalError;
}

/* HttpErrorUnknown: an answer without an error document (HEAD has none), and with none of the HTTP
 * statuses that libs3 2.0 knows: 429 or 5xx.  XmlParseFailure: a page of a proxy's, mostly. */
static bool cal_is_busy(S3Status status)
{
	return S3_status_is_retryable(status) || status == S3StatusErrorSlowDown ||
	       status == S3StatusHttpErrorUnknown || status == S3StatusXmlParseFailure;
}

static bool cal_is_broken(S3Status status)
{
	return status == S3StatusErrorInternalError || status == S3StatusHttpErrorUnknown ||
	       status == S3StatusXmlParseFailure;
}

bool l3_is_missing(const struct l3_call *call)
{
	return call->status == S3StatusErrorNoSuchKey ||
	       call->status == S3StatusErrorNoSuchBucket ||
	       call->status == S3StatusHttpErrorNotFound;
}

static void cal_of_what(char *out, size_t cap, const struct l3_call *c)
{
	const char *bucket = c->bucket ? c->bucket : c->link->store->site.at.bucket;

	if (c->key)
		snprintf(out, cap, L3_NAME ": %s of '%.160s' in bucket '%s'", c->what, c->key,
			 bucket);
	else
		snprintf(out, cap, L3_NAME ": %s: bucket '%s'", c->what, bucket);
}

bk_status l3_outcome(bool *again, struct l3_call *call, unsigned tried, struct bk_error *err)
{
	const struct s3_access *a = call->link->store->site.access;
	const char *const secrets[] = {a->secret_key, a->access_key};
	char what[320], hint[80] = "", more[40] = "";
	bk_status st = BK_IO;
	size_t i;

	*again = false;
	if (call->failed)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	if (call->status == S3StatusOK)
		return BK_OK;
	for (i = 0; i < sizeof(cal_codes) / sizeof(cal_codes[0]); i++) {
		if (cal_codes[i].code != call->status)
			continue;
		st = cal_codes[i].status;
		if (cal_codes[i].hint)
			snprintf(hint, sizeof(hint), "; %s", cal_codes[i].hint);
	}
	/* libs3 dates a request by gmtime(), whose result all threads share: at a full hour it may
	 * be wrong for once. */
	*again = tried < a->retries && (cal_is_busy(call->status) || cal_is_lost(call->status) ||
					call->status == S3StatusErrorRequestTimeTooSkewed);
	if (tried)
		snprintf(more, sizeof(more), ", after %u tries more", tried);
	cal_of_what(what, sizeof(what), call);
	s3_hide(call->message, secrets, 2);
	bk_fail(err, st, 0, "%s: %s%s%s%s%s", what, S3_get_status_name(call->status),
		call->message[0] ? ": " : "", call->message, hint, more);
	if (cal_is_lost(call->status) || cal_is_busy(call->status) || st == BK_CONFLICT)
		err->flags |= BK_ERR_RETRY;
	if (call->changes && !cal_is_unsent(call->status) &&
	    (cal_is_lost(call->status) || cal_is_broken(call->status)))
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	return st;
}

static bool cal_done(void *ctx)
{
	return ((struct l3_call *)ctx)->done;
}

static bool cal_head(void *ctx)
{
	struct l3_call *c = ctx;

	return c->done || c->head;
}

static bk_status cal_try(struct l3_call *call, bool (*enough)(void *ctx), struct bk_error *err)
{
	struct l3_link *link = call->link;
	bk_status st;

	if (!link->context)
		return bk_fail(err, BK_NOMEM, 0, L3_NAME ": out of memory");
	call->done = call->head = call->failed = false;
	call->message[0] = '\0';
	call->etag[0] = '\0';
	call->length = 0;
	call->body_at = 0;
	s3_buf_reset(&call->text);
	if (call->page)
		s3_page_empty(call->page);
	link->moved_ns = s3_now_ns();
	link->pace.requests++;
	call->begin(call);
	st = l3_link_drive(link, enough, call, 0, call->what, err);
	if (st != BK_OK) {
		l3_link_reset(link);
		if (call->changes)
			err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	}
	return st;
}

bk_status l3_start(struct l3_call *call, struct bk_error *err)
{
	return cal_try(call, cal_head, err);
}

bk_status l3_call(struct l3_call *call, struct bk_error *err)
{
	struct bk_error here = bk_error_init();
	uint32_t unknown =
		0; /* what an earlier try may have done is told with the last one's error */
	bool again = false;
	unsigned tried;
	bk_status st;

	for (tried = 0;; tried++) {
		st = cal_try(call, cal_done, &here);
		if (st == BK_OK)
			st = l3_outcome(&again, call, tried, &here);
		if (st == BK_OK)
			return BK_OK;
		if (!again)
			break;
		unknown |= here.flags & BK_ERR_OUTCOME_UNKNOWN;
		st = l3_link_wait_again(call->link, tried, call->what, &here);
		if (st != BK_OK)
			break;
		again = false;
	}
	here.flags |= unknown;
	s3_error_pass(err, &here);
	return st;
}

void l3_call_free(struct l3_call *call)
{
	s3_buf_free(&call->text);
}
