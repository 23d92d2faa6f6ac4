/*
 * http.h - requests to S3 over libcurl: signed, driven, counted, tried again.
 *
 * Three layers.  A link is one thread's connections, clock and counters.  A transfer is one request
 * on its way.  s3_call() and s3_start() make transfers of requests.
 *
 * The one invariant: nothing moves but inside a call of the thread that owns the link; only
 * s3_link_cancel() comes from elsewhere, and it sets a flag and wakes a poll.
 */
#ifndef BK_S3_HTTP_H
#define BK_S3_HTTP_H

#include "config.h"
#include "s3-common/pace.h"
#include "sigv4.h"

#include <curl/curl.h>

#define S3_QUERY_MAX   6
#define S3_HEADERS_MAX 3
#define S3_ANSWER_MAX  (size_t)(32u << 20) /* of a body that is held in memory */

/* ---- Requests and answers ------------------------------------------------------------------ */

struct s3_param {
	const char *name, *value; /* as they are, not encoded; value NULL: an empty one */
};

#define S3_PAYLOAD  (1u << 0) /* the body is an object's: hashed only where the options say so */
#define S3_ONCE     (1u << 1) /* done twice it may answer otherwise: not again if it may be done */
#define S3_CHANGES  (1u << 2) /* when the answer is lost, the outcome is unknown */
#define S3_LATE     (1u << 3) /* a 200 may carry an error in its body */
#define S3_NO_RETRY (1u << 4)

struct s3_request {
	const char *what; /* for error texts: "get" */
	const char *method;
	const char *bucket;                  /* NULL: the service itself */
	struct bk_slice key;                 /* whole key of the object; empty: the bucket itself */
	struct s3_param query[S3_QUERY_MAX]; /* ends with name NULL, or full */
	struct s3_param headers[S3_HEADERS_MAX]; /* names in lower case; not of the signature */
	const void *body;
	size_t body_len;
	uint32_t flags; /* S3_* */
};

struct s3_answer {
	long status;     /* HTTP; 0: none came */
	uint64_t length; /* of the body; UINT64_MAX: not said */
	uint64_t from;   /* where the body begins in the object, and */
	uint64_t total;  /* how large that is, from Content-Range; UINT64_MAX: not said */
	char etag[128];  /* without its quotes */
	bool etag_bare;  /* it came without: some servers want it back as they gave it */
	char server[64]; /* Server header */
	char request_id[96];
	char location[256]; /* of a redirect */
	char region[64];    /* x-amz-bucket-region */
	bool ceph;          /* has headers that only radosgw sends */
	char code[64];      /* of the error document; "" */
	char message[300];
	struct s3_buf body; /* of everything that is not streamed */
};

/* ---- Links ---------------------------------------------------------------------------------- */

struct s3_counters {
	uint64_t reconnects;
	uint64_t connect_ns, tls_ns; /* of the first connection */
};

struct s3_link {
	const struct s3_config *config;
	CURLM *multi;
	struct s3_signer signer;
	struct s3_counters counters;
	struct s3_pace pace;
	struct s3_transfer *active;
	uint64_t idle, lost; /* connections: thought to be there; closed under us */
	bool connected;      /* the first connection's times are taken */
};

bk_status s3_link_init(struct s3_link *link, const struct s3_config *config, uint64_t timeout_ns,
		       struct bk_error *err);
void s3_link_free(struct s3_link *link);
void s3_link_enter(struct s3_link *link);  /* a call of the harness begins: its deadline runs */
void s3_link_cancel(struct s3_link *link); /* any thread */

/* Let everything on the link move until enough() says so.  TIMEOUT and CANCELLED are the call's
 * end; transfers are then as they were, for the caller to drop.  `wake_ns`: look again then; 0:
 * never. */
bk_status s3_link_drive(struct s3_link *link, bool (*enough)(void *ctx), void *ctx,
			uint64_t wake_ns, const char *what, struct bk_error *err);

/* Before a further try; counts it. */
bk_status s3_link_wait_again(struct s3_link *link, unsigned tried, const char *what,
			     struct bk_error *err);

/* ---- Transfers ------------------------------------------------------------------------------ */

/* Takes the body of a 200 or 206 as it comes: how many of `len` bytes; fewer than all is an error,
 * S3_PAUSE: not now.  `data` NULL: a try begins, what came of an earlier one does not count. */
#define S3_PAUSE SIZE_MAX
typedef size_t (*s3_sink_fn)(void *ctx, const void *data, size_t len);

struct s3_transfer { /* starts as all zero; may be used again and again */
	struct s3_link *link;
	CURL *easy;
	struct curl_slist *lines;
	struct s3_buf url, authorization;
	struct s3_transfer *next; /* of the active ones */
	s3_sink_fn sink;          /* NULL: the body goes into the answer */
	void *sink_ctx;
	const unsigned char *body;
	size_t body_len, body_at;
	uint64_t moved_ns;       /* when a byte last moved */
	bool active, done, head; /* head: status and headers are there */
	bool reuses;             /* an idle connection was there when it began */
	bool paused;
	bool closes;
	unsigned begun; /* how often libcurl has begun to send it */
	CURLcode result;
	char why[CURL_ERROR_SIZE];
	struct s3_answer answer;
};

bk_status s3_transfer_start(struct s3_transfer *t, struct s3_link *link,
			    const struct s3_request *request, struct bk_error *err);
/* For transfer.c: request.c writes `url` and `lines`, answer.c fills `answer`. */
bool s3_request_write(struct s3_transfer *t, const struct s3_request *request);
void s3_answer_listen(struct s3_transfer *t);
void s3_answer_reset(struct s3_answer *answer);

void s3_transfer_drop(struct s3_transfer *t); /* stop it where it is */
void s3_transfer_resume(struct s3_transfer *t);
void s3_transfer_free(struct s3_transfer *t);

/* ---- Calls ---------------------------------------------------------------------------------- */

/* What became of a transfer that is done: OK, or the error that it comes to.  *again: a further try
 * makes sense and does no harm. */
bk_status s3_outcome(bool *again, struct s3_transfer *t, const struct s3_request *request,
		     unsigned tried, struct bk_error *err);

/* From the request to its whole answer, tries again included.  OK: 2xx. */
bk_status s3_call(struct s3_transfer *t, struct s3_link *link, const struct s3_request *request,
		  struct bk_error *err);
/* The same until the head of a 2xx is there; its body comes when the link is driven on. */
bk_status s3_begin(struct s3_transfer *t, struct s3_link *link, const struct s3_request *request,
		   struct bk_error *err);

#endif
