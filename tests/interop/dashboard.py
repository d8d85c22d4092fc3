#!/usr/bin/env python3
# pip: --no-deps axe-playwright-python
# apt: chromium
"""The dashboard of `urlweir serve` in headless Chromium, over a real crawl.

The site it crawls answers slowly and for ever, and its titles and paths are
hostile. What is asked of the page: it shows what the service says and follows
it; its buttons do what they say, by mouse and by keyboard; nothing a stranger
wrote is ever markup; it fits a telephone; it comes back after the service does;
a token opens it, and what the token's role cannot do is off. From the pip
package only axe-core's script is used, which looks for what keeps people with
disabilities out.
"""
# Promise (Dashboard): the page follows the crawl; its buttons work by mouse
#   and keyboard; no request reaches a site while its crawl is paused.
# Promise (Dashboard): no title, URL, name or key from outside is ever markup
#   or script, and characters that reverse text are written out.
# Promise (Dashboard): the page fits 360 px, light and dark, with reduced
#   motion; axe finds no violation.
# Promise (Dashboard): the page asks for a token and switches off what the role
#   does not allow; it says since when it has no connection, and reconnects to
#   the service.
import glob
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import browser  # noqa: E402
from background import own_address, wait_for, wait_until_said  # noqa: E402

URLWEIR = os.path.abspath(os.environ["URLWEIR"])
TITLE = "<img src=x onerror=window.hit=1><script>window.hit=2</script> \u202egnp.exe %d"
CONTROLS = "\u202e\u200b\x07"


