/*
 * bench_access.c - document access against native, n-members at 10,000, on each store named: what
 * the access pattern alone costs.  It has no goal of ours to meet (the goal column says 1): the
 * ratio is the finding.
 *
 * Runs the program, as a user would: one run, both modes as cells of it, medians of three rounds.
 */
#include "bench.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_matrix(const char *path, const char *variant)
{
	FILE *f = fopen(path, "w");

	if (!f)
		bench_die("cannot write %s", path);
	fprintf(f,
		"rounds: 3\ndurability: none\nvariants: [%s]\nscenarios:\n"
		"  - {name: n-members, n: 10000, hierarchy: flat, cache_size: 0,"
		" access: [document, native]}\n",
		variant);
	fclose(f);
}

static double median_of(json_t *rows, const char *variant, const char *access)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		json_t *cell = json_object_get(json_object_get(row, "variants"), variant);

		if (strstr(json_string_value(json_object_get(row, "case")), access))
			return json_number_value(json_object_get(cell, "median"));
	}
	return 0;
}

/* The program stands beside bench/ in the build folder. */
static double ratio(const char *variant)
{
	char folder[4096], program[4096], command[16384], line[64];
	double document, native;
	json_t *root;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	FILE *out;

	if (n <= 0)
		bench_die("cannot find the program");
	program[n] = '\0';
	*strrchr(program, '/') = '\0';
	*strrchr(program, '/') = '\0';
	bench_folder(folder, sizeof(folder));
	snprintf(command, sizeof(command), "%s/m.yaml", folder);
	write_matrix(command, variant);
	snprintf(command, sizeof(command),
		 "cd '%s' && '%s/bakeoff' run -q m.yaml >/dev/null 2>run.err && "
		 "'%s/bakeoff' compare --format json",
		 folder, program, program);
	out = popen(command, "r");
	root = out ? json_loadf(out, 0, NULL) : NULL;
	if (!out || pclose(out) != 0 || !root) {
		snprintf(line, sizeof(line), "%s", variant);
		bench_die("no figures for %s; see %s/run.err", line, folder);
	}
	document = median_of(json_object_get(root, "rows"), variant, "access=document");
	native = median_of(json_object_get(root, "rows"), variant, "access=native");
	json_decref(root);
	bench_remove(folder);
	return native > 0 ? document / native : 0;
}

static double leveldb(void)
{
	return ratio("leveldb");
}

static double postgresql(void)
{
	return ratio("postgresql");
}

static double mysql(void)
{
	return ratio("mysql");
}

int main(int argc, char **argv)
{
	static const struct bench list[] = {
		{"leveldb_document_over_native", 1, true, leveldb},
		{"postgresql_document_over_native", 1, true, postgresql},
		{"mysql_document_over_native", 1, true, mysql},
	};

	return bench_main(argc, argv, list, sizeof(list) / sizeof(list[0]));
}
