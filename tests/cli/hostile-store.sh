#!/bin/sh
# Somebody may have changed the bytes of a store: no value in any column of any
# table makes a command that opens it crash, hang or take memory without bound
# (tests/support/hostile_store.py). Tests a sample; all values with LONG set.
# Promise (Crashes): no changed value in a store makes a command crash, hang
#   or take memory without bound. See also `make check-long`.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- a crawl with a row in every table -----------------------------------------

small_web
cat >>web/robots.txt <<END
Sitemap: http://127.0.0.1:$port/sitemap.xml
END
cat >web/sitemap.xml <<END
<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://127.0.0.1:$port/a.html</loc><lastmod>2026-01-01</lastmod><priority>0.7</priority>
</url></urlset>
END
# More than stay in memory: rows of queue segments.
awk -v at="$seed" 'BEGIN { for (i = 1; i <= 4200; i++) print at "page" i }' >seeds
exits 3 "$URLWEIR" crawl -i seeds "$seed" -o crawl $quick --scope host --sitemap auto \
    --record links --warc -n 30
sqlite3 crawl/frontier.db <<'END'
INSERT OR IGNORE INTO queue_state VALUES(1, 0, -1, 1, 1, 3, 'back_off', 100, x'');
INSERT OR IGNORE INTO place VALUES(1, '127.0.0.1');
INSERT OR IGNORE INTO retry
    SELECT id, 1 + id % 2, 1000 * strftime('%s', 'now') FROM url
     WHERE id BETWEEN 4000 AND 4003;
INSERT INTO item_lease SELECT id - 3999, id, 1000 * strftime('%s', 'now'),
    1000 * strftime('%s', 'now') + 60000 FROM url WHERE id BETWEEN 4010 AND 4012;
-- Parts of the exact set that are merged next, and empty so far.
INSERT OR IGNORE INTO seenpart WITH RECURSIVE n(i) AS
    (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1023) SELECT i, 0, 0, x'' FROM n;
INSERT INTO item_queue VALUES(1, 3, 0, 5, 0, 5000, 0, 20, 2);
END

# ---- a service with leases, updates and settings ----------------------------------

start_service 127.0.0.1:0
api() {
    python3 "$TOP/tests/support/json_api.py" "$http" "$@" >api.out ||
        fail "$*: $(cat api.out serve.err)"
}
awk 'BEGIN {
    for (i = 1; i <= 40; i++)
        printf("%s{\"url\": \"http://%s.example/%d\", \"metadata\": {\"a\": [\"b\"]}}",
               (i > 1) ? "," : "[", substr("abcd", i % 4 + 1, 1), i)
    print "]" }' >urls
api POST /v1/urls "$(cat urls)"
api POST /v1/urls '{"url": "http://a.example/4", "kind": "known"}'
api POST /v1/lease '{"crawl": "", "key": "a.example", "max_urls_per_queue": 1, "lease_seconds": 3600}'
api POST /v1/lease '{"max_urls_per_queue": 3, "lease_seconds": 3600}'
# Completed after it was leased: a hold again, if the lease seems to come last.
api POST /v1/urls '{"url": "http://a.example/8", "kind": "known"}'
api POST /v1/urls '{"url": "http://b.example/1", "kind": "known",
    "refetch_at": "2100-01-01T00:00:00Z"}'
api POST /v1/queues/block '{"crawl": "", "key": "b.example", "until": "2100-01-01T00:00:00Z"}'
api POST /v1/queues/delay '{"crawl": "", "key": "c.example", "delay_seconds": 2}'
stop TERM 0
for table in item_lease item_update item_queue; do
    [ "$(sqlite3 d/frontier.db "SELECT count(*) FROM $table")" -gt 0 ] || fail "no $table"
done

# ---- changed -----------------------------------------------------------------------

export SEED="$seed"
python3 "$TOP/tests/support/hostile_store.py" crawl d \
    $([ -n "${LONG:-}" ] && echo --all || echo --sample 5) >changes 2>&1 ||
    fail "$(cat changes)"
tail -n 1 changes
