#!/bin/sh
# explain tells why each URL was fetched, failed, denied or never admitted, in
# the words of docs/formats/explain.md.
set -eu
. "$TOP/tests/cli/lib.sh"

small_web
# shellcheck disable=SC2086
crawl d $small --record links
ended 0
# shellcheck disable=SC2086
crawl plain $small --filter none --exclude b.html
ended 0
serve_no_more

# tells URL: asks, as JSON. has KEY VALUE: a top-level key; has_no KEY.
tells() {
    exits 0 "$URLWEIR" explain d "$1" --json
}
has() {
    [ "$(json "$1" <out)" = "$2" ] || {
        cat out
        fail "$1 is not $2"
    }
}
has_no() {
    lacks out "^  \"$1\"" "there is $1"
}

# ---- URLs of the crawl ----

tells "${seed}a.html"
has url "${seed}a.html"
has admitted true
has id 2
has via "$seed"
has kind a
has depth 1
has redirects_before 0
has queue 127.0.0.1
has filter "certainly new"
has false_positive false
has status fetched
has robots_allows true
has seen_again 2 # on / once more, and on b.html
says out '"http_status": 200'
says out '"links": 2'

tells "$seed"
has kind seed
has depth 0
has seen_again 1
has_no via

# any spelling of it
tells "HTTP://127.1:$port/./%61.html#part"
has url "${seed}a.html"
has id 2

tells "${seed}missing.html"
has status failed
has reason http_404
has seen_again 0

tells "${seed}private/x.html"
has admitted true
has status denied
has reason robots
has robots_allows false
has robots_line "Disallow: /private/"

# ---- URLs that never were part of it ----

tells http://other.invalid/
has admitted false
has status "not admitted"
has reason scope
has in_scope false
has scope_rule "scope: host"
has drops_kept 1
says out "\"via\": \"$seed\""
has_no seen_again

tells "${seed}p.png" # an image: of no kind that is followed
has admitted false
has reason kind
has in_scope true

tells "${seed}never-heard-of"
has admitted false
has in_scope true
has_no drops_kept

exits 0 "$URLWEIR" explain plain "${seed}b.html" --json
has admitted false
has reason exclude
has scope_rule "exclude: b.html"
exits 0 "$URLWEIR" explain plain "${seed}a.html" --json
has filter "not asked"
has_no seen_again # nothing was recorded

# ---- as text ----

exits 0 "$URLWEIR" explain d "${seed}missing.html"
says out "  status             failed"
says out "  via                $seed"
says out "status=failed reason=http_404 tries=1 final=yes http_status=404"

exits 0 "$URLWEIR" explain d "${seed}never-heard-of"
says out "  no page that was read is known to link to it"
exits 0 "$URLWEIR" explain d "${seed}p.png"
lacks out "known to link" "a link that was dropped is known"

# ---- what cannot be done ----

exits 1 "$URLWEIR" explain d "no url"
says err "not an http(s) URL"
exits 2 "$URLWEIR" explain elsewhere "$seed"
exits 1 "$URLWEIR" explain d
