#!/usr/bin/env python3
"""Changes one token of a module at a time and lists what no suite sees.

usage: tools/mutants.py [-n N] [-s SEED] [-t TREE] FILE|FOLDER|FILE:LINE...

Works in a copy of the tree (TREE, by default build/mutants/tree). Draws N
changes out of all that the files allow; FILE:LINE makes every change of that
line. Each is compiled and runs the suites that have to do with its module, its
own first, until one fails; one that hangs has failed. A change that does not
compile, or from which the compiler makes the same code, is replaced by another.
Prints what nobody saw. The same seed on the same source draws the same changes.
docs/mutants.md says how to read the result.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

UNIT = 'build/mutants/unit'
# A change may loop for ever, fill memory or disk, and leave its children: each
# suite has processes and temporary folders of its own, which go with it.
ALONE = ['unshare', '--mount', '--pid', '--fork', '--kill-child',
         '--mount-proc'] + (['--map-root-user'] if os.getuid() != 0 else [])
RUN = f'''ulimit -c 0 && ulimit -d 3145728 &&
    mount -t tmpfs -o size=2g none /tmp &&
    mount -t tmpfs -o size=2g none /dev/shm &&
    ./{UNIT}'''
TOKEN = re.compile(r'''
    (?P<skip>\s+ | /\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^<>=!]=|.)
    ''', re.X | re.S | re.M)

# What a token may become. Operators of one operand are left out below.
CHANGES = {
    '<': ('<=', '>='), '<=': ('<', '>'), '>': ('>=', '<='), '>=': ('>', '<'),
    '==': ('!=',), '!=': ('==',), '&&': ('||',), '||': ('&&',),
    '+': ('-',), '-': ('+',), '++': ('--',), '--': ('++',),
    '<<': ('>>',), '>>': ('<<',), '&': ('|',), '|': ('&',),
    '+=': ('=', '-='), '-=': ('=', '+='), '|=': ('=', '&='), '&=': ('=', '|='),
    '!': ('',), 'true': ('false',), 'false': ('true',),
    'INT64_MAX': ('INT64_MIN',), 'INT64_MIN': ('INT64_MAX',),
}
# Calls whose arguments are no promise, and those whose absence only a
# sanitizer sees.
NOT_TOLD = re.compile(r'(static_)?assert|log_\w+|__builtin_prefetch')
FREES = re.compile(r'(\w+_)?(free|fini)|munmap')
KEYWORDS = set('return if for while do switch case default else struct const '
               'static enum union sizeof typedef extern goto'.split())


class Token:
    def __init__(self, match):
        self.kind = match.lastgroup
        self.text = match.group()
        self.at, self.end = match.span()


class Change:
    """`old` at `at` in `file` becomes `new`."""

    def __init__(self, file, source, at, end, new, what):
        self.file, self.at, self.end, self.new = file, at, end, new
        self.line = source.count('\n', 0, at) + 1
        self.what = what
        start = source.rfind('\n', 0, at) + 1
        self.text = source[start:source.find('\n', at)].strip()

    def applied(self, source):
        return source[:self.at] + self.new + source[self.end:]


def close_of(tokens, i):
    """The place of the parenthesis that closes the next one from i on."""
    depth = 0
    while i < len(tokens):
        depth += {'(': 1, ')': -1}.get(tokens[i].text, 0)
        if depth == 0 and tokens[i].text == ')':
            return i
        i += 1
    return i


def end_of_statement(tokens, i):
    depth = 0
    while i < len(tokens):
        t = tokens[i].text
        if t == ';' and depth == 0:
            return i
        depth += {'(': 1, '{': 1, '[': 1, ')': -1, '}': -1, ']': -1}.get(t, 0)
        if depth < 0:
            return None
        i += 1
    return None


def begins_statement(tokens, i, headers):
    before = tokens[i - 1].text if i > 0 else ''
    return before in (';', '{', '}', 'else') or i - 1 in headers


def statement_at(tokens, i):
    """The end of the call or assignment that begins at i, or None."""
    t, after = tokens[i], tokens[i + 1].text if i + 1 < len(tokens) else ''
    if t.text in ('break', 'continue'):
        return i + 1
    if t.text in ('*', '('):
        return end_of_statement(tokens, i)
    if t.kind != 'word' or t.text in KEYWORDS or FREES.fullmatch(t.text):
        return None
    return end_of_statement(tokens, i) if re.fullmatch(
        r'\(|\[|->|\.|\+\+|--|[-+*/%&|^]?=|<<=|>>=', after) else None


def changes_of(file, source):
    every = [Token(m) for m in TOKEN.finditer(source)]
    tokens = [t for t in every if t.kind != 'skip']
    headers = {close_of(tokens, i) for i, t in enumerate(tokens)
               if t.text in ('if', 'for', 'while', 'switch')}
    found = []

    def add(first, last, new, what):
        found.append([Change(file, source, first.at, last.end, n, what(n))
                      for n in new])

    i = 0
    while i < len(tokens):
        t = tokens[i]
        before = tokens[i - 1].text if i > 0 else ''
        after = tokens[i + 1].text if i + 1 < len(tokens) else ''
        if after == '(' and NOT_TOLD.fullmatch(t.text):
            i = close_of(tokens, i) + 1
            continue
        if begins_statement(tokens, i, headers):
            end = statement_at(tokens, i)
            if end is not None:
                last = tokens[end - 1]
                whole = source[t.at:last.end]
                add(t, last, ['\n' * whole.count('\n')],
                    lambda _: 'drop ' + ' '.join(whole.split()))
            if (t.text, after) == ('st', '=') and \
               tokens[i + 3].text == '(':
                add(t, tokens[i + 1], [''], lambda _: 'lose the status')
        if before == 'return' and after == ';' and (
                t.text == 'st' or re.fullmatch(r'STATUS_(?!OK$)\w+', t.text)):
            add(t, t, ['STATUS_OK'], lambda n: f'{t.text} to {n}')
        binary = i > 0 and (before in (')', ']') or before != 'return' and
                            tokens[i - 1].kind in ('word', 'number'))
        if t.text in CHANGES and (binary or t.text not in ('+', '-', '&')):
            add(t, t, CHANGES[t.text],
                lambda n: f'{t.text} to {n}' if n else f'{t.text} removed')
        elif t.kind == 'number' and re.fullmatch('[01][uUlL]*', t.text) and \
                not (before == '{' and after == '}'):
            flipped = str(1 - int(t.text[0])) + t.text[1:]
            add(t, t, [flipped], lambda n: f'{t.text} to {n}')
        i += 1
    return found


# ---- the copy of the tree ---------------------------------------------------

def same(a, b):
    try:
        with open(a, 'rb') as x, open(b, 'rb') as y:
            return x.read() == y.read()
    except FileNotFoundError:
        return False


def copy_tree(tree):
    """Brings the copy up to date; what is the same keeps its date, for make."""
    listed = set()
    for folder, subs, files in os.walk('.'):
        subs[:] = [s for s in subs if s not in ('build', '.git', '__pycache__')]
        for name in set(files) - {'.git'}:
            path = os.path.normpath(os.path.join(folder, name))
            listed.add(path)
            to = os.path.join(tree, path)
            if not same(path, to):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy(path, to)
    for folder, subs, files in os.walk(tree):
        subs[:] = [s for s in subs if s != 'build']
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), tree)
            if path not in listed:
                os.remove(os.path.join(tree, path))


def write(path, source):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(source)


class Tree:
    """The copy, which is the working directory from here on: the tree itself
    may be edited meanwhile."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.took = {}  # seconds, of suites that pass unchanged
        self.codes = {}  # what the compiler makes of a file unchanged
        copy_tree(self.path)
        os.chdir(self.path)

    def make(self):
        env = dict(os.environ, CCACHE_BASEDIR=self.path, CCACHE_NOHASHDIR='1')
        for name in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES'):
            env.pop(name, None)
        return subprocess.run(
            ['make', '-j2', 'MODE=mutants', 'CFLAGS=-O2 -w',
             'CC=' + os.environ.get('CC', 'gcc'), UNIT],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False)

    def code_of(self, file):
        with open(f'build/mutants/{file[:-2]}.o', 'rb') as f:
            return f.read()

    def passes(self, suite, bound, bound_of_one=60):
        """Runs a suite until a test fails; whether all of them passed within
        `bound` seconds, and each in its own."""
        p = subprocess.Popen(ALONE + ['sh', '-c', RUN], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             env=dict(os.environ, CK_RUN_SUITE=suite,
                                      CK_TAP_LOG_FILE_NAME='/dev/stdout',
                                      CK_DEFAULT_TIMEOUT=str(bound_of_one)))
        late = threading.Timer(bound, p.kill)
        late.start()
        try:
            failed = any(line.startswith(b'not ok') for line in p.stdout)
            if failed:
                p.kill()
            return p.wait() == 0 and not failed
        finally:
            late.cancel()
            p.stdout.close()

    def measure(self, suites):
        """Each has to pass unchanged: else it would see anything."""
        suites = [s for s in suites if s not in self.took]
        if suites and self.make().returncode != 0:
            sys.exit('mutants: the tree does not build any more')
        for suite in suites:
            start = time.monotonic()
            if not self.passes(suite, 1800):
                sys.exit(f'mutants: {suite} fails without any change')
            self.took[suite] = time.monotonic() - start

    def seen_by(self, suites):
        """The first suite that fails, or None: its own, then the quick. It
        has to fail twice, so that a busy machine has no say."""
        for suite in suites[:1] + sorted(suites[1:], key=self.took.get):
            took = self.took[suite]
            if not any(self.passes(suite, 120 + 20 * took, int(10 + 5 * took))
                       for _ in range(2)):
                return suite
        return None