class Site(http.server.BaseHTTPRequestHandler):
    """Page n links to 2n and 2n + 1, and to one with a hostile path."""
    protocol_version = "HTTP/1.1"
    asked = []

    def do_GET(self):
        Site.asked.append(time.monotonic())
        number = "".join(c for c in self.path if c.isdigit())
        n = int(number[:12] or 1)
        status = 404 if self.path == "/robots.txt" or n % 7 == 0 else 200
        title = TITLE % n
        body = ("<!doctype html><meta charset=utf-8><title>%s</title><a href=/%d>a</a><a href=/%d>b</a>"
                "<a href='/%d/<img src=x onerror=window.hit=3>&quot;>?q=<script>'>c</a>" % (
                    title.replace("&", "&amp;").replace("<", "&lt;"), 2 * n, 2 * n + 1, n)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


def is_left_alone():
    """The site, from a moment on: what was under way may still arrive."""
    def quiet():
        so_far = len(Site.asked)
        time.sleep(1.5)
        return len(Site.asked) == so_far
    wait_for("rest for the site", quiet)


class Service:
    """`urlweir serve`, on a port that stays its own over restarts."""

    def __init__(self, home):
        self.dir, self.err, self.at, self.process = home + "/d", home + "/serve.err", own_address() + ":0", None

    def start(self, *options):
        with open(self.err, "w") as err:
            self.process = subprocess.Popen([URLWEIR, "serve", self.dir, "--listen", "127.0.0.1:0", "--http", self.at, *options], stderr=err)
        self.at = wait_until_said(self.err, r"HTTP on (\S+)", self.process)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(120) == 0, open(self.err).read()
            self.process = None

    def ask(self, method, path, body=None, token=None):
        request = urllib.request.Request("http://%s/%s" % (self.at, path), method=method,
                                         data=None if body is None else json.dumps(body).encode())
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if token:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            raise AssertionError("%s %s: %d %s" % (method, path, e.code, e.read())) from e

    def is_in_state(self, state):
        wait_for("crawl that is " + state, lambda: self.ask("GET", "v1/crawls/news")["state"] == state)


def number(b, name):
    return int(b.value("document.querySelector('#figures [data-v=%s]').textContent.replaceAll(',', '')" % name))


def text(selector):
    return "document.querySelector(%s)?.textContent ?? ''" % json.dumps(selector)


def says(selector, what):
    return "(%s).includes(%s)" % (text(selector), json.dumps(what))


# What Chromium writes of a service that is away, or goes.
GONE = ("net::ERR_", "status of 503")


def no_errors(b, *expected):
    """Chromium writes each answer of 400 and more to the console, also those that are expected."""
    left = [e for e in b.errors if not any(x in e for x in expected)]
    assert left == [], left
    b.errors.clear()


# ---- the parts ----

def shows_and_follows(b, s):
    b.open("http://%s/" % s.at)
    b.wait(says("#connection", "live"))
    b.wait(says("#crawl-name", "news"))
    b.wait("Number((%s).replaceAll(',', '')) > 0" % text("#figures [data-v=pages]"))
    before = number(b, "pages")
    b.wait("Number((%s).replaceAll(',', '')) > %d" % (text("#figures [data-v=pages]"), before))
    b.wait("Number(%s) > 0" % text("#figures [data-v=rate]"))
    b.wait("document.querySelector('#rate-plot .line').getAttribute('d').includes('L')")
    b.wait(says("#seen", "certainly new") + " && " + says("[data-v=promised]", "0.1 %"))
    own = "http://%s/" % s.at
    asked = [u for u in b.asked if not u.startswith((own, "data:", "about:"))]
    assert asked == [], asked
    no_errors(b)


def stands_still_when_told(b):
    b.click("#hold")
    b.wait("document.getElementById('hold').getAttribute('aria-pressed') === 'true'")
    before = number(b, "pages")
    time.sleep(2.5)
    assert number(b, "pages") == before, "it does not stand still"
    b.click("#hold")
    b.wait("Number((%s).replaceAll(',', '')) > %d" % (text("#figures [data-v=pages]"), before))


def keeps_strangers_out(b, s):
    b.value("document.getElementById('recent').scrollIntoView()")
    b.wait(says("#recent-table", "<img src=x onerror=window.hit=1><script>"))
    assert b.value(says("#recent-table", "U+202E") + " && !" + says("#recent-table", "\u202e"))
    b.wait("[...document.querySelectorAll('#recent-table a')].some(a => a.href.includes('onerror'))")
    assert b.value("[...document.querySelectorAll('#recent-table a')].every(a => "
                   "a.protocol === 'http:' && a.rel === 'noreferrer noopener')")
    s.ask("POST", "v1/urls", [
        {"url": "javascript:window.hit=4//" + CONTROLS, "key": "<script>window.hit=5</script>", "crawl": "<img src=x onerror=window.hit=6>\u2066",
         "metadata": {"<b>": ["<svg onload=window.hit=7>" + CONTROLS]}},
        {"url": "data:text/html,<script>window.hit=8</script>", "key": "k"}])
    b.value("location.hash = '#served'")
    b.wait(says("#names-table", "<img src=x onerror=window.hit=6>U+2066"))
    for name, value in (("url", "javascript:window.hit=4//" + CONTROLS), ("crawl", "<img src=x onerror=window.hit=6>\u2066"),
                        ("key", "<script>window.hit=5</script>")):
        b.value("document.getElementById('url-%s').value = %s" % (name, json.dumps(value)))
    b.click("#url-form button")
    b.wait(says("#url-found", "javascript:window.hit=4//U+202EU+200BU+0007"))
    assert b.value(says("#url-found", "<svg onload=window.hit=7>"))
    assert b.value("document.querySelectorAll('#url-found a').length") == 0, "what is no web address is no link"
    b.value("location.hash = '#crawl=news'")
    b.wait("!document.getElementById('crawl').hidden")
    assert b.value("document.querySelectorAll('img, iframe, object, embed, [onerror], [onload]').length") == 0
    assert b.value("document.scripts.length") == 1
    assert b.value("typeof window.hit") == "undefined", "a stranger's text has run"
    no_errors(b)


def policy_holds(b):
    """Were the page ever to make markup of a text, nothing of it would run."""
    tried = b.value("""(() => {
        const out = [];
        for (const make of [() => document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.hit=9>'),
                            () => { document.createElement('p').innerHTML = 'x'; }, () => eval('window.hit=10'),
                            () => document.createElement('script').append('window.hit=11')])
            try { make(); out.push('made'); } catch (e) { out.push(e.name); }
        const script = document.createElement('script');
        try { script.text = 'window.hit=12'; } catch (e) { out.push(e.name); }
        document.body.append(script);
        script.remove();
        return out;
    })()""")
    assert tried[:3] == ["TypeError", "TypeError", "EvalError"], tried
    assert b.value("typeof window.hit") == "undefined", "the policy lets it run"
    b.errors.clear()


def paused_by(b, s, press):
    """By any means: the service says so, and the site is left alone."""
    b.wait("document.getElementById('pause').textContent === 'Pause'")
    press()
    b.wait("document.getElementById('pause').textContent === 'Unpause'")
    b.wait(says("#said", "paused"))
    s.is_in_state("paused")
    b.wait("document.getElementById('crawl-state').textContent === 'paused'")
    is_left_alone()
    Site.asked.clear()
    press()
    b.wait("document.getElementById('pause').textContent === 'Pause'")
    s.is_in_state("running")
    b.wait("document.getElementById('crawl-state').textContent === 'running'")
    wait_for("request of the crawl that goes on", lambda: Site.asked)


def by_keyboard(b):
    """Tab from the top of the page to the button, then Enter; the way has no trap."""
    b.value("scrollTo(0, 0); document.querySelector('.skip').focus()")
    assert b.value("document.querySelector('.skip').getBoundingClientRect().left") >= 0, "the skip link cannot be seen"
    seen = []
    for _ in range(40):
        b.press("Tab")
        at = b.value("document.activeElement.id || document.activeElement.textContent")
        assert b.value("getComputedStyle(document.activeElement).outlineStyle") != "none", "the focus cannot be seen at " + at
        seen.append(at)
        if at == "pause":
            b.press("Enter")
            return
    raise AssertionError("Tab does not lead to the button: %s" % seen)


def skips_by_keyboard(b):
    """Past all that stands above, and what was shown stays."""
    b.value("location.hash = '#served'")
    b.wait("!document.getElementById('served').hidden")
    b.value("document.querySelector('.skip').focus()")
    b.press("Enter")
    b.wait("document.activeElement.id === 'main'")
    time.sleep(1.2)
    assert not b.value("document.getElementById('served').hidden"), "the skip link leads elsewhere"
    b.value("location.hash = '#crawl=news'")
    b.wait("!document.getElementById('crawl').hidden")


def again_by_keyboard(b):
    """The button was not left: Enter, and the space bar."""
    calls = []

    def press():
        if not calls:
            by_keyboard(b)
        else:
            assert b.value("document.activeElement.id") == "pause", "the focus was lost"
            b.press(" ")
        calls.append(1)
    return press


def looks_up(b, site):
    b.type("#explain-url", site + "1")
    b.press("Enter")
    b.wait(says("#explained", "fetched") + " || " + says("#explained", "failed"))
    assert b.value("document.querySelectorAll('#explained .history li').length") >= 1
    b.type("#explain-url", "http://elsewhere.invalid/")
    b.press("Enter")
    b.wait(says("#explained", "no part of this crawl"))


def hosts_are_steered(b, s):
    b.value("document.getElementById('hosts').scrollIntoView()")
    b.wait(says("#hosts-table", "127.0.0.1"))
    b.click("#hosts-table button")
    b.wait("document.querySelector('dialog[open]') !== null")
    b.value("document.querySelector('dialog select').value = '3600'; document.querySelector('dialog select').dispatchEvent(new Event('input', {bubbles: true}))")
    b.click("dialog button[type=submit]")
    b.wait("document.querySelector('dialog') === null")
    b.wait(says("#hosts-table", "blocked: operator"))
    is_left_alone()
    b.click("#hosts-table button")
    b.wait("document.querySelector('dialog[open]') !== null")
    b.value("document.querySelector('dialog select').value = 'none'; document.querySelector('dialog select').dispatchEvent(new Event('input', {bubbles: true}))")
    b.click("dialog button[type=submit]")
    b.wait("!(%s)" % says("#hosts-table", "blocked"))


def a_pressed_button_stays(b):
    """Also when the answer to what was asked before comes meanwhile."""
    b.value("""(() => {
        const real = window.fetch;
        window.waits = false;
        window.fetch = async (...about) => {
            const answer = await real(...about);
            if (String(about[0]).includes('/hosts')) {
                window.fetch = real;
                await new Promise(go => { window.letGo = go; window.waits = true; });
            }
            return answer;
        };
    })()""")
    b.wait("window.waits")
    b.click("#hold")  # nothing else moves
    at = b.middle_of("#hosts-table button")
    b.mouse("mousePressed", at)
    b.value("window.letGo(); new Promise(r => setTimeout(r, 500))")
    b.mouse("mouseReleased", at)
    b.wait("document.querySelector('dialog[open]') !== null")
    b.press("Escape")
    b.wait("document.querySelector('dialog') === null")
    b.click("#hold")


def a_queue_is_deleted(b, s):
    for n in range(3):
        s.ask("POST", "v1/urls", {"url": "http://gone.test/%d" % n})
    b.value("location.hash = '#served'")
    b.wait("!document.getElementById('served').hidden")
    b.click("#any-queue")
    b.type("dialog [name=key]", "gone.test")
    b.wait(says("dialog button[type=submit]", "Do it"))
    b.click("dialog [name=remove]")
    no_barrier(b, "a queue")
    b.wait(says("dialog button.danger", "Delete for good"))
    b.click("dialog button.danger")
    b.wait(says("#said", "gone.test: 3 URLs deleted"))
    assert s.ask("GET", "v1/stats?crawl=DEFAULT&key=gone.test")["queues"] == 0
    b.value("location.hash = '#crawl=news'")
    b.wait("!document.getElementById('crawl').hidden")


def settings_and_seeds(b, s, site):
    b.click("#settings")
    b.wait("document.querySelector('dialog [name=delay]') !== null")
    no_barrier(b, "settings")
    b.type("dialog [name=delay]", "150ms")
    b.click("dialog button[type=submit]")
    b.wait("document.querySelector('dialog') === null")
    assert "150" in str(s.ask("GET", "v1/crawls/news/settings")["settings"]["delay"])
    b.click("#settings")
    b.wait("document.querySelector('dialog [name=delay]') !== null")
    b.type("dialog [name=delay]", "soon")
    b.click("dialog button[type=submit]")
    b.wait("(%s).length > 5" % text("dialog .wrong"))
    b.press("Escape")
    b.wait("document.querySelector('dialog') === null")
    b.click("#add-seeds")
    b.type("dialog textarea", site + "99991\nnonsense://\n")
    b.click("dialog button[type=submit]")
    b.wait(says("#said", "1 seeds added") + " && " + says("#said", "1 refused"))


def tells_what_is_fetched_again(b, s):
    """Dates, fetches that found nothing new, an estimate, and a rate that counts these fetches."""
    s.ask("PATCH", "v1/crawls/news/settings", {"refresh": "100ms", "refresh-share": 1})
    b.wait("/^[1-9][0-9,]*, [0-9]/.test(%s)" % text("#crawl .list [data-v=dated]"))
    b.wait("/^[1-9][0-9,]*, [0-9.]+ %%$/.test(%s)" % text("#crawl .list [data-v=refreshed]"))
    b.wait("/^[0-9.]+ %%$/.test(%s)" % text("#crawl .list [data-v=fresh]"))
    refreshed = "Number((%s).split(',')[0]) > %%d" % text("#crawl .list [data-v=refreshed]")
    b.wait(refreshed % 120)  # so long that the rate is of these fetches alone: new pages wait
    b.wait("Number(%s) > 0" % text("#figures [data-v=rate]"))
    s.ask("PATCH", "v1/crawls/news/settings", {"refresh": "off", "refresh-share": 0.5})
    b.wait("/^0, 0/.test(%s)" % text("#crawl .list [data-v=dated]"))


def new_and_deleted(b, s, site):
    b.click("#new-crawl")
    no_barrier(b, "new crawl")
    b.type("dialog [name=name]", "other")
    b.type("dialog [name=seeds]", site + "5")
    b.type("dialog [name=limit]", "3")
    b.type("dialog [name=others]", "allow-private: true\nmin-disk: 0\n")
    b.click("dialog button[type=submit]")
    b.wait(says("#crawl-name", "other"))
    b.wait(says("#crawl-state", "stopped"))
    b.click("#remove")
    b.wait("document.querySelector('dialog button.danger').disabled")
    b.type("dialog input", "othe")
    assert b.value("document.querySelector('dialog button.danger').disabled")
    b.type("dialog input", "other")
    b.click("dialog button.danger")
    b.wait("document.querySelector('dialog') === null")
    b.wait(says("#crawl-name", "news"))
    wait_for("list with news alone", lambda: ["news"] == [
        c["name"] for c in s.ask("GET", "v1/crawls")["crawls"] if c["kind"] == "own"])


AXE = glob.glob(sys.prefix + "/lib/python*/site-packages/axe_playwright_python/axe.min.js")


def no_barrier(b, where):
    if not AXE:
        return
    with open(AXE[0], encoding="utf-8") as f:
        b.value(f.read() + "; 0")  # by the debugger, which no policy binds
    found = b.value("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                    "v.impact + ' ' + v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')))")
    assert found == [], (where, found)


def fits(b, pictures):
    for width in (1280, 768, 360):
        for scheme in ("light", "dark"):
            b.look(width, 800, scheme)
            for part in ("#crawl=news", "#served"):
                b.value("location.hash = '%s'; scrollTo(0, 0)" % part)
                b.wait("!document.getElementById('%s').hidden" % ("crawl" if "news" in part else "served"))
                time.sleep(0.3)
                b.wait("document.documentElement.scrollWidth <= %d" % width)
                no_barrier(b, "%s, %d px, %s" % (part, width, scheme))
                if pictures:
                    with open("%s/%s-%d-%s.png" % (pictures, part[1:6], width, scheme), "wb") as f:
                        f.write(b.picture(whole=True))
            want = "rgb(18, 22, 29)" if scheme == "dark" else "rgb(255, 255, 255)"
            b.wait("getComputedStyle(document.body).backgroundColor === '%s'" % want)
    b.look(1280, 900)
    b.value("document.getElementById('theme').value = 'dark'; document.getElementById('theme').dispatchEvent(new Event('change'))")
    assert b.value("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 29)", "the switch does nothing"
    b.value("document.getElementById('theme').value = 'auto'; document.getElementById('theme').dispatchEvent(new Event('change'))")
    b.look(1280, 900, motion="reduce")
    assert b.value("[...document.querySelectorAll('*')].every(e => parseFloat(getComputedStyle(e).transitionDuration) === 0)")
    b.look(1280, 900)
    b.value("location.hash = '#crawl=news'")


def comes_back(b, s, *options):
    s.stop()
    b.wait(says("#connection", "disconnected since"))
    b.wait(says("#said", "disconnected"))
    s.start(*options)
    b.wait(says("#connection", "live"))
    b.wait(says("#said", "connected again"))
    before = number(b, "pages")
    b.wait("Number((%s).replaceAll(',', '')) > %d" % (text("#figures [data-v=pages]"), before))
    no_errors(b, *GONE)


def asks_for_a_token(b, s, home):
    tokens = home + "/tokens"
    with open(tokens, "w") as f:
        f.write("read the-token-of-who-looks\nadmin the-token-of-who-may\n")
    os.chmod(tokens, 0o600)
    s.stop()
    s.start("--token-file", tokens)
    b.wait("document.querySelector('dialog input[type=password]') !== null")
    b.press("Escape")
    b.wait(says("#connection", "no token was given"))
    time.sleep(2)
    assert not b.value("document.querySelector('dialog')"), "it asks again and again"
    b.click("#token")
    b.wait("document.querySelector('dialog input[type=password]') !== null")
    b.type("dialog input", "not-a-token-of-ours")
    b.press("Enter")
    b.wait(says("dialog", "does not know this token"))
    b.type("dialog input", "the-token-of-who-looks")
    b.press("Enter")
    b.wait(says("#connection", "live"))
    b.wait(says("#role-note", "The role here is read"))
    b.wait("[...document.querySelectorAll('button[data-role]')].filter(e => e.checkVisibility()).every(e => e.disabled)")
    b.wait("sessionStorage.getItem('urlweir-token') === 'the-token-of-who-looks'")
    # What is asked all the same is refused, and said so.
    b.value("document.getElementById('pause').disabled = false; document.getElementById('pause').click()")
    b.wait(says("#said", "Refused"))
    assert s.ask("GET", "v1/crawls/news", token="the-token-of-who-looks")["state"] != "paused"
    b.click("#token")
    b.wait("document.querySelector('dialog input[type=password]') !== null")
    b.type("dialog input", "the-token-of-who-may")
    b.press("Enter")
    b.wait(says("#connection", "live"))
    b.wait("!document.getElementById('pause').disabled && document.getElementById('role-note').hidden")
    assert b.value("localStorage.getItem('urlweir-token')") is None
    no_errors(b, "status of 401", "status of 403", *GONE)


def of_a_crawl_alone(b, home, seed):
    """`urlweir crawl --metrics`: to look at, nothing to steer, no served frontier."""
    with open(home + "/crawl.err", "w") as err:
        crawl = subprocess.Popen([URLWEIR, "crawl", seed + "1", "-o", home + "/c", "--allow-private", "--delay", "200ms", "--min-disk", "0", "--progress", "none",
                                  "--sitemap", "off", "--metrics", "127.0.0.1:0"], stderr=err, stdout=err)
    try:
        at = wait_until_said(home + "/crawl.err", r"HTTP on (\S+)", crawl)
        b.open("http://%s/" % at)
        b.wait(says("#connection", "live"))
        b.wait("Number((%s).replaceAll(',', '')) > 2" % text("#figures [data-v=pages]"))
        b.wait(says("#role-note", "urlweir pause"))
        assert b.value("document.getElementById('served').hidden && document.getElementById('new-crawl').hidden")
        assert b.value("document.querySelectorAll('#chooser a').length") == 1
        b.wait("['pause', 'stop', 'add-seeds', 'settings'].every(id => document.getElementById(id).disabled)")
        b.value("document.getElementById('hosts').scrollIntoView()")
        b.wait(says("#hosts-table", "127.0.0.1"))
        no_barrier(b, "a crawl alone")
        no_errors(b)
    finally:
        crawl.send_signal(signal.SIGINT)
        crawl.wait(120)


def main():
    if browser.program() is None:
        print("no chromium is installed (apt-get install chromium)")
        sys.exit(77)
    home = tempfile.mkdtemp(prefix="urlweir-dashboard.")
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    site.handle_error = lambda *a: None  # a crawl that is ended leaves in the middle of an answer
    threading.Thread(target=site.serve_forever, daemon=True).start()
    seed = "http://127.0.0.1:%d/" % site.server_port
    s, b = Service(home), None
    try:
        s.start()
        s.ask("POST", "v1/crawls", {"name": "news", "seeds": [seed + "1"], "settings": {
            "allow-private": True, "delay": "100ms", "min-disk": "0", "sitemap": "off"}})
        b = browser.Browser(home + "/profile")
        b.look(1280, 900)
        shows_and_follows(b, s)
        stands_still_when_told(b)
        keeps_strangers_out(b, s)
        policy_holds(b)
        paused_by(b, s, lambda: b.click("#pause"))
        paused_by(b, s, again_by_keyboard(b))
        skips_by_keyboard(b)
        looks_up(b, seed)
        hosts_are_steered(b, s)
        a_pressed_button_stays(b)
        a_queue_is_deleted(b, s)
        settings_and_seeds(b, s, seed)
        tells_what_is_fetched_again(b, s)
        new_and_deleted(b, s, seed)
        no_errors(b, "status of 400", "status of 409")
        fits(b, os.environ.get("PICTURES"))
        no_errors(b)
        comes_back(b, s)
        asks_for_a_token(b, s, home)
        s.stop()
        b.open("about:blank")
        no_errors(b, *GONE)
        of_a_crawl_alone(b, home, seed)
    finally:
        if b:
            b.close()
        if s.process:
            s.process.kill()
            s.process.wait()
        shutil.rmtree(home, ignore_errors=True)
    print("the dashboard shows, steers and keeps out what it should, at 3 widths, in light and dark; %s" % (
        "axe finds nothing" if AXE else "without axe, which could not be had"))


if __name__ == "__main__":
    main()
