/*
 * statements.c - the SQL of sessions (tables: see schema.c and README.md).
 *
 * Two rules hold throughout.  A statement that changes a node and what belongs to it locks the
 * node's row first, in a statement of its own, so that the second one's snapshot is younger than
 * the lock.  And whatever a caller may do wrong yields no row rather than an error where an error
 * would cost the caller's transaction.
 */
#include "statements.h"

#define S(st, text) [st] = {#st, text}

/* ---- reading: node row, then links, then segments, told apart by what is NULL ----------- */

#define PATH_YES            "parent, path"
#define PATH_NO             "NULL::bytea, NULL::bytea"
#define DOC_YES             "doc"
#define DOC_NO              "NULL::bytea"
#define GET_NODE(path, doc) "SELECT version, segs, " path ", " doc " FROM node WHERE id = $1"
#define GET_LINKS           " UNION ALL SELECT NULL, NULL, rel, target, NULL FROM link WHERE source = $1"
#define GET_SEGMENTS                                                                               \
	" UNION ALL (SELECT NULL, seq, NULL, NULL, tail FROM segment WHERE node = $1 ORDER BY seq)"

/* Documents in pieces or over $2 bytes are left out and asked for by MANY_DOCS, so that the size of
 * the answer is bounded; $3 bounds the links. */
#define MANY_NODE(path, doc)                                                                       \
	"SELECT id, version, size, " path ", " doc " FROM node WHERE id = ANY($1)"                 \
	" AND $2::int8 >= 0 AND $3::int8 >= 0"
#define MANY_DOC "CASE WHEN segs = 0 AND size <= $2 THEN doc END"
#define MANY_LINKS                                                                                 \
	" UNION ALL (SELECT source, NULL, NULL, rel, target, NULL FROM link"                       \
	" WHERE source = ANY($1) LIMIT $3)"

/* ---- creating: $1 id, $2 path, $3 doc, $4 parent, $5 relations, $6 targets -------------- */

/* version: a random start by default, so that a node made again bears no old version. */
#define CREATE_INTO "INSERT INTO node (id, path, doc, size, parent) "
#define CREATE_ROOT CREATE_INTO "SELECT $1, $2, $3, octet_length($3), $4::bytea"
/* The lock keeps the parent from going away until this transaction has ended. */
#define CREATE_CHILD                                                                               \
	CREATE_INTO "SELECT $1, $2, $3, octet_length($3), p.id FROM node p"                        \
		    " WHERE p.id = $4 FOR KEY SHARE"
#define WITH_LINKS(create, conflict)                                                                \
	"WITH n AS (" create conflict                                                               \
	" RETURNING id), l AS (INSERT INTO link (source, rel, target)"                              \
	" SELECT n.id, u.rel, u.target FROM n, unnest($5::bytea[], $6::bytea[]) AS u (rel, target)" \
	" ON CONFLICT DO NOTHING) SELECT 1 FROM n"
#define CREATE_FOUR(conflict, clause)                                                              \
	S(PG_CREATE + (conflict)*4, CREATE_ROOT clause),                                           \
		S(PG_CREATE + (conflict)*4 + 1, WITH_LINKS(CREATE_ROOT, clause)),                  \
		S(PG_CREATE + (conflict)*4 + 2, CREATE_CHILD clause),                              \
		S(PG_CREATE + (conflict)*4 + 3, WITH_LINKS(CREATE_CHILD, clause))

/* A small document takes a small tail into the row: the row is written anew in any case. */
#define APPEND_INLINE "(segs = 0 AND size + octet_length($2) <= 1024)"
#define APPEND_NODE                                                                                \
	"WITH n AS (UPDATE node SET version = version + 1, size = size + octet_length($2),"        \
	" doc = CASE WHEN " APPEND_INLINE " THEN doc || $2 ELSE doc END,"                          \
	" segs = CASE WHEN " APPEND_INLINE " OR octet_length($2) = 0 THEN segs ELSE segs + 1 END"  \
	" WHERE id = $1 RETURNING id, segs),"                                                      \
	" s AS (INSERT INTO segment (node, seq, tail) SELECT id, segs, $2 FROM n"                  \
	" WHERE segs > 0 AND octet_length($2) > 0)"
