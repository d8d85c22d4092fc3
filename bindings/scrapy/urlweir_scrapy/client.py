"""One connection to the service: JSON over HTTP, docs/formats/http-api.md.

Threads: one caller at a time.
"""
import http.client
import json
import ssl
from urllib.parse import quote, urlencode, urlsplit

SECONDS = 20  # for one call; a lease of a minute is extended three times


class Unreachable(Exception):
    """The service does not answer now; the same call may succeed later."""


class Refused(Exception):
    """The service answers, and will answer the same again; says why."""


class Client:
    def __init__(self, settings):
        at = urlsplit(settings.url)
        self.at = settings.url
        self.path = at.path.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        if settings.token:
            self.headers["Authorization"] = "Bearer " + settings.token
        if at.scheme == "https":
            context = ssl.create_default_context(cafile=settings.ca_file)
            if settings.cert_file:
                context.load_cert_chain(settings.cert_file, settings.key_file)
            self.connection = http.client.HTTPSConnection(
                at.hostname, at.port, timeout=SECONDS, context=context)
        else:
            self.connection = http.client.HTTPConnection(at.hostname, at.port, timeout=SECONDS)

    def get(self, path, **query):
        return self._call("GET", path + "?" + urlencode(query, quote_via=quote), None)

    def post(self, path, body):
        return self._call("POST", path, body if isinstance(body, bytes)
                          else json.dumps(body).encode())

    def close(self):
        self.connection.close()

    def _call(self, method, path, body):
        fresh = self.connection.sock is None
        try:
            return self._once(method, path, body)
        except Unreachable:
            if fresh:
                raise
        # The service closes a connection that was idle for a minute.
        return self._once(method, path, body)

    def _once(self, method, path, body):
        try:
            self.connection.request(method, self.path + path, body, self.headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as e:
            self.connection.close()
            if isinstance(e, ssl.SSLCertVerificationError):
                raise Refused("%s: %s" % (self.at, e)) from None
            raise Unreachable("%s: %s" % (self.at, e)) from None
        return self._answer(answer.status, text)

    def _answer(self, status, text):
        try:
            said = json.loads(text)
        except ValueError:
            said = {"detail": repr(text[:200])}
        if status == 200:
            return said
        why = "%s: %d %s" % (self.at, status, said.get("detail") or said.get("title"))
        raise (Unreachable if status in (429, 500, 502, 503, 504) else Refused)(why)
