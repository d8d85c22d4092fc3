#!/usr/bin/env python3
"""The promises of the program, collected from the marks beside the tests that show them.

usage: promises.py          prints them by area, each with its tests, as Markdown
       promises.py check    fails if a mark stands at no test, names a test that
                            is gone, or one of the eight of docs/testing.md has none

A mark is a comment that begins with "Promise (AREA): " or, for the eight that
may never break, "Promise N: ". In a unit suite it stands above its test, or above
the first #include for the whole suite; in a script or tool, at its head. Other
tests of the same promise follow in backticks: `suite/test`, `suite`,
`tests/cli/x.sh`, `make target`. docs/rules.md names tests in the same way;
`suite/prefix_*` is all whose names begin so.
"""
import glob
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PLACES = ["tests", "bench", "tools"]
TEST = re.compile(r"TEST(?:_[A-Z]+)?\(\s*(\w+)[,)]")
MARK = re.compile(r"Promise (\d|\([^)]+\)): (.*)", re.S)
SUITES = {os.path.basename(f)[5:-2]: f
          for f in glob.glob("tests/unit/**/test_*.c", recursive=True)}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def comments(path, text):
    """Yields each comment that is a mark, and what follows it."""
    if path.endswith(".c"):
        for m in re.finditer(r"^/\* (Promise .*?)\s*\*/\n", text, re.M | re.S):
            yield re.sub(r"\n \*\s*", " ", m.group(1)), text[m.end():]
    else:
        for m in re.finditer(r"^# (Promise (?:\d|\().*\n(?:#   .*\n)*)", text, re.M):
            yield re.sub(r"\n#\s+", " ", m.group(1)).strip(), ""


def place(path, rest):
    """What shows the promise: `suite/test`, `suite` or a file; None if no test follows."""
    if not path.startswith("tests/unit/"):
        return path
    suite = os.path.basename(path)[5:-2]
    rest = re.sub(r"\A(\s*/\*.*?\*/)*\s*", "", rest, flags=re.S)
    if rest.startswith("#"):
        return suite
    test = TEST.match(rest)
    return suite + "/" + test.group(1) if test else None


def exists(name):
    words = name.split()
    if words[0] == "make":
        words = [w for w in words[1:] if not w.startswith("-")]
        rules = read("Makefile")
        target = words[0]
        if target == "fuzz" and len(words) > 1:
            return os.path.exists("fuzz/fuzz_%s.c" % words[1][2:])
        return (os.path.exists("bench/bench_%s.c" % target[6:])
                or re.search(r"^%s:|^\.PHONY:.* %s( |$)" % (target, target), rules, re.M))
    if re.match(r"(tests|tools|fuzz|\.ci)/", name):
        return os.path.exists(name)
    suite, _, test = name.partition("/")
    if suite not in SUITES:
        return False
    if test.endswith("*"):
        test = test[:-1] + r"\w+"
    return not test or re.search(r"\bTEST(_[A-Z]+)?\(\s*%s[,)]" % test, read(SUITES[suite]))


def named_tests(text):
    return re.findall(r"`([^`]+)`", text)


def rules_tests():
    """The tests in the last column of docs/rules.md."""
    for row in re.findall(r"^\| [A-Z]\d.*\| (.*) \|$", read("docs/rules.md"), re.M):
        yield from named_tests(row)


def main():
    promises, faults = {}, []
    files = subprocess.run(["grep", "-rlE", "--include=*.c", "--include=*.py", "--include=*.sh",
                            r"^(/\*|#) Promise (\(|[0-9])", *PLACES],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    for path in sorted(files):
        for comment, rest in comments(path, read(path)):
            mark = MARK.match(comment)
            shown = place(path, rest)
            if not mark or not shown:
                faults.append("%s: no test follows: %s" % (path, comment))
                continue
            text, _, others = mark.group(2).partition(" See also ")
            others = named_tests(others)
            faults += ["%s: %s is not here" % (path, o) for o in others if not exists(o)]
            area = mark.group(1).strip("()")
            area = "Promise %s of the eight" % area if area.isdigit() else area
            promises.setdefault(area, []).append((text, [shown] + others))
    faults += ["promise %d of docs/testing.md has no test" % n for n in range(1, 9)
               if "Promise %d of the eight" % n not in promises]
    faults += ["docs/rules.md: %s is not here" % t for t in rules_tests() if not exists(t)]
    if faults:
        sys.exit("\n".join(faults))
    if sys.argv[1:] == ["check"]:
        return
    print("# Promises, and what shows each")
    for area in sorted(promises, key=lambda a: (not a.startswith("Promise"), a)):
        print("\n## %s\n" % area)
        for text, tests in promises[area]:
            print("- %s (%s)" % (text.rstrip("."), ", ".join("`%s`" % t for t in tests)))


if __name__ == "__main__":
    main()