#define APPEND_ADD_LINKS                                                                           \
	", l AS (INSERT INTO link (source, rel, target) SELECT n.id, u.rel, u.target"              \
	" FROM n, unnest($3::bytea[], $4::bytea[]) AS u (rel, target) ON CONFLICT DO NOTHING)"

/* ---- walks of one step: $1 where from, then the key of the last hit --------------------- */

#define LIMIT_PAGE " LIMIT 1000"
#define CHILDREN(path)                                                                             \
	"SELECT id" path " FROM node WHERE parent = $1 AND id > $2 ORDER BY id" LIMIT_PAGE
#define OUT_FROM " FROM link l JOIN node n ON n.id = l.target WHERE l.source = $1"
#define OUT_REL(path)                                                                              \
	"SELECT l.target" path OUT_FROM                                                            \
	" AND l.rel = $2 AND l.target > $3 ORDER BY l.target" LIMIT_PAGE
#define OUT_ANY(path)                                                                              \
	"SELECT l.target" path ", l.rel" OUT_FROM                                                  \
	" AND (l.rel, l.target) > ($2, $3) ORDER BY l.rel, l.target" LIMIT_PAGE
#define IN_WHERE " WHERE l.target = $1 AND EXISTS (SELECT 1 FROM node WHERE id = $1)"
#define IN_PLAIN " FROM link l" IN_WHERE
#define IN_NODE  " FROM link l JOIN node n ON n.id = l.source" IN_WHERE
#define IN_REL(path, from)                                                                         \
	"SELECT l.source" path from " AND l.rel = $2 AND l.source > $3 ORDER BY l.source" LIMIT_PAGE
#define IN_ANY(path, from)                                                                         \
	"SELECT l.source" path ", l.rel" from                                                      \
	" AND (l.rel, l.source) > ($2, $3) ORDER BY l.rel, l.source" LIMIT_PAGE

