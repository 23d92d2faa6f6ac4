/*
 * check_rules.c - what both sides owe each other: threads, life times, errors, borrowed views.
 *
 * The one invariant: a breach by the harness ends the process, one by the backend is answered.
 */
#include "layer/check.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

#define ARMED  0xa5
#define LAPSED 0xdd

/* ---- The harness's side ------------------------------------------------ */

_Noreturn void bk_check_die(const char *op, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "bakeoff: check: %s: ", op);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

void bk_check_thread(const struct bk_session *s, const char *op)
{
	if (s->closed)
		bk_check_die(op, "called on a session that is closed");
	if (!pthread_equal(s->thread, pthread_self()))
		bk_check_die(op, "called on another thread than the one that opened the session");
}

static bk_status late_breach(struct bk_session *s, const char *op, struct bk_error *err)
{
	bk_status st;

	if (!s->breach[0])
		return BK_OK;
	st = bk_check_breach(err, op, "%s", s->breach);
	s->breach[0] = '\0';
	return st;
}

bk_status bk_check_enter_handle(struct bk_session *s, const char *op, struct bk_error *err)
{
	bk_check_thread(s, op);
	return late_breach(s, op, err);
}

bk_status bk_check_enter(struct bk_session *s, const char *op, struct bk_error *err)
{
	bk_check_thread(s, op);
	if (!bk_check_lapse(&s->views))
		return bk_check_breach(err, op,
				       "a borrowed view was changed before this call, the next on "
				       "its session");
	return late_breach(s, op, err);
}

void bk_check_slice(const char *op, const char *what, struct bk_slice slice)
{
	if (!slice.data && slice.len)
		bk_check_die(op, "the %s is NULL, with a length of %zu", what, slice.len);
}

void bk_check_links(const char *op, const struct bk_link *links, size_t n)
{
	size_t i;

	if (n && !links)
		bk_check_die(op, "links is NULL, with a count of %zu", n);
	for (i = 0; i < n; i++) {
		bk_check_slice(op, "relation of a link", links[i].rel);
		bk_check_slice(op, "target of a link", links[i].target);
	}
}

/* ---- The backend's side: errors ---------------------------------------- */

bk_status bk_check_breach(struct bk_error *err, const char *op, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return bk_fail(err, BK_INTERNAL, 0, "check: the backend's %s breaks the contract: %s", op,
		       text);
}

void bk_check_error_arm(struct bk_error *armed)
{
	memset(armed, ARMED, sizeof(*armed));
	armed->struct_size = sizeof(*armed);
}

static bool is_status(bk_status st)
{
	switch (st) {
#define X(name, value, text) case BK_##name:
		BK_STATUS_MAP(X)
#undef X
		return true;
	default:
		return false;
	}
}

static const char *error_fault(bk_status st, const struct bk_error *e)
{
	const char *end = memchr(e->message, '\0', sizeof(e->message));
	const unsigned char *p;

	if (e->status != st)
		return "err->status is not the status that it answers";
	if (!end)
		return "err->message does not end";
	if (end == e->message)
		return "err->message is empty";
	for (p = (const unsigned char *)e->message; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			return "err->message is not one line of text";
	}
	if (!memchr(e->sqlstate, '\0', sizeof(e->sqlstate)))
		return "err->sqlstate does not end";
	if (e->flags & ~(BK_ERR_RETRY | BK_ERR_OUTCOME_UNKNOWN))
		return "err->flags has bits that mean nothing";
	if (e->struct_size != sizeof(*e))
		return "err->struct_size has been changed";
	return NULL;
}

bk_status bk_check_answer(bk_status st, const struct bk_error *armed, bool end, const char *op,
			  struct bk_error *err)
{
	struct bk_error untouched;
	const char *fault;

	if (!is_status(st))
		return bk_check_breach(err, op, "it answers %d, which is no status", st);
	if (st > 0 && !end)
		return bk_check_breach(err, op, "it answers %d, which is none of its outcomes", st);
	if (st < 0) {
		fault = error_fault(st, armed);
		if (fault)
			return bk_check_breach(err, op, "it answers %d, and %s", st, fault);
		*err = *armed;
		return st;
	}
	bk_check_error_arm(&untouched);
	if (memcmp(armed, &untouched, sizeof(untouched)) != 0)
		return bk_check_breach(err, op, "it answers %d and has written to *err", st);
	return st;
}

bool bk_check_found(bk_status st, bk_status raw)
{
	return st != raw;
}

bk_status bk_check_handle(bk_status st, bk_status raw, const void *handle, const char *op,
			  struct bk_error *err)
{
	if (bk_check_found(st, raw))
		return st;
	if (st && handle != BK_CHECK_UNWRITTEN)
		return bk_check_breach(err, op, "it answers %d and has written a handle", st);
	if (!st && (!handle || handle == BK_CHECK_UNWRITTEN))
		return bk_check_breach(err, op, "it answers OK without a handle");
	return st;
}

/* ---- The backend's side: borrowed views -------------------------------- */

static struct bk_check_view *keep(const void *theirs, size_t len, struct bk_check_views *views)
{
	struct bk_check_view *v = theirs ? malloc(sizeof(*v)) : NULL;

	if (!v)
		return NULL;
	v->theirs = theirs;
	v->len = len;
	v->was = v->ours = malloc(len); /* a block of its own: sanitizers see each byte beyond it */
	if (!v->was) {
		free(v);
		return NULL;
	}
	memcpy(v->was, theirs, len);
	v->next = views->list;
	views->list = v;
	return v;
}

bool bk_check_keep(struct bk_slice *view, struct bk_check_views *views)
{
	struct bk_check_view *v;

	if (!view->len) {
		view->data = NULL;
		return true;
	}
	v = keep(view->data, view->len, views);
	if (v)
		view->data = v->ours;
	return v != NULL;
}

bool bk_check_keep_links(struct bk_node *node, struct bk_check_views *views)
{
	struct bk_check_view *v;
	struct bk_link *links;
	size_t i;

	if (!node->link_count) {
		node->links = NULL;
		return true;
	}
	v = keep(node->links, node->link_count * sizeof(*links), views);
	links = v ? malloc(v->len) : NULL;
	if (!links)
		return false;
	v->ours = memcpy(links, v->was, v->len);
	for (i = 0; i < node->link_count; i++) {
		if (!bk_check_keep(&links[i].rel, views) || !bk_check_keep(&links[i].target, views))
			return false;
	}
	node->links = links;
	return true;
}

bool bk_check_lapse(struct bk_check_views *views)
{
	struct bk_check_view *v, *next;
	bool same = true;

	for (v = views->list; v; v = next) {
		next = v->next;
		same = same && memcmp(v->theirs, v->was, v->len) == 0;
		memset(v->ours, LAPSED, v->len);
		if (v->was != v->ours)
			free(v->was);
		free(v->ours);
		free(v);
	}
	views->list = NULL;
	return same;
}
