#!/bin/sh
# Puts what was built, and what belongs to it, where a system looks for it; or
# removes just that. One list serves both, so that neither can forget a file.
# usage: tools/install.sh install|uninstall BUILD_DIR
# DESTDIR, PREFIX, LIBDIR, SYSCONFDIR, SONAME and VERSION are taken from the
# environment.
set -eu
verb=$1
build=$2
cd "$(dirname "$0")/.."
to=$DESTDIR$PREFIX
etc=$DESTDIR$SYSCONFDIR
lib=$DESTDIR$LIBDIR
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

put() { # MODE FILE TARGET
    case $verb in
    install) install -D -m "$1" "$2" "$3" ;;
    uninstall) rm -f "$3" ;;
    esac
}
# A unit says where the program is.
put_unit() {
    sed "s|/usr/local/bin/|$PREFIX/bin/|g" "packaging/$1" >"$temp/$1"
    put 644 "$temp/$1" "$to/lib/systemd/system/$1"
}
# A person's own settings are neither replaced nor removed.
put_config() { # FILE TARGET
    if [ ! -e "$2" ] || cmp -s "$1" "$2"; then
        put 644 "$1" "$2"
    fi
}

put_link() { # TO NAME
    case $verb in
    install) ln -sf "$1" "$2" ;;
    uninstall) rm -f "$2" ;;
    esac
}

put 755 "$build/urlweir" "$to/bin/urlweir"
put_config packaging/urlweir.default "$etc/default/urlweir"

put 644 "$build/lib/$SONAME.0.0" "$lib/$SONAME.0.0"
put_link "$SONAME.0.0" "$lib/$SONAME"
put_link "$SONAME" "$lib/liburlweir.so"
put 644 bindings/c/urlweir.h "$to/include/urlweir.h"
sed "s|@PREFIX@|$PREFIX|; s|@LIBDIR@|$LIBDIR|; s|@VERSION@|$VERSION|" \
    bindings/c/urlweir.pc.in >"$temp/urlweir.pc"
put 644 "$temp/urlweir.pc" "$lib/pkgconfig/urlweir.pc"
# The loader finds a library in a folder of its own once it has been told.
if [ "$verb" = install ] && [ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ]; then
    ldconfig || :
fi

for page in "$build"/man/*.[1-9]; do
    put 644 "$page" "$to/share/man/man${page##*.}/${page##*/}"
    # The other names of a page are links to it.
    if [ "$verb" = install ] && [ -L "$page" ]; then
        ln -sf "$(readlink "$page")" "$to/share/man/man${page##*.}/${page##*/}"
    fi
done
put 644 "$build/completion/bash" "$to/share/bash-completion/completions/urlweir"
put 644 "$build/completion/zsh" "$to/share/zsh/${ZSH_FUNCTIONS:-site-functions}/_urlweir"
put 644 "$build/completion/fish" "$to/share/fish/vendor_completions.d/urlweir.fish"

put_unit urlweir.service
put_unit urlweir-crawl@.service
put 644 packaging/sysusers.conf "$to/lib/sysusers.d/urlweir.conf"
put 644 packaging/tmpfiles.conf "$to/lib/tmpfiles.d/urlweir.conf"

put 644 service/urlfrontier/urlfrontier.proto "$to/share/urlweir/urlfrontier.proto"
put 644 packaging/grafana-urlweir.json "$to/share/urlweir/grafana-urlweir.json"
put 644 packaging/prometheus-urlweir-alerts.yaml \
    "$to/share/urlweir/prometheus-urlweir-alerts.yaml"

put 644 config/default.yaml "$to/share/doc/urlweir/default.yaml"
put 644 LICENSE "$to/share/doc/urlweir/copyright"
put 644 README.md "$to/share/doc/urlweir/README.md"
put 644 CHANGELOG.md "$to/share/doc/urlweir/CHANGELOG.md"
find docs -type f ! -path 'docs/man/*' | while read -r page; do
    put 644 "$page" "$to/share/doc/urlweir/$page"
done

# The folders that are nobody else's.
if [ "$verb" = uninstall ]; then
    for folder in "$to/share/doc/urlweir" "$to/share/urlweir"; do
        [ ! -d "$folder" ] || find "$folder" -depth -type d -empty -delete
    done
fi
