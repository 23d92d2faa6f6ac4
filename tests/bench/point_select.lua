-- A point select on bakeoff's own table, for sysbench: the row of a node by its id, with the
-- columns that a get reads, as a prepared statement.  BENCH_TABLE names the table.

local stmt, id, ids

function thread_init()
	local con = sysbench.sql.driver():connect()
	local rows = con:query("SELECT id FROM " .. os.getenv("BENCH_TABLE"))

	ids = {}
	for i = 1, rows.nrows do
		ids[i] = rows:fetch_row()[1]
	end
	stmt = con:prepare("SELECT version,segs,doc FROM " .. os.getenv("BENCH_TABLE") .. " WHERE id=?")
	id = stmt:bind_create(sysbench.sql.type.VARCHAR, 64)
	stmt:bind_param(id)
end

function event()
	id:set(ids[sysbench.rand.uniform(1, #ids)])
	stmt:execute()
end
