"""json_api.py ADDRESS METHOD PATH [JSON]: one call of docs/formats/http-api.md.

Prints the answer's body. Ends with 0 where the status is 2xx, else with
its first digit.
"""

import http.client
import sys


def main() -> int:
    address, method, path = sys.argv[1:4]
    body = sys.argv[4] if len(sys.argv) > 4 else ("{}" if method == "POST" else None)
    server = http.client.HTTPConnection(address, timeout=60)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    server.request(method, path, body, headers)
    answer = server.getresponse()
    sys.stdout.write(answer.read().decode())
    sys.stdout.write("\n")
    return 0 if answer.status // 100 == 2 else answer.status // 100


if __name__ == "__main__":
    sys.exit(main())
