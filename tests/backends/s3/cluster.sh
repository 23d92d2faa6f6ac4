# A small Ceph of the test's own: sourced.  It can be given what the private server of the backend
# does not have (TLS, STS, a request limit), and its processes may be stopped and killed.
#
#   cluster_start FOLDER [memstore|bluestore] [MORE LINES FOR [client.rgw.a]]
#       sets AWS_* and cluster_{mon,osd,rgw}_pid, cluster_tls_url, cluster_ca, cluster_port
#   cluster_rgw_kill, cluster_rgw_start, cluster_admin ARGUMENT..., cluster_stop
#   cluster_crash_script FILE: a program that kills OSD and gateway and starts them again

cluster_free_ports() { # N
	python3 - "$1" <<-'PY'
		import socket, sys
		held = [socket.socket() for _ in range(int(sys.argv[1]))]
		for s in held:
		    s.bind(("127.0.0.1", 0))
		print(*[s.getsockname()[1] for s in held])
	PY
}

# The first command of a client is refused now and then (EPERM): it may not know the fsid yet.
cluster_ceph() {
	local i
	for i in 1 2 3 4 5 6; do
		ceph -c "$cluster/ceph.conf" --connect-timeout 20 "$@" && return 0
		sleep 0.2
	done
	return 1
}

cluster_admin() { radosgw-admin -c "$cluster/ceph.conf" -n client.rgw.a "$@" 2>>"$cluster/log"; }

cluster_rgw_start() {
	local i
	radosgw -c "$cluster/ceph.conf" -n client.rgw.a -f >>"$cluster/log" 2>&1 &
	cluster_rgw_pid=$!
	echo "$cluster_rgw_pid" >"$cluster/rgw.pid"
	for i in $(seq 600); do
		curl -s -o /dev/null "$AWS_ENDPOINT_URL/" && return 0
		sleep 0.05
	done
	echo "radosgw does not answer: $(tail -3 "$cluster/log")"
	return 1
}

cluster_rgw_kill() {
	kill -9 "$(cat "$cluster/rgw.pid")" 2>/dev/null || true
	wait "$(cat "$cluster/rgw.pid")" 2>/dev/null || true
}

cluster_crash_script() {
	cat >"$1" <<-SCRIPT
		#!/bin/bash
		export CEPH_ARGS=--no-mon-config
		pids=\$(cat "$cluster/rgw.pid" "$cluster/osd.pid")
		kill -9 \$pids
		for pid in \$pids; do
			# its first thread may be dead while another still holds the files
			while [ -e /proc/\$pid ] && { ! grep -q '^State:.Z' /proc/\$pid/status || [ "\$(ls /proc/\$pid/task | wc -l)" -gt 1 ]; }; do sleep 0.01; done
		done
		setsid ceph-osd -c "$cluster/ceph.conf" -i 0 -f >>"$cluster/log" 2>&1 </dev/null &
		echo \$! >"$cluster/osd.pid"
		setsid radosgw -c "$cluster/ceph.conf" -n client.rgw.a -f >>"$cluster/log" 2>&1 </dev/null &
		echo \$! >"$cluster/rgw.pid"
		for i in \$(seq 600); do
			curl -sf -o /dev/null --max-time 5 "$AWS_ENDPOINT_URL/" && exit 0
			sleep 0.05
		done
		exit 1
	SCRIPT
	chmod +x "$1"
}

# Every process by its own pid, whatever became of the others.
cluster_stop() {
	local pid
	set +e
	for pid in $(cat "$cluster/rgw.pid" "$cluster/osd.pid" 2>/dev/null) ${cluster_mon_pid:-}; do
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	return 0
}

