/*
 * repo.c - ids, and sessions on the stores of a variant.
 */
#include "repo/repo.h"

#include <bakeoff/backend_util.h>

#include <string.h>
#include <xxhash.h>

struct bk_slice bk_repo_id(const struct bk_repo *repo, unsigned char out[BK_REPO_ID_LEN],
			   struct bk_slice path)
{
	XXH128_canonical_t canonical;

	if (bk_repo_has(repo->nodes, BK_F_ID_IS_PATH))
		return path;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits(path.data, path.len));
	memcpy(out, canonical.digest, BK_REPO_ID_LEN);
	return bk_slice_of(out, BK_REPO_ID_LEN);
}

bk_status bk_repo_session_open(struct bk_repo_session *out, const struct bk_repo *repo,
			       uint32_t worker, uint32_t durability, struct bk_error *err)
{
	struct bk_session_config config = {.struct_size = sizeof(config),
					   .worker = worker,
					   .durability = durability,
					   .timeout_ns = repo->timeout_ns};
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->repo = repo;
	st = repo->nodes->tables.session.open(&out->nodes, repo->nodes->store, &config, err);
	if (st < 0)
		return st;
	if (repo->binaries == repo->nodes) {
		out->binaries = out->nodes;
	} else if (repo->binaries) {
		st = repo->binaries->tables.session.open(&out->binaries, repo->binaries->store,
							 &config, err);
		if (st < 0) {
			repo->nodes->tables.session.close(out->nodes);
			out->nodes = NULL;
		}
	}
	return st;
}

void bk_repo_session_meter(struct bk_repo_session *session)
{
	const struct bk_repo *repo = session->repo;

	if (session->binaries && session->binaries != session->nodes)
		bk_traffic_add(repo->traffic, &session->said[1], &repo->binaries->tables.session,
			       session->binaries);
	if (session->nodes)
		bk_traffic_add(repo->traffic, &session->said[0], &repo->nodes->tables.session,
			       session->nodes);
}

void bk_repo_session_close(struct bk_repo_session *session)
{
	if (!session->nodes)
		return;
	bk_repo_session_meter(session);
	if (session->binaries && session->binaries != session->nodes)
		session->repo->binaries->tables.session.close(session->binaries);
	session->repo->nodes->tables.session.close(session->nodes);
	session->nodes = session->binaries = NULL;
}
