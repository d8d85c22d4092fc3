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
