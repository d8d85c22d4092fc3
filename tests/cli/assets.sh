#!/bin/sh
# --assets fetches a page's requisites from any host, through style sheets and
# redirects, and no farther; --assets same-scope stays in scope. A resume lets
# in what was dropped; bodies in archives are whole.
set -eu
. "$TOP/tests/cli/lib.sh"

a=127.0.0.1 b=127.0.0.2 c=127.0.0.3
at_b=http://$b:@PORT@ at_c=http://$c:@PORT@
mkdir -p web/$a web/$b web/$c
cat >web/$a/index.html <<END
<link rel=stylesheet href=$at_b/s.css><body style="background: url($at_b/bg.png)">
<img src=local.png srcset="$at_c/2x.png 2x"><img src=$at_b/moved.png>
<video poster=$at_c/poster.png></video><iframe src=$at_c/frame.html></iframe>
<a href=$at_b/page.html>out of scope</a><a href=deep.html>deep</a>
END
echo "@import '$at_c/i.css'; @font-face { src: url(f.woff) }" >web/$b/s.css
echo "a { background: url(i.png) }" >web/$c/i.css
echo "<a href=other.html>o</a><img src=frame.png><a href=http://$a:@PORT@/back.html>b</a>" \
    >web/$c/frame.html
printf '302\nLocation: %s/moved2.png\n' $at_c >web/$b/moved.png.head
printf '302\nLocation: %s/real.png\n' $at_b >web/$c/moved2.png.head
echo "<img src=$at_b/secret.png><img src=$at_b/deep.png>" >web/$a/deep.html
pages $a /back.html
pages $b /f.woff /page.html /bg.png /moved.png /real.png /deep.png /secret.png
pages $c /2x.png /poster.png /i.png /frame.png /moved2.png /other.html
pages $a /local.png
plain_site $a $b $c

# Were these asked for, and no others?
arrived() {
    sed -e 's/^127.0.0.//' -e 's/ //' log | grep -v robots.txt | sort >got
    printf '%s\n' "$@" | sort >want
    diff want got >difference || fail "$dir: $(cat difference)"
    : >log
}
quick="$quick --scope host"
parts="2/s.css 2/bg.png 1/local.png 3/2x.png 2/moved.png 3/moved2.png 2/real.png
    3/poster.png 3/frame.html 3/i.css 3/i.png 2/f.woff"

# The frame is a page of another host: its own parts stay out, a link back to
# this host does not.
crawl whole --assets
ended 0
# shellcheck disable=SC2086
arrived 1/ 1/deep.html 1/back.html 2/deep.png 2/secret.png $parts
"$URLWEIR" export whole | grep real.png >row
says row '"kind": "img"'
exits 0 "$URLWEIR" verify whole

# A page's parts count neither for the depth nor for an include.
crawl flat --depth 0 --assets --exclude secret --include '/$'
ended 0
# shellcheck disable=SC2086
arrived 1/ $parts
crawl seed-alone --scope seed --assets all
ended 0
# shellcheck disable=SC2086
arrived 1/ $parts
crawl excluded --assets --exclude '(secret|[.]css|frame)'
ended 0
arrived 1/ 1/deep.html 2/deep.png 2/bg.png 1/local.png 3/2x.png 2/moved.png \
    3/moved2.png 2/real.png 3/poster.png
crawl one-redirect --assets --max-redirects 1 --exclude '(secret|[.]css|frame)'
arrived 1/ 1/deep.html 2/deep.png 2/bg.png 1/local.png 3/2x.png 2/moved.png \
    3/moved2.png 3/poster.png

# In scope alone, as links are; a resume lets the others in.
crawl near --assets same-scope
ended 0
arrived 1/ 1/deep.html 1/local.png
resume near --assets
ended 0
# shellcheck disable=SC2086
arrived 1/back.html 2/deep.png 2/secret.png $(echo $parts | sed 's,1/local.png,,')
crawl none
ended 0
arrived 1/ 1/deep.html

# ---- style sheets without an end ---------------------------------------------

for n in 0 1 2 3 4 5 6 7 8 9; do
    echo "@import '$((n + 1)).css'; a { background: url(bg$n.png) }" >web/$b/$n.css
done
echo "<link rel=stylesheet href=$at_b/0.css>" >web/$a/endless.html
seed=http://$a:$port/endless.html
crawl endless --assets --max-redirects 3
ended 0
arrived 1/endless.html 2/0.css 2/1.css 2/2.css 2/3.css 2/bg0.png 2/bg1.png 2/bg2.png

# ---- whole bodies ------------------------------------------------------------

{
    printf '<title>long</title><!--'
    head -c 6000000 /dev/zero | tr '\0' x
    echo '--><a href=/deep.html>at the end</a>'
} >web/$a/long.html
seed=http://$a:$port/long.html
crawl cut
ended 0
arrived 1/long.html
says crawl.err 'cut off                 1   1 at --max-body, 0 at --timeout'
"$URLWEIR" export cut | head -n 1 >row
says row truncated_length
resume cut --warc
arrived 1/long.html 1/deep.html
crawl kept --warc
ended 0
arrived 1/long.html 1/deep.html
lacks crawl.err 'cut off'
crawl little --warc --max-body 4M
ended 0
arrived 1/long.html
# A quarter of the memory is the most.
crawl small --warc --memory 100M
arrived 1/long.html 1/deep.html
exits 1 "$URLWEIR" crawl "$seed" -o refused --warc --max-body 100M --memory 100M
says err 'more than a quarter'
