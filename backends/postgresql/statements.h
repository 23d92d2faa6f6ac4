/*
 * statements.h - every statement that sessions prepare, by name.
 *
 * Each is prepared at its first use in a session.  Tables are found by search_path, which names
 * the space's schema and nothing else.
 */
#ifndef BK_PG_STATEMENTS_H
#define BK_PG_STATEMENTS_H

/* CREATE comes in twelve shapes: what a conflict does, with or without parent, with or without
 * links; pg_create_statement() names one. */
enum pg_conflict {
	PG_CONFLICT_ERROR,   /* the server raises it */
	PG_CONFLICT_NOTHING, /* nothing is inserted, on the id as on the path */
	PG_CONFLICT_ID       /* the same on the id; on the path the server raises it */
};

enum pg_statement {
	PG_GET,                        /* + BK_WANT_* */
	PG_GET_SEGMENTS = PG_GET + 8,  /* + 1 with path, + 2 with links: document in pieces */
	PG_MANY = PG_GET_SEGMENTS + 4, /* + BK_WANT_* */
	PG_MANY_DOCS = PG_MANY + 8,
	PG_FIND,
	PG_CREATE, /* + shape */
	PG_LOCK = PG_CREATE + 12,
	PG_REPLACE,
	PG_WHY_NOT_CREATED,
	PG_APPEND,
	PG_APPEND_LINKS,
	PG_LOCK_TO_REMOVE,
	PG_REMOVE,
	PG_BULK_PARENTS,
	PG_BULK_NODES,
	PG_BULK_LINKS,
	PG_WHICH_FAILED,
	PG_CHILDREN,              /* + 1 with path */
	PG_OUT = PG_CHILDREN + 2, /* + 1 with path; + 2 any relation */
	PG_IN = PG_OUT + 4,       /* + 1 with path; + 2 any relation */
	PG_DOC_GET = PG_IN + 4,
	PG_DOC_FIND,
	PG_DOC_MANY_SIZES,
	PG_DOC_MANY,
	PG_DOC_LOCK,
	PG_DOC_INSERT,
	PG_DOC_UPDATE,
	PG_DOC_DELETE,
	PG_DOC_PATHS,
	PG_DOC_HITS,
	PG_BIN_IDS,
	PG_BIN_CHUNK,
	PG_BIN_SMALL_CREATE,
	PG_BIN_LOCK,
	PG_BIN_DROP_OLD,
	PG_BIN_CREATE,
	PG_BIN_CREATE_OR_FAIL,
	PG_BIN_REPLACE,
	PG_BIN_FORGET,
	PG_BIN_STAT,
	PG_BIN_READ_FIRST,
	PG_BIN_READ,
	PG_BIN_REMOVE,
	PG_BIN_LIST,
	PG_LO_NEW,
	PG_LO_PUT,
	PG_LO_UNLINK,
	PG_LO_UNLINK_OLD,
	PG_LO_READ_FIRST,
	PG_LO_READ,
	PG_LO_REMOVE,
	PG_BEGIN_ASYNC, /* the rest of this transaction need not be flushed when it commits */
	PG_BEGIN,
	PG_COMMIT,
	PG_ROLLBACK,
	PG_SAVEPOINT,
	PG_RELEASE,
	PG_ROLLBACK_TO,
	PG_STATEMENTS
};

struct pg_statement_text {
	const char *name, *sql;
};
extern const struct pg_statement_text pg_statements[PG_STATEMENTS];

static inline enum pg_statement pg_create_statement(enum pg_conflict conflict, int parent,
						    int links)
{
	return (enum pg_statement)(PG_CREATE + (int)conflict * 4 + (parent ? 2 : 0) +
				   (links ? 1 : 0));
}

#endif
