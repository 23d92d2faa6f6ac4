#!/usr/bin/env python3
"""An HTTP proxy on loopback that now and then answers in the server's place.

    answers.py TARGET_PORT CONTROL RULE...

Prints the port that it listens on.  RULE is METHOD:REGEX:TIMES:ACTION; the first that fits the
request's method and its path with query, and has been used fewer than TIMES times, is applied:
    say=STATUS,CODE     the server is not asked
    did=STATUS,CODE     the server is asked, and what it answers is kept from the client
    page=STATUS         a page of a proxy's: the server is not asked
    header=NAME,VALUE   the server's answer with one header changed
    chunked             the server's answer without its length
CODE is that of an error document; without one the answer has no body.  Nothing is changed until the
file CONTROL exists, and again nothing once it is gone.
"""
import http.client
import http.server
import os
import re
import sys
import threading

target, control = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
rules = []
for text in sys.argv[3:]:
    method, pattern, times, action = text.split(":", 3)
    rules.append([method, re.compile(pattern), int(times), action])


def rule(method, path):
    with lock:
        for r in rules if os.path.exists(control) else []:
            if r[0] == method and r[1].search(path) and r[2] > 0:
                r[2] -= 1
                return r[3]
    return ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def handle_expect_100(self):
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.wfile.flush()
        return True

    def ask(self, body):
        link = http.client.HTTPConnection("127.0.0.1", target)
        link.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() != "expect":
                link.putheader(name, value)
        link.endheaders(body)
        answer = link.getresponse()
        data = answer.read()
        link.close()
        return answer, data

    def say(self, status, headers, data, chunked=False):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if chunked and data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n" if chunked else data)

    def one(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        what, _, how = rule(self.command, self.path).partition("=")
        if what == "page":
            data = b"<html><p>Bad <b>gateway</p></html>"
            self.say(int(how), [("Content-Length", str(len(data))), ("Content-Type", "text/html")], data)
            return
        if what != "say":
            answer, data = self.ask(body)
        if what in ("say", "did"):
            status, _, code = how.partition(",")
            data = f"<Error><Code>{code}</Code></Error>".encode() if code else b""
            headers = [("Content-Length", str(len(data)))]
            self.say(int(status), headers, data)
            return
        changed = how.partition(",") if what == "header" else ("", "", "")
        headers = [(n, changed[2] if n.lower() == changed[0] else v) for n, v in answer.getheaders()
                   if n.lower() not in ("connection", "transfer-encoding")]
        if what == "chunked" or answer.getheader("transfer-encoding"):
            headers = [(n, v) for n, v in headers if n.lower() != "content-length"]
            headers.append(("Transfer-Encoding", "chunked"))
            self.say(answer.status, headers, data, True)
        else:
            self.say(answer.status, headers, data)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = one


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
