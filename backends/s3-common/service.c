/*
 * service.c - a private Ceph cluster with an S3 gateway, as data: one monitor, one OSD, one
 * radosgw. bk-s3 and bk-s3-libs3 are both built with this file.
 *
 * It is as small and as quick to start as three such processes get: no authentication within the
 * cluster (all of it listens on loopback addresses, in a folder that is closed to others), one
 * replica, few threads.  Throw-away data is in the OSD's memory (memstore, 4 GiB); what is measured
 * is on a file that the OSD writes past the page cache and syncs for every transaction (bluestore).
 *
 * The one invariant: the keys are made by radosgw-admin and come back on its standard output; no
 * argument list ever holds them.
 */
#include "service.h"

#include <signal.h>
#include <stddef.h>

#define SVC_MON_ADDRESS "[v1:{host}:{port2}]"
#ifndef S3_SERVICE_REGION /* s3-libs3 has no such option */
#define S3_SERVICE_REGION "{region}"
#endif
#define SVC_IN_MEMORY (BK_WHEN_TEST | BK_WHEN_NONE)

static const char *const svc_programs[] = {"ceph-mon", "ceph-osd",   "radosgw", "radosgw-admin",
					   "ceph",     "monmaptool", NULL};
static const char *const svc_search[] = {"/usr/bin", "/usr/local/bin", "/opt/ceph/bin", NULL};
static const char *const svc_users[] = {"ceph", NULL};

/* Where the options below come from: `paxos propose interval` takes ten seconds off the start,
 * since otherwise each map change waits for one; tcp_nodelay makes small reads fifteen times as
 * many; the gc intervals give deleted data back within seconds; a failure domain of one OSD needs
 * `chooseleaf type = 0`. */
#define SVC_CONF(store)                                                                            \
	"[global]\n"                                                                               \
	"fsid = {uuid}\n"                                                                          \
	"mon host = " SVC_MON_ADDRESS "\n"                                                         \
	"mon initial members = a\n"                                                                \
	"public addr = {host}\n"                                                                   \
	"cluster addr = {host}\n"                                                                  \
	"auth cluster required = none\n"                                                           \
	"auth service required = none\n"                                                           \
	"auth client required = none\n"                                                            \
	"keyring = /dev/null\n"                                                                    \
	"run dir = {run}\n"                                                                        \
	"pid file = {run}/$name.pid\n"                                                             \
	"admin socket = {run}/$name.$pid.asok\n"                                                   \
	"log file =\n"                                                                             \
	"log to stderr = true\n"                                                                   \
	"err to stderr = true\n"                                                                   \
	"debug default = 0/0\n"                                                                    \
	"mon cluster log file = /dev/null\n"                                                       \
	"crash dir = {run}\n"                                                                      \
	"setuser match path =\n"                                                                   \
	"osd pool default size = 1\n"                                                              \
	"osd pool default min size = 1\n"                                                          \
	"osd pool default pg num = 4\n"                                                            \
	"osd pool default pgp num = 4\n"                                                           \
	"osd pool default pg autoscale mode = off\n"                                               \
	"osd crush chooseleaf type = 0\n"                                                          \
	"mon allow pool size one = true\n"                                                         \
	"mon warn on pool no redundancy = false\n"                                                 \
	"mon max pg per osd = 1000\n"                                                              \
	"paxos propose interval = 0.02\n"                                                          \
	"paxos min wait = 0.01\n"                                                                  \
	"mon tick interval = 1\n"                                                                  \
	"mon osd min up ratio = 0\n"                                                               \
	"osd heartbeat interval = 1\n"                                                             \
	"osd op num shards = 2\n"                                                                  \
	"osd op num threads per shard = 1\n"                                                       \
	"osd memory target = 939524096\n"                                                          \
	"osd memory cache min = 67108864\n"                                                        \
	"osd class load list = *\n"                                                                \
	"osd class default list = *\n"                                                             \
	"[mon.a]\n"                                                                                \
	"mon data = {data}/mon\n"                                                                  \
	"mon data avail warn = 1\n"                                                                \
	"mon data avail crit = 1\n"                                                                \
	"[osd.0]\n"                                                                                \
	"osd data = {data}/osd\n"                                                                  \
	"osd objectstore = " store "\n"                                                            \
	"osd crush update on start = false\n"                                                      \
	"osd class update on start = false\n"                                                      \
	"memstore device bytes = 4294967296\n"                                                     \
	"bluestore block create = true\n"                                                          \
	"bluestore block size = 34359738368\n"                                                     \
	"bluestore fsck on mount = false\n"                                                        \
	"[client.rgw.a]\n"                                                                         \
	"rgw data = {data}/rgw\n"                                                                  \
	"rgw frontends = beast endpoint={host}:{port} tcp_nodelay=1\n"                             \
	"rgw dns name = s3.localhost\n"                                                            \
	"rgw thread pool size = 32\n"                                                              \
	"rgw num rados handles = 1\n"                                                              \
	"rgw enable usage log = false\n"                                                           \
	"rgw gc obj min wait = 5\n"                                                                \
	"rgw gc processor period = 10\n"                                                           \
	"rgw gc processor max time = 10\n"

static const struct bk_setting svc_files[] = {
	{"ceph.conf", SVC_CONF("bluestore"), 0},
	{"ceph.conf", SVC_CONF("memstore"), SVC_IN_MEMORY},
	{.key = NULL},
};

#define SVC_C "-c", "{run}/ceph.conf"

/* --no-mon-config: the fsid is taken from the file.  Without it a client now and then sends its
 * first command with an fsid of zeros, and is refused. */
