/*
 * sql.h - the statements that every session may prepare: name, text; @x is the table x of the
 * store.
 *
 * Those with lists, and the reads and walks that differ by what is wanted, are made where they are
 * used: rel_get.c, rel_walk_text.c, in.c.
 */
#ifndef BK_MYSQL_SQL_H
#define BK_MYSQL_SQL_H

#define MY_SQL_LIST(X) /* name, text: @x is the table x of the store */                            \
	X(NUMBER, "INSERT INTO @seq VALUES (NULL)")                                                \
	X(ID_LOCK, "SELECT n FROM @node WHERE id=? LOCK IN SHARE MODE")                            \
	X(FIND, "SELECT id FROM @node WHERE path=?")                                               \
	X(INSERT_NODE,                                                                             \
	  "INSERT INTO @node (n,parent,version,segs,id,path,doc) VALUES (?,?,1,?,?,?,?)")          \
	X(INSERT_SEG, "INSERT INTO @segment (n,seq,data) VALUES (?,?,?)")                          \
	X(INSERT_LINK, "INSERT INTO @link (src,rel,target) VALUES (?,?,?)")                        \
	X(ADD_LINK,                                                                                \
	  "INSERT INTO @link (src,rel,target) VALUES (?,?,?) ON DUPLICATE KEY UPDATE src=src")     \
	X(DELETE_LINK, "DELETE FROM @link WHERE src=? AND rel=? AND target=?")                     \
	X(UPDATE_NODE, "UPDATE @node SET doc=?,segs=?,version=version+1 WHERE n=?")                \
	X(DELETE_SEGS, "DELETE FROM @segment WHERE n=?")                                           \
	X(APPEND_SHORT, "UPDATE @node SET doc=CONCAT(doc,?),version=version+1 "                    \
			"WHERE id=? AND segs=0 AND LENGTH(doc)<?")                                 \
	X(APPEND_LOCK, "SELECT n,segs FROM @node WHERE id=? FOR UPDATE")                           \
	X(APPENDED, "UPDATE @node SET segs=?,version=version+1 WHERE n=?")                         \
	X(SEGS_FROM, "SELECT data FROM @segment WHERE n=? AND seq>=? ORDER BY seq FOR UPDATE")     \
	X(SEGS_DELETE_FROM, "DELETE FROM @segment WHERE n=? AND seq>=?")                           \
	X(REMOVE, "DELETE FROM @node WHERE id=?")                                                  \
	X(BIN_LOCK, "SELECT n FROM @binary WHERE bkey=? FOR UPDATE")                               \
	X(BIN_STAT, "SELECT size FROM @binary WHERE bkey=?")                                       \
	X(BIN_INSERT, "INSERT INTO @binary (bkey,n,size,chunk) VALUES (?,?,?,?)")                  \
	X(BIN_REPLACE,                                                                             \
	  "INSERT INTO @binary (bkey,n,size,chunk) VALUES (?,?,?,?) ON DUPLICATE KEY UPDATE "      \
	  "n=VALUES(n),size=VALUES(size),chunk=VALUES(chunk)")                                     \
	X(BIN_DELETE, "DELETE b,c FROM @binary b LEFT JOIN @chunk c ON c.n=b.n WHERE b.bkey=?")    \
	X(BIN_LIST, "SELECT bkey,size FROM @binary WHERE bkey>? ORDER BY bkey LIMIT 512")          \
	X(BIN_FIRST, "SELECT b.n,b.size,b.chunk,c.data FROM @binary b LEFT JOIN @chunk c "         \
		     "ON c.n=b.n AND c.seq=? DIV b.chunk WHERE b.bkey=?")                          \
	X(CHUNKS_READ, "SELECT data FROM @chunk WHERE n=? AND seq>=? AND seq<? ORDER BY seq")      \
	X(CHUNK_1, "INSERT INTO @chunk (n,seq,data) VALUES (?,?,?)")                               \
	X(CHUNK_4, "INSERT INTO @chunk (n,seq,data) VALUES (?,?,?),(?,?,?),(?,?,?),(?,?,?)")       \
	X(CHUNKS_DELETE, "DELETE FROM @chunk WHERE n=?")                                           \
	X(UPLOAD_INSERT, "INSERT INTO @upload (n) VALUES (?)")                                     \
	X(UPLOAD_DELETE, "DELETE FROM @upload WHERE n=?")                                          \
	X(DOC_GET, "SELECT document FROM @document WHERE id=?")                                    \
	X(DOC_UPDATE, "UPDATE @document SET document=? WHERE id=?")                                \
	X(DOC_INSERT, "INSERT INTO @document (id,document) VALUES (?,?)")                          \
	X(DOC_DELETE, "DELETE FROM @document WHERE id=?")

#endif
