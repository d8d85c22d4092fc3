#!/bin/sh
# serve: the dashboard's files. They are open to all and hold no data; their
# policy lets nothing else run; they load nothing from elsewhere; clients that
# have them do not get them again.
# tests/interop/dashboard.py tests the dashboard in a browser.
# Promise (Dashboard): the files of the dashboard are open to all, hold no
#   data, load nothing from elsewhere, run under a policy that allows nothing
#   else, and are cached.
set -eu
. "$TOP/tests/cli/lib.sh"

umask 077
echo "read 0123456789abcdef0123456789abcdef" >tokens
behind serve.out serve.err "$URLWEIR" serve d --listen 127.0.0.1:0 --http 127.0.0.1:0 \
    --token-file tokens
waits_for 'grep -q "listening on" serve.err' || fail "no server: $(cat serve.err)"
at=$(sed -n 's/.*HTTP on //p' serve.err)

python3 - "$at" <<'PYTHON' || fail "the dashboard's files"
import http.client
import re
import sys


def ask(method, path, **headers):
    c = http.client.HTTPConnection(sys.argv[1], timeout=20)
    c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    a = c.getresponse()
    return a.status, a.headers, a.read().decode()


TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
seen, left = {}, ["/"]
while left:
    path = left.pop()
    if path in seen:
        continue
    status, head, body = ask("GET", path)
    assert status == 200, (path, status)
    seen[path] = body
    kind = TYPES[path.rsplit(".", 1)[-1] if "." in path else "html"]
    assert head["Content-Type"] == kind + "; charset=utf-8", (path, head["Content-Type"])
    policy = dict(p.strip().split(" ", 1) for p in head["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "data:", "connect-src": "'self'",
        "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'", "trusted-types": "'none'"}, policy
    for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
                        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
                        ("Cache-Control", "no-cache")):
        assert head[name] == value, (path, name, head[name])
    tag = head["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', tag), tag
    for known in (tag, "W/" + tag, '"x", ' + tag, "*"):
        status, again, empty = ask("GET", path, If_None_Match=known)
        assert (status, empty, again["ETag"]) == (304, "", tag), (path, known, status)
    assert ask("GET", path, If_None_Match='"x"')[0] == 200
    status, again, empty = ask("HEAD", path)
    assert (status, empty) == (200, "") and int(again["Content-Length"]) == len(body.encode())
    # Nothing from elsewhere, and nothing that the policy would stop.
    assert re.sub(r"http://www\.w3\.org/2000/svg", "", body).count("://") == body.count("nonsense://"), path
    assert not re.search(r"<script>|<style|\sstyle=|\son[a-z]+=\"|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", body), path
    left += ["/" + x for x in re.findall(r'(?:src|href)="(dashboard/[^"]+)"', body)]
    left += ["/dashboard/" + x for x in re.findall(r"from '\./([a-z]+\.js)'", body)]
assert len(seen) == 11, sorted(seen)
for path in ("/dashboard/", "/dashboard/x", "/dashboard/index.html", "/dashboard/%2e%2e/main.js", "/dashboard", "/index.html"):
    assert ask("GET", path)[0] == 404, path
assert ask("POST", "/")[0] in (405, 415)
assert ask("GET", "/", Host="attacker.example")[0] == 421
# The data it shows wants a token, and says whose role is enough for what.
status, head, _ = ask("GET", "/v1/stats")
assert status == 401 and "Urlweir-Role" not in head
status, head, _ = ask("GET", "/v1/stats", Authorization="Bearer 0123456789abcdef0123456789abcdef")
assert status == 200 and head["Urlweir-Role"] == "read", head.items()
PYTHON