static const struct bk_pair svc_process_env[] = {
	{"CEPH_CONF", "{run}/ceph.conf"},
	{"CEPH_ARGS", "--no-mon-config"},
	{.key = NULL},
};

/* ---- The monitor ---------------------------------------------------------- */

static const char *const svc_monmap[] = {
	"monmaptool",    "--create", "--clobber", "--addv",        "a",
	SVC_MON_ADDRESS, "--fsid",   "{uuid}",    "{data}/monmap", NULL};
static const char *const svc_mon_mkfs[] = {"ceph-mon", SVC_C,           "-i", "a", "--mkfs",
					   "--monmap", "{data}/monmap", NULL};
static const char *const svc_folders[] = {"/bin/mkdir", "{data}/mon", "{data}/osd", "{data}/rgw",
					  NULL};
static const struct bk_command svc_init[] = {
	{.argv = svc_folders},
	{.argv = svc_monmap},
	{.argv = svc_mon_mkfs},
	{.argv = NULL},
};
static const char *const svc_mon[] = {"ceph-mon", SVC_C, "-i", "a", "-f", NULL};

/* ---- The OSD -------------------------------------------------------------- */

/* The first command of a client reaches the monitor now and then before the client has learned the
 * cluster's fsid, and is refused (EPERM).  Both commands may be given twice. */
#define SVC_CEPH                                                                                   \
	"/bin/sh", "-c", "for i in 1 2 3 4 5 6; do \"$@\" && exit; sleep 0.2; done; exit 1", "sh", \
		"{bin}/ceph", SVC_C, "--connect-timeout", "20"
static const char *const svc_osd_new[] = {SVC_CEPH, "osd", "new", "{uuid2}", "0", NULL};
static const char *const svc_osd_mkfs[] = {"ceph-osd", SVC_C,        "-i",      "0",
					   "--mkfs",   "--osd-uuid", "{uuid2}", NULL};
static const char *const svc_osd_place[] = {
	SVC_CEPH, "osd", "crush", "add", "osd.0", "1.0", "root=default", "host=localhost", NULL};
static const struct bk_command svc_before_osd[] = {
	/* `ceph` can still be refused for an fsid of zeros when the machine is busy. */
	{.argv = svc_osd_new, .flags = BK_COMMAND_RETRY},
	{.argv = svc_osd_mkfs},
	{.argv = svc_osd_place, .flags = BK_COMMAND_RETRY},
	{.argv = NULL},
};
static const char *const svc_osd[] = {"ceph-osd", SVC_C, "-i", "0", "-f", NULL};
static const char *const svc_osd_stat[] = {"ceph", SVC_C, "--connect-timeout", "20", "osd",
					   "stat", NULL};

/* ---- The gateway ---------------------------------------------------------- */

static const char *const svc_rgw[] = {"radosgw", SVC_C, "-n", "client.rgw.a", "-f", NULL};
static const char *const svc_user[] = {"radosgw-admin",
				       SVC_C,
				       "-n",
				       "client.rgw.a",
				       "user",
				       "create",
				       "--uid={user}",
				       "--display-name={user}",
				       "--gen-access-key",
				       "--gen-secret",
				       NULL};
static const struct bk_pair svc_keys[] = {
	{"access_key", "keys.0.access_key"},
	{"secret_key", "keys.0.secret_key"},
	{.key = NULL},
};
static const struct bk_command svc_after[] = {
	{.argv = svc_user, .capture = svc_keys},
	{.argv = NULL},
};

static const struct bk_process svc_processes[] = {
	{
		.name = "mon",
		.argv = svc_mon,
		.stop_signal = SIGTERM,
	},
	{
		.name = "osd",
		.argv = svc_osd,
		.before = svc_before_osd,
		.ready = BK_READY_COMMAND,
		.ready_argv = svc_osd_stat,
		.ready_text = "1 up",
		.stop_signal = SIGTERM,
	},
	{
		.name = "rgw",
		.argv = svc_rgw,
		.ready = BK_READY_CONNECT,
		.stop_signal = SIGTERM,
	},
	{.name = NULL},
};

/* ---- Clients -------------------------------------------------------------- */

static const struct bk_setting svc_reach[] = {
	{"endpoint", "http://{host}:{port}", 0},
	{"bucket", "{database_dns}", 0},
	{"access-key", "{access_key}", 0},
	{"secret-key", "{secret_key}", 0},
	{"durability", "machine", 0},
	{"durability", "none", SVC_IN_MEMORY},
	{.key = NULL},
};

static const struct bk_setting svc_env[] = {
	{"AWS_*", NULL, 0},
	{"AWS_ENDPOINT_URL", "{endpoint}", 0},
	{"AWS_ACCESS_KEY_ID", "{access_key}", 0},
	{"AWS_SECRET_ACCESS_KEY", "{secret_key}", 0},
	{"AWS_REGION", S3_SERVICE_REGION, 0},
	{"AWS_DEFAULT_REGION", S3_SERVICE_REGION, 0},
	{"BAKEOFF_S3_BUCKET", "{database_dns}", 0},
	{.key = NULL},
};

const struct bk_service s3_service = {
	.struct_size = sizeof(struct bk_service),
	.flags = BK_SERVICE_TCP_ONLY,
	.programs = svc_programs,
	.search = svc_search,
	.users = svc_users,
	.init = svc_init,
	.processes = svc_processes,
	.after = svc_after,
	.reach = svc_reach,
	.env = svc_env,
	.files = svc_files,
	.process_env = svc_process_env,
	.url_tcp = "http://{host}:{port}/{database_dns}",
};
