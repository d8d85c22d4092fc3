# pip: schemathesis==4.* openapi-spec-validator
"""The document at /openapi.json against `urlweir serve` with a crawl of its
own: the document is one (openapi-spec-validator), and the server does what it
says (schemathesis): with an admin's token, and without any where it must not.

Requests are made from the document: by example, at the edges of each schema,
beyond them, and at random, the same ones each time; first of a crawl that runs
and goes on running, then of any name. /v1/events, which has no end, is read
here by hand. Seeds made from the document are of anybody's hosts, so all of it
runs where nobody can be reached; where that may not be, no seeds are given.
"""
# Promise (The service): the OpenAPI document names all paths of the HTTP port,
#   and the port keeps to it: a request refused with 400 is invalid by the
#   document, and each setting is in it. See also `http_pages`.
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile

import jsonschema
import openapi_spec_validator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import own_network  # noqa: E402
from background import wait_until_said  # noqa: E402

TOKENS = {role: "0123456789abcdef-" + role for role in ("read", "write", "admin")}


def start(work):
    site = subprocess.Popen([os.environ["SITE"], "serve", "--hosts", "3", "--pages", "60",
                             "--max-time", "1800"], stdout=subprocess.PIPE, text=True)
    port = site.stdout.readline().split()[1]
    with open(work + "/news.yaml", "w") as f:
        f.write(f'seeds: ["http://127.0.0.1:{port}/"]\nscope: any\nallow-private: true\ndelay: 10ms\n')
    with open(work + "/tokens", "w") as f:
        f.writelines(f"{role} {token}\n" for role, token in TOKENS.items())
    os.chmod(work + "/tokens", 0o600)
    with open(work + "/err", "w") as err:
        server = subprocess.Popen(
            [os.environ["URLWEIR"], "serve", work + "/d", "--listen", "127.0.0.1:0",
             "--http", "127.0.0.1:0", "--crawl", work + "/news.yaml",
             "--token-file", work + "/tokens"], stderr=err)
    return site, server, wait_until_said(work + "/err", r"HTTP on (\S+)", server)


def get(address, path, token=None):
    connection = http.client.HTTPConnection(address, timeout=120)
    connection.request("GET", path, headers={"Authorization": "Bearer " + token} if token else {})
    return connection.getresponse()


def check_document(document):
    openapi_spec_validator.validate(document)
    for name, schema in document["components"]["schemas"].items():
        validator = validator_of(document, name)
        for example in schema.get("examples", []):
            validator.validate(example)


def validator_of(document, name):
    return jsonschema.Draft202012Validator(
        {"$ref": "#/components/schemas/" + name, "components": document["components"]})


def check_events(address, document):
    """Two samples, as the document has them."""
    answer = get(address, "/v1/events", TOKENS["read"])
    assert answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream"
    validator, samples = validator_of(document, "Sample"), 0
    while samples < 2:
        line = answer.readline().decode()
        if line.startswith("data: "):
            validator.validate(json.loads(line[6:]))
            samples += 1
    answer.close()


# What a person may send, right and wrong: the document and the server agree.
BODIES = {
    ("POST", "/v1/urls"): [
        {"url": ""}, {"url": "", "key": "k"}, [{"url": "a"}, {"url": ""}], {"url": "any text"},
        {"url": "a", "kind": "known", "refetch_at": "2030-01-01T00:00:00+05:30"},
        {"url": "a", "kind": "known", "refetch_at": "2030-01-01 00:00:00"},
        {"url": "a", "kind": "known", "refetch_at": "2030-01-01T00:00:00.123456789012Z"}],
    ("POST", "/v1/lease"): [
        {"max_queues": 5.0}, {"max_queues": 5.5}, {"max_queues": 1e9}, {"max_queues": "5"}],
    ("POST", "/v1/ack"): [{"lease": str(2**64 - 1)}, {"lease": "0" * 21}, {"lease": 1}],
    ("PATCH", "/v1/crawls/{crawl}/settings"): [
        {"nonsense": 1}, {"depht": 3}, {"depth": 30.0}, {"depth": 3.5}, {"output": "x"},
        {"seeds": ["http://x/"]}, {"delay": None}, {"delay": {}}, {"delay": "20ms"},
        {"robots": "never"}, {"random-delay": "maybe"}, {"random-delay": True},
        {"include": ["a"]}, {"include": [1]}, {"delay": ["1s"]}],
    ("POST", "/v1/crawls"): [
        {"name": "a", "seeds": ["nonsense"]}, {"name": "a", "seeds": [""]},
        {"name": "a", "seeds": ["ftp://127.0.0.1/"]}, {"name": ".a"},
        {"name": "a", "settings": {"nonsense": 1}}, {"name": "a", "seeds": [1]},
        {"name": "b", "seeds": [" HTTP://127.0.0.1:9/"], "settings": {"allow-private": True}}],
    ("POST", "/v1/crawls/{crawl}/seeds"): [
        {"urls": ["nonsense", ""]}, {"urls": [1]}, {"urls": None}, {}],
    ("POST", "/v1/crawls/{crawl}/explain"): [
        {"url": "nonsense"}, {"url": 1}, {}, {"url": "http://127.0.0.1/", "deep": True}],
    ("POST", "/v1/crawls/{crawl}/export"): [
        {"what": "pies"}, {"format": "xml"}, {"limit": 1}],
    ("POST", "/v1/queues/block"): [
        {"key": "a", "until": "2030-01-01T00:00:00-08:00"}, {"key": "a", "until": "tomorrow"}],
}