# ---- the suites of a module -------------------------------------------------

def includes(path):
    with open(path, encoding='utf-8') as f:
        return re.findall(r'^#include "([^"]+)"', f.read(), re.M)


def reads(test):
    """The headers that a test includes, also through headers of tests."""
    found, todo = set(), [test]
    while todo:
        for h in includes(todo.pop()):
            if h not in found and os.path.exists(h):
                found.add(h)
                if h.startswith('tests/'):
                    todo.append(h)
    return found


def suites_of(file, tests):
    """Suites that include the module's header, or that of the module it is
    part of, and all of its folder and the one above. Its own come first."""
    folder, stem = os.path.split(file[:-2])
    own = {file[:-2] + '.h'} & set(includes(file))
    if not own:
        own = {h for h in includes(file) if os.path.dirname(h) == folder}
        own |= {h for o in own for h in includes(o)
                if os.path.dirname(h) == folder}
    above = os.path.dirname(folder)
    mirrors = {'tests/unit/' + f for f in (folder, above) if f}

    def order(test):
        name = os.path.basename(test)[len('test_'):-2]
        alike = len(os.path.commonprefix([name, stem]))
        return (name != stem, not stem.startswith(name), -alike,
                os.path.dirname(test) != 'tests/unit/' + folder, test)

    chosen = [t for t, headers in tests.items()
              if headers & own or os.path.dirname(t) in mirrors]
    return [os.path.basename(t)[len('test_'):-2]
            for t in sorted(chosen, key=order)]


