#!/usr/bin/env python3
"""A TCP proxy on loopback that breaks what passes through it.

    proxy.py TARGET_PORT HOW AT TIMES CONTROL

Prints the port that it listens on.  After AT bytes of one direction of a connection it does HOW, for
the first TIMES connections that get so far:
    cut-down   both sides are closed, AT bytes into what the server sends
    cut-up     the same, AT bytes into what the client sends
    flip-up    the byte at AT of what the client sends is changed
    flip-down  the byte at AT of what the server sends is changed
    stall-down nothing more is passed on, nothing is closed
    answer     the answer is withheld and the connection closed, once AT bytes were sent up and
               the server has begun to answer: the request was done, and nobody hears of it
Nothing is broken until the file CONTROL exists, and again nothing once it is gone.
"""
import os
import socket
import sys
import threading

target, how, at, times, control = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
lock = threading.Lock()
left = times


def take():
    global left
    with lock:
        if left <= 0 or not os.path.exists(control):
            return False
        left -= 1
        return True


def close(*links):
    for link in links:
        try:
            link.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        link.close()


class Pair:
    def __init__(self, client):
        self.client = client
        self.server = socket.create_connection(("127.0.0.1", target))
        self.up = self.down = 0
        self.armed = False
        for link in (self.client, self.server):
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.pump, args=(True,), daemon=True).start()
        threading.Thread(target=self.pump, args=(False,), daemon=True).start()

    def pump(self, is_up):
        source, sink = (self.client, self.server) if is_up else (self.server, self.client)
        direction = "up" if is_up else "down"
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                seen = self.up if is_up else self.down
                reached = seen <= at < seen + len(data)
                if not os.path.exists(control):
                    reached = False
                    data_counts = False
                else:
                    data_counts = True
                if how == "answer":
                    if is_up and reached and take():
                        self.armed = True
                    elif not is_up and self.armed:
                        close(self.client, self.server)
                        return
                elif reached and how.endswith(direction) and take():
                    if how.startswith("cut"):
                        sink.sendall(data[: at - seen])
                        close(self.client, self.server)
                        return
                    if how.startswith("flip"):
                        k = at - seen
                        data = data[:k] + bytes([data[k] ^ 1]) + data[k + 1:]
                    if how.startswith("stall"):
                        sink.sendall(data[: at - seen])
                        threading.Event().wait()
                if data_counts:
                    if is_up:
                        self.up += len(data)
                    else:
                        self.down += len(data)
                sink.sendall(data)
        except OSError:
            pass
        close(self.client, self.server)


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(64)
print(listener.getsockname()[1], flush=True)
while True:
    link, _ = listener.accept()
    try:
        Pair(link)
    except OSError:
        close(link)