def check_bodies(address, document):
    """A body is refused with 400 if and only if the document says so."""
    connection = http.client.HTTPConnection(address, timeout=120)
    for (method, path), bodies in BODIES.items():
        content = document["paths"][path][method.lower()]["requestBody"]["content"]
        validator = jsonschema.Draft202012Validator(
            {**content["application/json"]["schema"], "components": document["components"]})
        for body in bodies:
            connection.request(method, path.replace("{crawl}", "news"), json.dumps(body),
                               {"Authorization": "Bearer " + TOKENS["admin"],
                                "Content-Type": "application/json"})
            answer = connection.getresponse()
            said = answer.read()
            assert answer.status in (200, 201, 400), (path, body, answer.status, said)
            assert (answer.status == 400) != validator.is_valid(body), (path, body, said)
    assert get(address, "/v1/url?url=", TOKENS["read"]).status == 400


# An array too long is 413, which it would not call a refusal.
CONFIG = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415]
"""
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,"
          "response_schema_conformance,response_headers_conformance,"
          "negative_data_rejection,unsupported_method,missing_required_header")


def schemathesis(work, address, name, *options, config=""):
    with open(work + "/schemathesis.toml", "w") as f:
        f.write(config + CONFIG)
    command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run",
               f"http://{address}/openapi.json", "--request-timeout", "120",
               "--generation-deterministic", "--no-color", "--report-dir", work,
               "--suppress-health-check", "all", "--exclude-path", "/v1/events",
               *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, timeout=900)
    if done.returncode != 0:
        for line in (done.stdout + done.stderr).splitlines():
            print(line[:300])
        sys.exit(f"schemathesis {name} found faults")
    if os.environ.get("VERBOSE"):
        print(done.stdout)


def main():
    seedless = () if own_network.enter() else (
        "--exclude-operation-id", "create_crawl", "--exclude-operation-id", "seed_crawl")
    with tempfile.TemporaryDirectory() as work:
        site, server, address = start(work)
        try:
            document = json.load(get(address, "/openapi.json"))
            check_document(document)
            check_events(address, document)
            check_bodies(address, document)
            examples = os.environ.get("EXAMPLES", "20")
            all_checks = ("--checks", CHECKS, "--phases", "examples,coverage,fuzzing",
                          "--max-examples", examples,
                          "--header", "Authorization: Bearer " + TOKENS["admin"], *seedless)
            schemathesis(work, address, "of a crawl that runs", *all_checks,
                         "--exclude-operation-id", "stop_crawl",
                         "--exclude-operation-id", "delete_crawl",
                         config='[parameters]\n"path.crawl" = "news"\n')
            crawl = json.load(get(address, "/v1/crawls/news", TOKENS["read"]))
            assert crawl["state"] in ("running", "paused", "waiting"), crawl
            schemathesis(work, address, "of any name", *all_checks,
                         "--include-path-regex", "{crawl}")
            schemathesis(work, address, "without one", "--checks", "ignored_auth,not_a_server_error",
                         "--phases", "fuzzing", "--max-examples", "3", "--mode", "positive",
                         "--header", "Authorization: Bearer " + TOKENS["admin"], *seedless)
            assert get(address, "/healthz").status == 200
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(120)
            site.terminate()
            site.wait(120)
        assert code == 0, open(work + "/err").read()
        print(len(document["paths"]), "paths" + (", without seeds" if seedless else ""))


main()