cluster_start() {
	cluster=$1
	local store=${2:-memstore} more=${3:-} fsid osdid mon_port tls_port keys i
	read -r cluster_port mon_port tls_port <<<"$(cluster_free_ports 3)"
	fsid=$(cat /proc/sys/kernel/random/uuid)
	osdid=$(cat /proc/sys/kernel/random/uuid)
	mkdir -p "$cluster/mon" "$cluster/osd" "$cluster/rgw" "$cluster/run"
	cluster_ca=$cluster/ca.crt
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj /CN=s3.localhost -keyout "$cluster/tls.key" -out "$cluster_ca" \
		-addext 'subjectAltName=DNS:s3.localhost,DNS:*.s3.localhost,IP:127.0.0.1' 2>/dev/null
	cat >"$cluster/ceph.conf" <<-CONF
		[global]
		fsid = $fsid
		mon host = [v1:127.0.0.1:$mon_port]
		mon initial members = a
		public addr = 127.0.0.1
		cluster addr = 127.0.0.1
		auth cluster required = none
		auth service required = none
		auth client required = none
		keyring = /dev/null
		run dir = $cluster/run
		pid file =
		admin socket =
		log file =
		log to stderr = true
		err to stderr = true
		crash dir = $cluster/run
		mon cluster log file = /dev/null
		osd pool default size = 1
		osd pool default min size = 1
		osd pool default pg num = 4
		osd pool default pgp num = 4
		osd pool default pg autoscale mode = off
		osd crush chooseleaf type = 0
		mon allow pool size one = true
		mon max pg per osd = 1000
		paxos propose interval = 0.02
		paxos min wait = 0.01
		mon tick interval = 1
		mon osd min up ratio = 0
		mon osd report timeout = 3600
		osd heartbeat grace = 3600
		osd class load list = *
		osd class default list = *
		[mon.a]
		mon data = $cluster/mon
		mon data avail warn = 1
		mon data avail crit = 1
		[osd.0]
		osd data = $cluster/osd
		osd objectstore = $store
		osd crush update on start = false
		osd class update on start = false
		memstore device bytes = 4294967296
		bluestore block create = true
		bluestore block size = 17179869184
		bluestore fsck on mount = false
		[client.rgw.a]
		rgw data = $cluster/rgw
		rgw frontends = beast endpoint=127.0.0.1:$cluster_port tcp_nodelay=1 ssl_endpoint=127.0.0.1:$tls_port ssl_certificate=$cluster_ca ssl_private_key=$cluster/tls.key
		rgw dns name = s3.localhost
		rgw thread pool size = 32
		rgw num rados handles = 1
		rgw enable usage log = false
		rgw gc obj min wait = 5
		rgw gc processor period = 10
		$more
	CONF
	export AWS_ENDPOINT_URL=http://127.0.0.1:$cluster_port AWS_REGION=us-east-1
	cluster_tls_url=https://127.0.0.1:$tls_port
	local c="-c $cluster/ceph.conf"
	export CEPH_ARGS=--no-mon-config
	{
		monmaptool --create --clobber --addv a "[v1:127.0.0.1:$mon_port]" --fsid "$fsid" "$cluster/monmap"
		ceph-mon $c -i a --mkfs --monmap "$cluster/monmap"
	} >>"$cluster/log" 2>&1
	ceph-mon $c -i a -f >>"$cluster/log" 2>&1 &
	cluster_mon_pid=$!
	{
		cluster_ceph osd new "$osdid" 0
		ceph-osd $c -i 0 --mkfs --osd-uuid "$osdid"
		cluster_ceph osd crush add osd.0 1.0 root=default host=localhost
	} >>"$cluster/log" 2>&1
	ceph-osd $c -i 0 -f >>"$cluster/log" 2>&1 &
	cluster_osd_pid=$!
	echo "$cluster_osd_pid" >"$cluster/osd.pid"
	for i in $(seq 100); do
		ceph $c osd stat 2>/dev/null | grep -q '1 up' && break
		sleep 0.1
	done
	cluster_rgw_start || return 1
	keys=$(cluster_admin user create --uid=tester --display-name=tester --gen-access-key --gen-secret)
	AWS_ACCESS_KEY_ID=$(jq -r '.keys[0].access_key' <<<"$keys")
	AWS_SECRET_ACCESS_KEY=$(jq -r '.keys[0].secret_key' <<<"$keys")
	export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
}
