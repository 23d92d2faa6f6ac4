#!/usr/bin/env python3
"""One S3 request, signed by nothing but Python's own library: a second opinion for the tests.

    s3.py METHOD PATH[?QUERY] [-H 'name: value'] [-d TEXT | -f FILE] [-o FILE] [-v]
    s3.py --lengths < PATHS        GET each: prints "STATUS LENGTH PATH"

PATH is sent as it stands, so it must be percent-encoded.  Endpoint, keys, region and token come from
the AWS_* variables.  Prints the body; -v prints status and headers before it.  The exit status is 0
for a 2xx answer and 1 for any other.
"""
import argparse
import datetime
import hashlib
import hmac
import http.client
import os
import ssl
import sys
import urllib.parse


def canonical_query(query):
    pairs = []
    for item in query.split("&") if query else []:
        name, _, value = item.partition("=")
        pairs.append((urllib.parse.quote(urllib.parse.unquote(name), safe="-_.~"),
                      urllib.parse.quote(urllib.parse.unquote(value), safe="-_.~")))
    return "&".join(f"{n}={v}" for n, v in sorted(pairs))


def chain(key, *texts):
    for text in texts:
        key = hmac.new(key, text.encode(), hashlib.sha256).digest()
    return key


def sign(method, host, path, query, headers, payload_hash):
    region = os.environ.get("AWS_REGION", "us-east-1")
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {k.lower(): v.strip() for k, v in headers.items()}
    headers.update({"host": host, "x-amz-date": now, "x-amz-content-sha256": payload_hash})
    if os.environ.get("AWS_SESSION_TOKEN"):
        headers["x-amz-security-token"] = os.environ["AWS_SESSION_TOKEN"]
    names = ";".join(sorted(headers))
    request = "\n".join([method, path, canonical_query(query),
                         "".join(f"{n}:{headers[n]}\n" for n in sorted(headers)), names,
                         payload_hash])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", now, scope,
                         hashlib.sha256(request.encode()).hexdigest()])
    key = chain(b"AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"].encode(), now[:8], region, "s3",
                "aws4_request")
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={os.environ['AWS_ACCESS_KEY_ID']}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}")
    return headers


def connect():
    endpoint = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"])
    if endpoint.scheme == "https":
        context = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
        return http.client.HTTPSConnection(endpoint.netloc, timeout=30, context=context)
    return http.client.HTTPConnection(endpoint.netloc, timeout=30)


def send(link, method, target, headers, body):
    endpoint = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"])
    path, _, query = target.partition("?")
    headers = sign(method, endpoint.netloc, path, query, headers, hashlib.sha256(body).hexdigest())
    if body or method in ("PUT", "POST"):
        headers["content-length"] = str(len(body))
    link.request(method, path + ("?" + canonical_query(query) if query else ""), body or None,
                 headers)
    answer = link.getresponse()
    return answer, answer.read()


def lengths():
    link = connect()
    for line in sys.stdin:
        answer, data = send(link, "GET", line.rstrip("\n"), {}, b"")
        print(answer.status, len(data), line.rstrip("\n"))
    return 0


def main():
    if sys.argv[1:] == ["--lengths"]:
        return lengths()
    parser = argparse.ArgumentParser()
    parser.add_argument("method")
    parser.add_argument("target")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="text")
    parser.add_argument("-f", dest="file")
    parser.add_argument("-o", dest="out")
    parser.add_argument("-v", dest="verbose", action="store_true")
    args = parser.parse_args()
    body = args.text.encode() if args.text is not None else b""
    if args.file:
        with open(args.file, "rb") as f:
            body = f.read()
    answer, data = send(connect(), args.method, args.target,
                        dict(h.split(":", 1) for h in args.headers), body)
    if args.verbose:
        print(answer.status, answer.reason)
        for name, value in answer.getheaders():
            print(f"{name}: {value}")
        print()
    sys.stdout.flush()
    if args.out:
        with open(args.out, "wb") as f:
            f.write(data)
    else:
        sys.stdout.buffer.write(data)
    return 0 if 200 <= answer.status < 300 else 1


sys.exit(main())
