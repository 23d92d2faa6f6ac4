/*
 * progress.c - the line of a run.
 *
 * tick() comes from the run's own thread while the main one may print.
 *
 * The one invariant: `lock` is held around every change of the struct and every line.
 */
#include "report/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DIM   "\033[2m"
#define RED   "\033[31m"
#define PLAIN "\033[0m"
#define CLEAR "\r\033[K"

void bk_progress_init(struct bk_progress *p, FILE *out, bool quiet, bool no_colour)
{
	const char *env = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;

	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	p->out = out;
	p->quiet = quiet;
	p->terminal = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
	p->colour = p->terminal && !no_colour && !(env && *env);
	p->width = 100;
	if (p->terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		p->width = size.ws_col;
}

static const char *colour(const struct bk_progress *p, const char *code)
{
	return p->colour ? code : "";
}

/* "3:07" or "1:02:09" */
static void duration(char out[24], double seconds)
{
	unsigned long s = (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		snprintf(out, 24, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(out, 24, "%lu:%02lu", s / 60, s % 60);
}

/* What the trials took so far, for each to come, less what the one under way has had of it: so it
 * falls while time passes, and is corrected where a trial ends. */
static double seconds_left(const struct bk_progress *p, double now)
{
	double each = p->finished_seconds / p->finished, gone = now - p->finished_seconds;

	return each * (p->total - p->finished) - (gone < each ? gone : each);
}

static void began(void *ctx, int64_t run, const struct bk_matrix *matrix, uint32_t trials)
{
	struct bk_progress *p = ctx;

	p->total = trials;
	if (!p->quiet)
		fprintf(p->out,
			"run %" PRId64 ": %s, %zu cell%s x %" PRIu32 " round%s, seed %" PRIu64 "\n",
			run, matrix->name, matrix->cell_count, matrix->cell_count == 1 ? "" : "s",
			matrix->rounds, matrix->rounds == 1 ? "" : "s", matrix->seed);
}

static void tick(void *ctx, const struct bk_run_trial *t)
{
	struct bk_progress *p = ctx;
	char head[64], tail[160], rate[48] = "", left[24] = "", goal[64] = "";
	size_t len = strlen(t->cell->name);
	int room;

	if (p->quiet || !p->terminal)
		return;
	pthread_mutex_lock(&p->lock);
	if (t->done && t->phase_seconds > 0.5) {
		char figure[BK_FIGURE_MAX];

		bk_figure_format(figure, (double)t->done / t->phase_seconds, "1/s");
		snprintf(rate, sizeof(rate), " %s", figure);
	}
	if (t->goal && t->done > t->goal) /* reads go on for a second */
		snprintf(goal, sizeof(goal), " %" PRIu64 " (at least %" PRIu64 ")", t->done,
			 t->goal);
	else if (t->goal)
		snprintf(goal, sizeof(goal), " %" PRIu64 "/%" PRIu64, t->done, t->goal);
	if (p->finished)
		duration(left, seconds_left(p, t->run_seconds));
	snprintf(head, sizeof(head), "[%" PRIu32 "/%" PRIu32 "] round %" PRIu32 "  ", t->position,
		 t->total, t->round);
	snprintf(tail, sizeof(tail), "  %s%s%s%s%s", t->phase, goal, rate,
		 left[0] ? "  left about " : "", left);
	/* half a number would be a wrong one: it is the name that gives way */
	room = p->width - 1 - (int)strlen(head) - (int)strlen(tail);
	if (room < 8) {
		room += (int)strlen(tail);
		tail[0] = '\0';
	}
	if ((int)len <= room)
		room = (int)len;
	fprintf(p->out, CLEAR "%s%s%.*s%s%s%s", colour(p, DIM), head,
		room < (int)len ? (room > 2 ? room - 2 : 0) : room, t->cell->name,
		room < (int)len ? ".." : "", tail, colour(p, PLAIN));
	fflush(p->out);
	p->line_open = true;
	pthread_mutex_unlock(&p->lock);
}

static void close_line(struct bk_progress *p)
{
	if (p->line_open)
		fputs(CLEAR, p->out);
	p->line_open = false;
	fflush(p->out);
}

void bk_progress_end(struct bk_progress *p)
{
	pthread_mutex_lock(&p->lock);
	close_line(p);
	pthread_mutex_unlock(&p->lock);
}

static void finished(void *ctx, const struct bk_run_verdict *v)
{
	struct bk_progress *p = ctx;
	const struct bk_run_trial *t = v->trial;
	bool ok = strcmp(v->status, "ok") == 0;
	char figure[BK_FIGURE_MAX] = "";

	pthread_mutex_lock(&p->lock);
	p->finished++;
	p->finished_seconds = v->run_seconds;
	if (p->quiet && ok) {
		pthread_mutex_unlock(&p->lock);
		return;
	}
	if (v->metric)
		bk_figure_format(figure, v->value, v->unit);
	close_line(p);
	if (ok)
		fprintf(p->out, "[%" PRIu32 "/%" PRIu32 "] round %" PRIu32 "  %-58s %10s\n",
			t->position, t->total, t->round, t->cell->name, figure);
	else
		fprintf(p->out, "[%" PRIu32 "/%" PRIu32 "] round %" PRIu32 "  %s  %s%s%s: %s\n",
			t->position, t->total, t->round, t->cell->name, colour(p, RED), v->status,
			colour(p, PLAIN), v->error);
	pthread_mutex_unlock(&p->lock);
}

static void message(void *ctx, const char *text)
{
	struct bk_progress *p = ctx;

	pthread_mutex_lock(&p->lock);
	close_line(p);
	fprintf(p->out, "bakeoff: %s\n", text);
	pthread_mutex_unlock(&p->lock);
}

struct bk_run_events bk_progress_events(struct bk_progress *progress)
{
	return (struct bk_run_events){
		.ctx = progress,
		.began = began,
		.tick = tick,
		.finished = finished,
		.message = message,
	};
}
