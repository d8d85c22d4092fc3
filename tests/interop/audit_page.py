"""`audit --html` in a browser: headless Chromium, at a desk's and a telephone's
width, in light and dark, and on paper.

What is asked of the browser: the page's own style holds under its content security policy, nothing of a URL or of a name is markup, nothing
could run if it were, nothing is fetched, nothing overflows, every text of a
plot lies within it and upon no other, and the colour of text stands out from
its ground.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import browser  # noqa: E402

URLWEIR = os.environ["URLWEIR"]

# Each text of each plot: inside its plot, and upon no other text.
TEXTS = """(() => {
  const bad = [];
  for (const svg of document.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect(), seen = [];
    if (box.width < 200 || box.height < 60) bad.push('a plot is too small');
    for (const t of svg.querySelectorAll('text')) {
      const b = t.getBoundingClientRect();
      if (b.left < box.left - 1 || b.right > box.right + 1 ||
          b.top < box.top - 1 || b.bottom > box.bottom + 1)
        bad.push('outside: ' + t.textContent);
      for (const [o, text] of seen)
        if (b.left < o.right - 1 && o.left < b.right - 1 &&
            b.top < o.bottom - 3 && o.top < b.bottom - 3)
          bad.push('upon each other: ' + t.textContent + ' | ' + text);
      seen.push([b, t.textContent]);
    }
  }
  return bad;
})()"""

# WCAG 2.1, 1.4.3: the contrast of each text to its ground is 4.5 at least.
CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => c.slice(0, 3).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const bad = new Set();
  for (const e of document.querySelectorAll('text,td,th,dt,dd,p,h1,h2,code,' +
                                            'figcaption,.good,.bad,footer')) {
    const s = getComputedStyle(e), svg = e.tagName === 'text';
    const a = light(parse(svg ? s.fill : s.color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.add(e.tagName + ' ' + ratio.toFixed(2));
  }
  return [...bad];
})()"""


def fits(b, width, scheme):
    b.look(width, scheme=scheme)
    where = "%d px, %s: " % (width, scheme)
    b.wait("document.documentElement.scrollWidth <= %d" % width)
    want = "rgb(18, 22, 29)" if scheme == "dark" else "rgb(255, 255, 255)"
    b.wait("getComputedStyle(document.body).backgroundColor === '%s'" % want)
    texts = b.value(TEXTS)
    assert texts == [], where + str(texts)
    contrast = b.value(CONTRAST)
    assert contrast == [], where + str(contrast)
    line = b.value("getComputedStyle(document.querySelector('.line')).stroke")
    want = "rgb(108, 176, 245)" if scheme == "dark" else "rgb(24, 99, 176)"
    assert line == want, where + line


def main():
    if browser.program() is None:
        print("no chromium is installed (apt-get install chromium)")
        sys.exit(77)
    home = tempfile.mkdtemp(prefix="urlweir-browser.")
    os.chdir(home)
    name = "<img src=x onerror=window.hit=1>"
    with open(name, "w") as f:
        for i in range(300000):
            f.write("http://a.example/?<img src=x onerror=window.hit=1>&%d\n" % i)
    subprocess.run([URLWEIR, "audit", "--urls", name, "--fpr", "0.3",
                    "--what-if", "0.3,1e-3", "--html", "page.html",
                    "--lost", "lost"],
                   check=True, stdout=subprocess.DEVNULL)
    b = browser.Browser(os.path.join(home, "profile"))
    try:
        b.open("file://" + os.path.join(home, "page.html"))
        for width in (1280, 768, 390):
            for scheme in ("light", "dark"):
                fits(b, width, scheme)
        # Wide tables scroll in their boxes; a plot and its table stand together.
        assert b.value("document.querySelectorAll('figure').length") == 10
        lost = sum(1 for _ in open("lost"))
        assert lost > 1000 and \
            b.value("document.querySelectorAll('.lost li').length") == 1000
        assert b.value("typeof window.hit") == "undefined", "a URL has run"
        assert b.value("document.querySelectorAll('img,script').length") == 0
        assert b.asked == ["file://" + os.path.join(home, "page.html")], b.asked
        assert b.errors == []
        # On paper: light whatever the screen is, tables whole.
        b.call("Emulation.setEmulatedMedia", media="print", features=[
            {"name": "prefers-color-scheme", "value": "dark"}])
        assert b.value("getComputedStyle(document.body).backgroundColor") == \
            "rgb(255, 255, 255)"
        assert b.value("[...document.querySelectorAll('.data')].every(e => "
                       "e.scrollHeight <= e.clientHeight + 1)")
        pdf = b.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        assert len(pdf["data"]) > 20000
        # Were the escaping ever to fail, the policy still lets nothing run.
        with open("page.html") as f, open("broken.html", "w") as broken:
            broken.write(f.read().replace(
                "<h1>", "<script>window.hit=1</script>"
                "<img src='http://127.0.0.1:9/x' onerror='window.hit=1'><h1>"))
        b.open("file://" + os.path.join(home, "broken.html"))
        assert b.value("document.querySelectorAll('img,script').length") == 2
        assert b.value("typeof window.hit") == "undefined", "the policy fails"
    finally:
        b.close()
    shutil.rmtree(home, ignore_errors=True)
    print("audit --html holds at 3 widths, in light and dark, and on paper")


main()
