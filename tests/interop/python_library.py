# pip: cffi setuptools wheel
"""The Python package of bindings/python over an installed liburlweir.

URLWEIR=build/release/urlweir tests/interop/python_library.py

`make install`, `pip install ./bindings/python`, and then: what it says of the
URL Standard's cases, of robots.txt, pages and sitemaps is what urlweir says;
filters and sets are the program's; what fails raises; limits hold; threads may
share an object, and a child process may not; the commands of docs/library.md.
"""
# Promise (Installing and checks): the Python package, installed by pip, agrees
#   with the program on the URL Standard's cases, robots.txt, pages and
#   sitemaps, shares filters and sets with it, raises an exception for each
#   failure, and holds its limits; threads may share an object, a child process
#   cannot harm it; keys are str and bytes only; the code of its page runs.
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("URLWEIR", TOP + "/build/release/urlweir"))
WPT = TOP + "/../shared/testdata/wpt-url/"


def run(*args, data=b"", may_fail=False):
    done = subprocess.run(args, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0 and not may_fail:
        raise SystemExit("%s: %s" % (args, (done.stdout + done.stderr).decode()[-2000:]))
    return done.stdout


def same(what, got, want):
    if got != want:
        pairs = [p for p in zip(got, want) if p[0] != p[1]] if isinstance(got, list) else []
        raise SystemExit("%s: the package says %r, urlweir %r" % (what, *(pairs or [(got, want)])[0]))


def raises(kind, call, *args, **more):
    try:
        call(*args, **more)
    except kind as e:
        return e
    raise SystemExit("no %s from %s%r" % (kind.__name__, call, args))


# ---- installing ----

def install(work):
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    env["URLWEIR_NO_DEPS"] = "1"
    mode = os.path.basename(os.path.dirname(BIN))
    make = ["make", "-s", "-C", TOP, "MODE=" + mode, "PREFIX=" + work + "/root",
            "SYSCONFDIR=" + work + "/etc", "-o", "build/%s/urlweir" % mode, "install"]
    done = subprocess.run(make, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SystemExit("make install: " + done.stdout.decode()[-2000:])
    os.environ["PKG_CONFIG_PATH"] = work + "/root/lib/pkgconfig"
    # pip leaves what it builds beside the source.
    shutil.copytree(TOP + "/bindings/python", work + "/source",
                    ignore=shutil.ignore_patterns("build", "*.egg-info"))
    run(sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps",
        "--target", work + "/site", work + "/source")
    sys.path.insert(0, work + "/site")


# ---- the same as the program says ----

def corpus(name):
    folder = TOP + "/fuzz/corpus/" + name
    for file in sorted(os.listdir(folder)):
        path = folder + "/" + file
        with open(path, "rb") as f:
            yield path, f.read()


def all_urls():
    lines = [line for _, data in corpus("url") for line in data.split(b"\n")]
    for name in ("urltestdata.json", "toascii.json"):
        if os.path.exists(WPT + name):
            with open(WPT + name, encoding="utf-8") as f:
                texts = [c["input"] for c in json.load(f) if isinstance(c, dict)]
            texts = [re.sub("[\ud800-\udfff]", "\ufffd", t or "").encode() for t in texts]
            lines += [t for t in texts if b"\n" not in t]
            lines += [b"http://" + t + b"/" for t in texts if b"\n" not in t]
    return lines


def check_urls(urls):
    data = b"\n".join(urls) + b"\n"
    for args, function in (((), urlweir.canonical), (("--whatwg",), urlweir.whatwg),
                           (("--surt",), urlweir.surt)):
        want = run(BIN, "url", *args, data=data).decode().split("\n")[:-1]
        got = []
        for url in urls:
            try:
                got.append(function(url))
            except urlweir.NotAUrl as e:
                got.append("!\t" + e.reason)
        assert len(got) > 40
        same("url " + " ".join(args), got, want)
    same("base", urlweir.canonical("../x", base="http://h/a/b/c"), "http://h/a/x")
    same("surrogate", urlweir.whatwg("http://h/\ud800"), "http://h/%EF%BF%BD")
    same("octets", urlweir.canonical(b"http://h/\xe9"), "http://h/%E9")
    same("surrogateescape", urlweir.canonical("http://h/\udce9"), "http://h/%E9")
    assert raises(urlweir.NotAUrl, urlweir.canonical, "http://h/", base="x").reason == "relative"
    assert isinstance(raises(ValueError, urlweir.surt, "mailto:x"), urlweir.Error)


def check_robots(urls):
    data = b"\n".join(urls) + b"\n"
    for path, body in corpus("robots"):
        want = run(BIN, "robots", "--agent", "Foo/1.0", "--delay", "--sitemaps", path, data=data)
        r = urlweir.Robots(body, "Foo/1.0")
        got = [b"sitemap\t" + s.encode() for s in r.sitemaps]
        got += [] if r.crawl_delay is None else [b"delay\t%.12g" % r.crawl_delay]
        for url in urls:
            try:
                got.append((b"allow\t" if r.allows(url) else b"deny\t") + url)
            except urlweir.NotAUrl as e:
                got.append(b"!\t" + e.reason.encode())
        if b"\xff" not in body and b"\xe9" not in body: # octets that are no text
            same(path, b"\n".join(got) + b"\n", want)
    r = urlweir.Robots("User-agent: *\nDisallow: /p", "x")
    same("the line", r.decides("http://h/p/q"), (False, "Disallow: /p"))
    same("no line", r.decides("http://h/"), (True, ""))


def check_links():
    base = "http://h.example/dir/page"
    for path, body in [*corpus("links"), *corpus("html")]:
        want = run(BIN, "links", "--all", "--url", base, path).decode()
        page = urlweir.links(body, base, kinds="all", form="whatwg")
        same(path, "".join("%s\t%s\n" % link[:2] for link in page.links), want)
        assert page.whole
    page = urlweir.links("<html lang=de><title>A  b</title><meta name=foo content=nofollow>"
                         "<a rel=nofollow href='%7ex'>", base, agent="foo")
    same("a page", page, urlweir.Page([urlweir.Link("a", "http://h.example/dir/~x", True)],
                                      "A b", "de", "windows-1252", False, True, True))
    css = urlweir.links("a{b:url(c)}", base, content_type="text/css", kinds="style")
    same("a style sheet", [link.kind for link in css.links], ["style"])
    # A long base, and many short links to it.
    big = "<base href='/%s/'>" % ("x" * 100000) + "<a href=y>" * 10000
    page = urlweir.links(big, base, most_octets=1000000)
    assert 0 < len(page.links) < 10 and not page.whole
    same("most", len(urlweir.links(big, base, most=3).links), 3)
    assert raises(urlweir.Error, urlweir.links, "", base, kinds="nothing").status == 1
    raises(urlweir.NotAUrl, urlweir.links, "", "nowhere")


def check_sitemaps():
    base = "http://h.example/dir/x"
    blank = str.maketrans("\t\n\r\f\v", "     ")
    for path, body in [*corpus("sitemap"), *corpus("feed")]:
        want = run(BIN, "sitemap", "--url", base, path, may_fail=True)
        s = urlweir.sitemap((body[i:i + 7] for i in range(0, len(body), 7)), base, form="whatwg")
        got = "".join("%s\t%s\t%s\n" % (e.url, e.lastmod.translate(blank),
                                        e.priority.translate(blank)) for e in s.entries)
        same(path, got, want.decode("utf-8", "replace"))
        same(path, urlweir.sitemap(body, base, form="whatwg"), s)
    s = urlweir.sitemap("<sitemapindex><sitemap><loc>http://h/s</loc></sitemap></sitemapindex>", base)
    same("an index", (s.format, s.entries[0].kind, s.whole), ("index", "sitemap", True))
    assert not urlweir.sitemap(b"\x1f\x8b\x08\0", base).whole
    s = urlweir.sitemap("http://h/a\nhttp://h/b\n", base, most=1)
    assert len(s.entries) == 1 and not s.whole


# ---- sets ----

def check_filters(work):
    path = work + "/filter"
    f = urlweir.Filter(20000, fpr=0.001, kind="cuckoo")
    keys = ["key %d" % i for i in range(20000)]
    assert sum(f.add(keys[:10000])) > 9900 and not any(f.add(keys[:10000]))
    assert all(f.check(keys[:10000])) and sum(f.check(keys[10000:])) < 50
    f.save(path)
    lines = run(BIN, "filter", "check", path, data="\n".join(keys).encode()).decode()
    same("the program", [line.startswith("maybe") for line in lines.splitlines()], f.check(keys))
    g = urlweir.Filter.open(path)
    users = urlweir.Filter(1000, kind="cuckoo", ttl=86400)
    assert users.add(["page"], of="alice") == [True]
    assert users.check(["page"], of="alice") == [True]
    assert users.check(["page"], of="bob") == users.check(["page"]) == [False]
    assert users.remove(["page"], of="bob") == [False]
    users.set_ttl(3600)
    users.save(path + "-users")
    told = subprocess.run([BIN, "filter", "check", path + "-users", "--name", "alice"],
                          input=b"page\n", stdout=subprocess.PIPE, check=True).stdout
    assert told == b"maybe\tpage\n", told
    raises(urlweir.Error, g.set_ttl, 10)
    same("from a file", g.check(keys), f.check(keys))
    same("stats", g.stats()["count"], f.stats()["count"])
    assert all(g.remove(keys[:5])) and "key 0" not in g and "key 9" in g
    a, b = (urlweir.Filter(1000, kind="bloom", seed="s") for _ in "ab")
    b.add(["x", b"\0\xff"])
    a.merge(b)
    assert "x" in a and b"\0\xff" in a and "y" not in a
    assert raises(urlweir.Error, a.merge, urlweir.Filter(1000, kind="bloom")).status == 1
    assert raises(urlweir.Error, a.remove, ["x"]).status == 1
    assert raises(urlweir.Error, urlweir.Filter, 0).status == 1
    assert raises(urlweir.Error, urlweir.Filter.open, work + "/none").status == 7
    assert raises(urlweir.Error, urlweir.Filter.open, BIN).status == 5
    full = urlweir.Filter(10, kind="bloom", fixed=True)
    full.add(keys)
    assert full.stats()["overfull"] and all(full.check(keys))


def check_sets(work):
    folder = work + "/set"
    urls = ["http://h/%d" % (i % 30000) for i in range(40000)]
    with urlweir.Dedupe(folder) as d:
        same("new", list(d.new(urls)), urls[:30000])
        same("seen", d.take(["HTTP://H:80/1#x", "mailto:x", "http://h/new"]),
             [urlweir.BEFORE, urlweir.NO_URL, urlweir.NEW])
        same("the size", len(d), 30001)
        assert raises(urlweir.Error, urlweir.Dedupe, folder).status == 9
        assert raises(urlweir.Error, d.take, urls).status == 1
    raises(urlweir.Error, len, d)
    same("the program", run(BIN, "dedupe", "--state", folder, "-q", "-",
                            data=b"http://h/1\nhttp://h/other\n"), b"http://h/other\n")
    try:
        with urlweir.Dedupe(folder) as d:
            same("others", d.take(["http://h/other", "http://h/lost"]), [0, 1])
            raise KeyError
    except KeyError:
        pass
    with urlweir.Dedupe(folder) as d:
        same("not committed", d.take(["http://h/lost"]), [urlweir.NEW])
        d.commit()
        d.close(commit=False)
    with urlweir.Dedupe(folder) as d:
        same("committed", d.take(["http://h/lost"]), [urlweir.BEFORE])
    assert raises(urlweir.Error, urlweir.Dedupe, folder, octets=True).status == 1
    with urlweir.Dedupe(octets=True) as d:
        same("octets", d.take([b"\xff", "a", "a"]), [1, 1, 0])


def in_threads(count, work):
    """Runs work(i) in so many threads; what it raises is raised here."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def check_shared(work):
    """One object, many threads: none of the answers is another's."""
    for kind in ("scalable", "cuckoo"):
        f = urlweir.Filter(1000, fpr=0.001, kind=kind)

        def add(i):
            keys = ["%d %d" % (i, k) for k in range(20000)]
            fresh = sum(sum(f.add(keys[at:at + 100])) for at in range(0, 20000, 100))
            assert all(f.check(keys))
            return fresh
        assert 8 * 20000 * 0.99 < sum(in_threads(8, add)) <= 8 * 20000, kind
        f.save(work + "/shared")
        other = urlweir.Filter.open(work + "/shared")
        if kind == "cuckoo":
            in_threads(2, lambda i: f.merge(other) if i else other.merge(f))
    with urlweir.Dedupe(memory=32 << 20) as d:
        # Each line is asked for by two threads, and new to one of them.
        def take(i):
            lines = ["http://h%d/%d" % (i // 2, n) for n in range(200000)]
            return sum(d.take(lines[at:at + 500]).count(urlweir.NEW)
                       for at in range(0, len(lines), 500))
        same("new in threads", sum(in_threads(8, take)), 4 * 200000)
        same("the size", len(d), 4 * 200000)


def check_fork(work):
    """A child may end, close what it inherited, and nothing more."""
    code = """if True:
        import os, sys, threading, urlweir
        f, d = urlweir.Filter(1000), urlweir.Dedupe(sys.argv[1])
        f.add(["a"])
        d.take(["http://h/1"])
        calls = [lambda: f.add(["b"]), lambda: "a" in f, f.stats, lambda: f.save(sys.argv[1] + "x"),
                 lambda: d.take(["http://h/2"]), d.commit, lambda: len(d)]
        held, go = threading.Event(), threading.Event()
        def hold():
            with f._held(), d._held():
                held.set()
                go.wait()
        other = threading.Thread(target=hold)
        other.start()
        held.wait()
        pid = os.fork()
        if pid == 0:
            refused = 0
            for call in calls:
                try:
                    call()
                except urlweir.Error as e:
                    refused += e.status == 9 and "belongs to process" in str(e)
            assert refused == len(calls), refused
            d.close()
            assert urlweir.canonical("http://H") == "http://h/"
            os._exit(0)
        go.set()
        other.join()
        assert os.waitpid(pid, 0)[1] == 0
        if os.fork() == 0:
            sys.exit(0) # which ends all objects
        assert os.wait()[1] == 0
        assert "a" in f and d.take(["http://h/2", "http://h/1"]) == [1, 0]
        d.close()
        with urlweir.Dedupe(sys.argv[1]) as d:
            assert len(d) == 2 and not os.path.exists(sys.argv[1] + "x")
    """
    env = dict(os.environ, PYTHONPATH=work + "/site")
    done = subprocess.run([sys.executable, "-c", code, work + "/forked"], env=env, timeout=120)
    same("a fork", done.returncode, 0)


def check_keys(work):
    f, d = urlweir.Filter(1000), urlweir.Dedupe(octets=True)
    for call in (f.add, f.check, d.take):
        for keys in ([5], [None], [[1]], [bytearray(b"x")], "one", b"one"):
            raises(TypeError, call, keys)
    raises(TypeError, f.__contains__, 5)
    same("no key", (f.stats()["count"], len(d)), (0, 0))
    raises(ValueError, f.save, work + "/a\0b")
    raises(ValueError, urlweir.Filter.open, work + "/a\0b")
    raises(ValueError, urlweir.Dedupe, work + "/a\0b")
    raises(ValueError, lambda: urlweir.Filter(10, kind="bloom\0x"))
    raises(ValueError, lambda: urlweir.Filter(10, seed="a\0b"))
    raises(ValueError, urlweir.links, "", "http://h/", kinds="a\0b")
    assert not os.path.exists(work + "/a")
    same("a body", urlweir.links(bytearray(b"<title>x"), "http://h/").title, "x")
    raises(TypeError, urlweir.links, 5, "http://h/")
    raises(TypeError, urlweir.Robots, 5, "x")
    raises(TypeError, urlweir.canonical, 5)


def check_docs(work):
    with open(TOP + "/docs/library.md", encoding="utf-8") as f:
        code = re.findall(r"^```python\n(.*?)^```", f.read(), re.S | re.M)
    assert code
    os.chdir(work)
    exec(compile("\n".join(code), "docs/library.md", "exec"), {})


work = tempfile.mkdtemp(prefix="urlweir-python.")
try:
    for tool in ("make", "pkg-config", "cc"):
        if shutil.which(tool) is None:
            print("skipped, no %s here" % tool)
            sys.exit(77)
    install(work)
    import urlweir  # noqa: E402

    urls = all_urls()
    check_urls(urls)
    check_robots(urls)
    check_links()
    check_sitemaps()
    check_filters(work)
    check_sets(work)
    check_keys(work)
    check_fork(work)
    check_shared(work)
    check_docs(work)
    print("%d URLs, every page and sitemap of the corpus: as urlweir says" % len(urls))
finally:
    os.chdir("/")
    shutil.rmtree(work)