def find_tests():
    return {os.path.join(folder, name): reads(os.path.join(folder, name))
            for folder, _, files in os.walk('tests/unit')
            for name in files if re.fullmatch(r'test_\w+\.c', name)}


# ---- the run ----------------------------------------------------------------

def files_of(names):
    for name in names:
        if os.path.isfile(name):
            yield name
        elif os.path.isdir(name):
            for folder, subs, files in os.walk(name):
                subs.sort()
                yield from sorted(f'{folder}/{f}' for f in files
                                  if f.endswith('.c'))
        else:
            sys.exit(f'mutants: no file or folder {name}')


def draw(names, seed):
    """The changes in the order in which they are tried."""
    line = [int(n.rsplit(':', 1)[1]) for n in names if ':' in n]
    sites = []
    for file in dict.fromkeys(files_of([n.split(':')[0] for n in names])):
        with open(file, encoding='utf-8') as f:
            sites += changes_of(file, f.read())
    if line:
        return [c for site in sites for c in site if c.line in line]
    rng = random.Random(seed)
    rng.shuffle(sites)
    return [rng.choice(site) for site in sites]


def try_change(tree, change, tests):
    """'seen by SUITE', 'unseen', or why it is no change at all."""
    with open(change.file, encoding='utf-8') as f:
        source = f.read()
    suites = suites_of(change.file, tests)
    tree.measure(suites)
    before = tree.codes.setdefault(change.file, tree.code_of(change.file))
    try:
        write(change.file, change.applied(source))
        if tree.make().returncode != 0:
            return 'does not compile'
        if tree.code_of(change.file) == before:
            return 'the same code'
        suite = tree.seen_by(suites)
        return f'seen by {suite}' if suite else 'unseen'
    finally:
        write(change.file, source)  # the next make compiles it


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument('-n', type=int, default=20)
    arg.add_argument('-s', type=int, default=random.randrange(10000))
    arg.add_argument('-t', default='build/mutants/tree')
    arg.add_argument('names', nargs='+')
    a = arg.parse_args()
    tree = Tree(a.t)
    changes = draw(a.names, a.s)
    tests = find_tests()
    built = tree.make()
    if built.returncode != 0:
        sys.exit(built.stdout)
    print(f'{a.n} of {len(changes)} changes, seed {a.s}', flush=True)
    made = seen = 0
    with open('build/log', 'w', encoding='utf-8') as log:
        for c in changes:
            if made == a.n:
                break
            result = try_change(tree, c, tests)
            say = f'{c.file}:{c.line}: {c.what}'
            print(f'{say}: {result}', file=log, flush=True)
            made += result.startswith(('seen', 'unseen'))
            seen += result.startswith('seen')
            if result == 'unseen':
                print(f'{say}\n    {c.text}', flush=True)
    print(f'{made} changes, {seen} seen ({100 * seen // max(made, 1)} %)')


if __name__ == '__main__':
    main()
