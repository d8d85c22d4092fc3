#!/bin/sh
# Serves the files of a documentation with nginx, its ETags and dates, at a free
# port of 127.0.0.1, until it is killed. nginx need not be installed: its package
# is unpacked in build/docs (tools/unpack-package.sh nginx build/docs/nginx).
# usage: tools/serve-docs.sh AT ROOT   AT: its files, AT/port among them
# Ends with 77 if there is no nginx.
set -eu
mkdir -p "$1"
at=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=$PATH:/usr/sbin:$top/build/docs/nginx/usr/sbin
nginx -v 2>/dev/null || exit 77

port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
cat >"$at/conf" <<END
daemon off;
worker_processes 1;
pid $at/pid;
error_log $at/error.log;
$([ "$(id -u)" != 0 ] || echo "user root;")
events { worker_connections 512; }
http {
    access_log off;
    types {
        text/html html htm; text/css css; application/javascript js;
        image/png png; image/svg+xml svg; image/gif gif;
    }
    keepalive_requests 1000000;
    client_body_temp_path $at/body; proxy_temp_path $at/proxy; fastcgi_temp_path $at/fastcgi;
    uwsgi_temp_path $at/uwsgi; scgi_temp_path $at/scgi;
    server { listen 127.0.0.1:$port; root $root; autoindex on; }
}
END
echo "$port" >"$at/port.new"
mv "$at/port.new" "$at/port"
exec nginx -e "$at/error.log" -p "$at" -c "$at/conf"