const struct pg_statement_text pg_statements[PG_STATEMENTS] = {
	S(PG_GET + 0, GET_NODE(PATH_NO, DOC_NO)),
	S(PG_GET + 1, GET_NODE(PATH_YES, DOC_NO)),
	S(PG_GET + 2, GET_NODE(PATH_NO, DOC_YES)),
	S(PG_GET + 3, GET_NODE(PATH_YES, DOC_YES)),
	S(PG_GET + 4, GET_NODE(PATH_NO, DOC_NO) GET_LINKS),
	S(PG_GET + 5, GET_NODE(PATH_YES, DOC_NO) GET_LINKS),
	S(PG_GET + 6, GET_NODE(PATH_NO, DOC_YES) GET_LINKS),
	S(PG_GET + 7, GET_NODE(PATH_YES, DOC_YES) GET_LINKS),
	S(PG_GET_SEGMENTS + 0, GET_NODE(PATH_NO, DOC_YES) GET_SEGMENTS),
	S(PG_GET_SEGMENTS + 1, GET_NODE(PATH_YES, DOC_YES) GET_SEGMENTS),
	S(PG_GET_SEGMENTS + 2, GET_NODE(PATH_NO, DOC_YES) GET_LINKS GET_SEGMENTS),
	S(PG_GET_SEGMENTS + 3, GET_NODE(PATH_YES, DOC_YES) GET_LINKS GET_SEGMENTS),

	S(PG_MANY + 0, MANY_NODE(PATH_NO, DOC_NO)),
	S(PG_MANY + 1, MANY_NODE(PATH_YES, DOC_NO)),
	S(PG_MANY + 2, MANY_NODE(PATH_NO, MANY_DOC)),
	S(PG_MANY + 3, MANY_NODE(PATH_YES, MANY_DOC)),
	S(PG_MANY + 4, MANY_NODE(PATH_NO, DOC_NO) MANY_LINKS),
	S(PG_MANY + 5, MANY_NODE(PATH_YES, DOC_NO) MANY_LINKS),
	S(PG_MANY + 6, MANY_NODE(PATH_NO, MANY_DOC) MANY_LINKS),
	S(PG_MANY + 7, MANY_NODE(PATH_YES, MANY_DOC) MANY_LINKS),
	S(PG_MANY_DOCS,
	  "SELECT id, version, doc FROM node WHERE id = ANY($1) UNION ALL"
	  " (SELECT node, NULL, tail FROM segment WHERE node = ANY($1) ORDER BY node, seq)"),

	S(PG_FIND, "SELECT id FROM node WHERE path = $1"),

	CREATE_FOUR(PG_CONFLICT_ERROR, ""),
	CREATE_FOUR(PG_CONFLICT_NOTHING, " ON CONFLICT DO NOTHING"),
	CREATE_FOUR(PG_CONFLICT_ID, " ON CONFLICT (id) DO NOTHING"),

	/* $1 id, $2 path, $3 parent, $4 version or 0 */
	S(PG_LOCK, "SELECT $4 = 0 OR version = $4, path = $2 AND parent IS NOT DISTINCT FROM $3"
		   " FROM node WHERE id = $1 FOR NO KEY UPDATE"),
	/* The same, then $5 doc, $6 relations, $7 targets.  A link that stays is not touched: one
	 * statement can't delete and insert the same key. */
	S(PG_REPLACE,
	  "WITH n AS (UPDATE node SET doc = $5, size = octet_length($5), segs = 0,"
	  " version = version + 1 WHERE id = $1 AND path = $2 AND parent IS NOT DISTINCT FROM $3"
	  " AND ($4 = 0 OR version = $4) RETURNING id),"
	  " s AS (DELETE FROM segment USING n WHERE segment.node = n.id),"
	  " d AS (DELETE FROM link USING n WHERE link.source = n.id AND (link.rel, link.target)"
	  " NOT IN (SELECT rel, target FROM unnest($6::bytea[], $7::bytea[]) AS u (rel, target))),"
	  " i AS (INSERT INTO link (source, rel, target) SELECT n.id, u.rel, u.target"
	  " FROM n, unnest($6::bytea[], $7::bytea[]) AS u (rel, target) ON CONFLICT DO NOTHING)"
	  " SELECT 1 FROM n"),
	S(PG_WHY_NOT_CREATED, "SELECT EXISTS (SELECT 1 FROM node WHERE id = $1),"
			      " EXISTS (SELECT 1 FROM node WHERE path = $2),"
			      " $3::bytea IS NULL OR EXISTS (SELECT 1 FROM node WHERE id = $3)"),
	/* $1 id, $2 tail, $3 relations, $4 targets */
	S(PG_APPEND, APPEND_NODE " SELECT 1 FROM n"),
	S(PG_APPEND_LINKS, APPEND_NODE APPEND_ADD_LINKS " SELECT 1 FROM n"),
	S(PG_LOCK_TO_REMOVE, "SELECT 1 FROM node WHERE id = $1 FOR UPDATE"),
	S(PG_REMOVE, "WITH n AS (DELETE FROM node WHERE id = $1"
		     " AND NOT EXISTS (SELECT 1 FROM node c WHERE c.parent = $1) RETURNING id),"
		     " s AS (DELETE FROM segment USING n WHERE segment.node = n.id),"
		     " l AS (DELETE FROM link USING n WHERE link.source = n.id) SELECT 1 FROM n"),

	/* The division fails, and with it all that follows, unless every parent is there. */
	S(PG_BULK_PARENTS, "SELECT 1 / (count(*) = $2)::int FROM"
			   " (SELECT 1 FROM node WHERE id = ANY($1) FOR KEY SHARE) p"),
	/* $1 ids, $2 paths, $3 docs, $4 parents.  Sorted: neighbours in an index come one after the
	 * other, and two batches that meet take their keys in one order. */
	S(PG_BULK_NODES,
	  CREATE_INTO "SELECT id, path, doc, octet_length(doc), parent"
		      " FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[])"
		      " AS u (id, path, doc, parent) ORDER BY id"),
	S(PG_BULK_LINKS, "INSERT INTO link (source, rel, target) SELECT source, rel, target"
			 " FROM unnest($1::bytea[], $2::bytea[], $3::bytea[])"
			 " AS u (source, rel, target) ORDER BY source"),
	/* The first of a batch that is in the way of what is stored: its place, and whether it is
	 * the parent that is missing. $1 ids, $2 paths, $3 parents (NULL where not to be looked up)
	 */
	S(PG_WHICH_FAILED,
	  "SELECT i - 1, NOT EXISTS (SELECT 1 FROM node n WHERE n.id = u.id)"
	  " AND NOT EXISTS (SELECT 1 FROM node n WHERE n.path = u.path)"
	  " FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS"
	  " u (id, path, parent, i) WHERE EXISTS (SELECT 1 FROM node n WHERE n.id = u.id)"
	  " OR EXISTS (SELECT 1 FROM node n WHERE n.path = u.path)"
	  " OR (u.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM node n WHERE n.id = u.parent))"
	  " ORDER BY i LIMIT 1"),

	S(PG_CHILDREN + 0, CHILDREN("")),
	S(PG_CHILDREN + 1, CHILDREN(", path")),
	S(PG_OUT + 0, OUT_REL("")),
	S(PG_OUT + 1, OUT_REL(", n.path")),
	S(PG_OUT + 2, OUT_ANY("")),
	S(PG_OUT + 3, OUT_ANY(", n.path")),
	S(PG_IN + 0, IN_REL("", IN_PLAIN)),
	S(PG_IN + 1, IN_REL(", n.path", IN_NODE)),
	S(PG_IN + 2, IN_ANY("", IN_PLAIN)),
	S(PG_IN + 3, IN_ANY(", n.path", IN_NODE)),

	/* ---- document layout --------------------------------------------------------------------
	 */
	S(PG_DOC_GET, "SELECT document FROM document WHERE id = $1"),
	S(PG_DOC_FIND, "SELECT id FROM document WHERE path = $1"),
	S(PG_DOC_MANY_SIZES, "SELECT id, octet_length(document),"
			     " CASE WHEN octet_length(document) <= $2 THEN document END"
			     " FROM document WHERE id = ANY($1)"),
	S(PG_DOC_MANY, "SELECT id, document FROM document WHERE id = ANY($1)"),
	S(PG_DOC_LOCK,
	  "SELECT id, document FROM document WHERE id = ANY($1) ORDER BY id FOR UPDATE"),
	S(PG_DOC_INSERT, "INSERT INTO document (id, path, document) VALUES ($1, $2, $3)"),
	S(PG_DOC_UPDATE, "UPDATE document SET path = $2, document = $3 WHERE id = $1"),
	S(PG_DOC_DELETE, "DELETE FROM document WHERE id = $1"),
	S(PG_DOC_PATHS, "SELECT id, path FROM document WHERE path = ANY($1)"),
	S(PG_DOC_HITS, "SELECT id, path FROM document WHERE id = ANY($1) AND path IS NOT NULL"),

	/* ---- binaries: rows ---------------------------------------------------------------------
	 */
	S(PG_BIN_IDS, "SELECT nextval('binary_id')"),
	S(PG_BIN_CHUNK, "INSERT INTO chunk (id, seq, data) VALUES ($1, $2, $3)"),
	/* $1 key, $2 id, $3 size, $4 data */
	S(PG_BIN_SMALL_CREATE,
	  "WITH b AS (INSERT INTO binaries (key, id, size) VALUES ($1, $2, $3)"
	  " ON CONFLICT DO NOTHING RETURNING id), c AS (INSERT INTO chunk (id, seq, data)"
	  " SELECT id, 0, $4 FROM b WHERE octet_length($4) > 0) SELECT 1 FROM b"),
	S(PG_BIN_LOCK, "SELECT id FROM binaries WHERE key = $1 FOR UPDATE"),
	S(PG_BIN_DROP_OLD,
	  "DELETE FROM chunk USING binaries b WHERE b.key = $1 AND chunk.id = b.id"),
	/* $1 key, $2 id, $3 size */
	S(PG_BIN_CREATE, "INSERT INTO binaries (key, id, size) VALUES ($1, $2, $3)"
			 " ON CONFLICT DO NOTHING"),
	S(PG_BIN_CREATE_OR_FAIL, "INSERT INTO binaries (key, id, size) VALUES ($1, $2, $3)"),
	S(PG_BIN_REPLACE,
	  "INSERT INTO binaries (key, id, size) VALUES ($1, $2, $3)"
	  " ON CONFLICT (key) DO UPDATE SET id = EXCLUDED.id, size = EXCLUDED.size"),
	S(PG_BIN_FORGET, "DELETE FROM chunk WHERE id = $1"),
	S(PG_BIN_STAT, "SELECT size FROM binaries WHERE key = $1"),
	/* $1 key, $2 offset, $3 length; the first row of the range comes along */
	S(PG_BIN_READ_FIRST,
	  "SELECT b.id, b.size, CASE WHEN $2 % 262144 = 0 AND $3 >= 262144 THEN c.data"
	  " ELSE substring(c.data FROM ($2 % 262144)::int + 1 FOR least($3, 262144)::int) END"
	  " FROM binaries b LEFT JOIN chunk c"
	  " ON c.id = b.id AND c.seq = $2 / 262144 AND $3 > 0 WHERE b.key = $1"),
	S(PG_BIN_READ,
	  "SELECT data FROM chunk WHERE id = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq"),
	S(PG_BIN_REMOVE, "WITH b AS (DELETE FROM binaries WHERE key = $1 RETURNING id),"
			 " c AS (DELETE FROM chunk USING b WHERE chunk.id = b.id) SELECT 1 FROM b"),
	S(PG_BIN_LIST, "SELECT key, size FROM binaries WHERE key > $1 ORDER BY key" LIMIT_PAGE),

	/* ---- binaries: large objects ------------------------------------------------------------
	 */
	S(PG_LO_NEW, "SELECT lo_from_bytea(0, $1)::int8"),
	S(PG_LO_PUT, "SELECT lo_put($1::int8::oid, $2, $3)"),
	S(PG_LO_UNLINK, "SELECT lo_unlink($1::int8::oid)"),
	S(PG_LO_UNLINK_OLD, "SELECT lo_unlink(id::oid) FROM binaries WHERE key = $1"),
	S(PG_LO_READ_FIRST,
	  "SELECT id, size, CASE WHEN $2 < size AND $3 > 0"
	  " THEN lo_get(id::oid, $2, least($3, 262144)::int) END FROM binaries WHERE key = $1"),
	S(PG_LO_READ, "SELECT lo_get($1::int8::oid, $2, $3::int)"),
	S(PG_LO_REMOVE, "WITH b AS (DELETE FROM binaries WHERE key = $1 RETURNING id)"
			" SELECT lo_unlink(id::oid) FROM b"),

	/* ---- transactions -----------------------------------------------------------------------
	 */
	S(PG_BEGIN_ASYNC, "SELECT set_config('synchronous_commit', 'off', true)"),
	S(PG_BEGIN, "BEGIN"),
	S(PG_COMMIT, "COMMIT"),
	S(PG_ROLLBACK, "ROLLBACK"),
	S(PG_SAVEPOINT, "SAVEPOINT bakeoff"),
	S(PG_RELEASE, "RELEASE SAVEPOINT bakeoff"),
	S(PG_ROLLBACK_TO, "ROLLBACK TO SAVEPOINT bakeoff"),
};
