#!/usr/bin/env python3
"""Changes one token of a module at a time and lists what no test sees.

usage: tools/mutants.py [-n N] [-s SEED] [-t TREE] [--play SEEDS]
           [--simulator last|first|alone] FILE|FOLDER|FILE:LINE...

Works in a copy of the tree (TREE, by default build/mutants/tree). Draws N
changes out of all that the files allow; FILE:LINE makes every change of that
line. Each is compiled and runs the suites that execute the line, the module's
own first, until one fails; one that hangs has failed. Then, or first, or with
no suite at all, the simulator plays SEEDS seeds (300; 0 for none). A change
that does not compile, or from which the compiler makes the same code, is
replaced by another.
Prints what nobody saw, and counts those apart that REVIEWED says leave the same
program. The same seed on the same source draws the same changes. docs/mutants.md
says how to read the result.
"""
# Promise (Installing and checks): the suites fail when the code of the core
#   folders is wrong: in a fresh sample, nine of ten random changes of one
#   token or more (54 of 56 that made another program, 96 %; 54 of all 60).
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

# Changes that a person found to leave the same program, a line each: file, what,
# column, text of the line, why, with tabs between them.
REVIEWED = 'tools/mutants-reviewed.tsv'
# Seconds for which suites behind the first run for a drawn change.
MOST = 60
# Where gcov counts what each suite executes; elsewhere includes decide.
COVERED = ('frontier', 'storage', 'filter', 'crawler', 'job')
COUNTED = ['LDFLAGS=--coverage', '--eval',
           ' '.join(f'build/covered/{f}/%.o' for f in COVERED) +
           ': EXTRA_CFLAGS = --coverage -O0']
# A change may loop for ever, fill memory or disk, and leave its children: each
# suite has processes and temporary folders of its own, which go with it.
ALONE = ['unshare', '--mount', '--pid', '--fork', '--kill-child',
         '--mount-proc'] + (['--map-root-user'] if os.getuid() != 0 else [])
RUN = '''ulimit -c 0 && ulimit -d 3145728 &&
    mount -t tmpfs -o size=2g none /tmp &&
    mount -t tmpfs -o size=2g none /dev/shm &&
    exec'''
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
# sanitizer sees, or nobody (pthread_mutex_destroy).
NOT_TOLD = re.compile(r'(static_)?assert|log_\w+|__builtin_prefetch')
FREES = re.compile(r'(\w+_)?(free|fini|destroy)|munmap')
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
        self.last = source.count('\n', 0, end) + 1
        self.what = what
        start = source.rfind('\n', 0, at) + 1
        self.text = source[start:source.find('\n', at)].strip()
        column = at - start - source[start:].index(self.text) + 1
        self.key = '\t'.join((file, what, str(column), self.text))

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
        self.codes = {}  # what the compiler makes of a file unchanged
        self.known_to_fail = set()  # seeds of the simulator
        copy_tree(self.path)
        os.chdir(self.path)

    def make(self, mode='mutants', more=(), program='unit'):
        env = dict(os.environ, CCACHE_BASEDIR=self.path, CCACHE_NOHASHDIR='1')
        for name in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES'):
            env.pop(name, None)
        return subprocess.run(
            ['make', '-j2', f'MODE={mode}', 'CFLAGS=-O2 -w', *more,
             'CC=' + os.environ.get('CC', 'gcc'), f'build/{mode}/{program}'],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False)

    def code_of(self, file):
        with open(f'build/mutants/{file[:-2]}.o', 'rb') as f:
            return f.read()

    def passes(self, suite, bound, bound_of_one=60, mode='mutants',
               enough=float('inf')):
        """Runs a suite until a test fails; whether all of them passed within
        `bound` seconds, and each in its own, or none failed for `enough`."""
        run = f'{RUN} build/{mode}/unit'
        p = subprocess.Popen(ALONE + ['sh', '-c', run], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             env=dict(os.environ, CK_RUN_SUITE=suite,
                                      CK_TAP_LOG_FILE_NAME='/dev/stdout',
                                      CK_DEFAULT_TIMEOUT=str(bound_of_one)))
        begun = time.monotonic()
        late = threading.Timer(min(bound, enough), p.kill)
        late.start()
        try:
            failed = any(line.startswith(b'not ok') for line in p.stdout)
            if failed:
                p.kill()
            ended = p.wait()
            return not failed and (
                ended == 0 or time.monotonic() - begun >= enough)
        finally:
            late.cancel()
            p.stdout.close()

    def play(self, program, seeds, begin=1):
        """The first seed from `begin` on that fails; None. A change may have
        it play for ever: then it is the seed that it began with."""
        run = f'{RUN} build/mutants/{program} -f {seeds - begin + 1} {begin}'
        try:
            said = subprocess.run(
                ALONE + ['sh', '-c', run], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                check=False, timeout=120 + 2 * seeds).stdout
        except subprocess.TimeoutExpired:
            return begin
        failed = re.findall(r'^seed (\d+) fails', said, re.M)
        if not failed and ' seeds in ' not in said:
            return begin  # it ended itself
        return min(map(int, failed), default=None)

    def seen_in_play(self, seeds):
        """The first seed that fails with the change and not without; None."""
        begin = 1
        while begin <= seeds:
            if self.make(program='sim').returncode != 0:
                return None
            failed = self.play('sim', seeds, begin)
            if failed is None or failed not in self.known_to_fail:
                return failed
            begin = failed + 1
        return None

    def play_unchanged(self, seeds):
        """Notes which seeds fail without any change."""
        built = self.make(program='sim')
        if built.returncode != 0:
            sys.exit(built.stdout)
        failed = self.play('sim', seeds)
        while failed is not None:
            self.known_to_fail.add(failed)
            failed = self.play('sim', seeds, failed + 1)

    def seen_by(self, suites, most):
        """The first suite that fails, or None; `suites`: with the seconds they
        take. One has to fail twice, so that a busy machine has no say. Behind
        the first they run for `most` seconds, and the last no further."""
        enough = float('inf')
        for suite, took in suites:
            begun = time.monotonic()
            if not any(self.passes(suite, 120 + 20 * took, int(10 + 5 * took),
                                   enough=enough) for _ in range(2)):
                return suite
            enough = most if enough > most else \
                enough - (time.monotonic() - begun)
            if enough <= 0:
                break
        return None


# ---- what each suite executes -----------------------------------------------

def digest(paths):
    whole = hashlib.sha256()
    for path in paths:
        with open(path, 'rb') as f:
            whole.update(f.read())
    return whole.hexdigest()


class Coverage:
    """The lines that each suite executes, kept in build/coverage.json. A suite
    runs again when its test is no longer the same. Of a file that is not, only
    which suites executed it is still known."""

    KEPT = 'build/coverage.json'

    def __init__(self, tree, tests):
        self.tree = tree
        self.keys = {t[t.rindex('/test_') + 6:-2]: digest(
            [t] + sorted(h for h in headers if h.startswith('tests/')))
            for t, headers in tests.items()}
        self.suites, self.known = {}, {}
        if os.path.exists(self.KEPT):
            with open(self.KEPT, encoding='utf-8') as f:
                self.suites, self.known = json.load(f)
        self.suites = {s: of for s, of in self.suites.items() if s in self.keys}
        self.update()

    def update(self):
        stale = [s for s, key in self.keys.items()
                 if s not in self.suites or self.suites[s]['key'] != key]
        if not stale:
            return
        now = {f: digest([f]) for f in files_of(COVERED)}
        built = self.tree.make('covered', COUNTED)
        if built.returncode != 0:
            sys.exit(built.stdout)
        print(f'what {len(stale)} suites execute is measured', flush=True)
        counts = [f'build/covered/{file[:-2]}.gcda' for file in now]
        for suite in stale:
            for path in filter(os.path.exists, counts):
                os.remove(path)
            start = time.monotonic()
            if not any(self.tree.passes(suite, 1800, 240, 'covered')
                       for _ in range(2)):
                sys.exit(f'mutants: {suite} fails without any change')
            self.suites[suite] = {'key': self.keys[suite],
                                  'took': time.monotonic() - start,
                                  'ran': self.ran(counts, now)}
            with open(self.KEPT, 'w', encoding='utf-8') as f:
                json.dump((self.suites, self.known), f)

    def ran(self, counts, now):
        """What gcov says of the suite that ran last."""
        counts = [path for path in counts if os.path.exists(path)]
        said = subprocess.run(['gcov', '--json-format', '--stdout', *counts],
                              stdout=subprocess.PIPE, check=True).stdout
        ran = {}
        for of in (f for text in said.splitlines()
                   for f in json.loads(text)['files'] if f['file'] in now):
            lines = of['lines']
            self.known[of['file']] = sorted({e['line_number'] for e in lines})
            if any(e['count'] for e in lines):
                ran[of['file']] = (now[of['file']], sorted(
                    {e['line_number'] for e in lines if e['count']}))
        return ran

    def executing(self, change, source):
        """The suites that execute the change, or, if it stands outside of all
        functions or the file was another then, the file."""
        key = hashlib.sha256(source.encode()).hexdigest()
        known = self.known.get(change.file, [])
        first = max((k for k in known if k <= change.line), default=0)
        between = source.split('\n')[max(first - 1, 0):change.line - 1]
        outside = first == 0 or any(b.startswith('}') for b in between)
        lines = set(known if outside else range(first, change.last + 1))
        ran = {s: of['ran'][change.file] for s, of in self.suites.items()
               if change.file in of['ran']}
        return [s for s, (then, executed) in ran.items()
                if then != key or not lines.isdisjoint(executed)]

    def choose(self, change, source, tests):
        """The suites to run, with the seconds they take: of those that execute
        the change the module's own, then the others of the module, the quick
        ones first, then those of others."""
        near = suites_of(change.file, tests)
        ran = self.executing(change, source) or near
        own = [s for s in near if s in ran]
        others = [s for s in ran if s not in own]
        return [(suite, took) for some in (own[:1], own[1:], others)
                for took, suite in sorted((self.suites[s]['took'], s)
                                          for s in some)]


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


def tries(tree, change, source, tests, coverage, a):
    """What sees the change, or None."""
    most = float('inf') if any(':' in n for n in a.names) else MOST
    for kind in {'last': ('suites', 'seeds'), 'first': ('seeds', 'suites'),
                 'alone': ('seeds',)}[a.simulator]:
        if kind == 'suites':
            by = tree.seen_by(coverage.choose(change, source, tests), most)
        else:
            seed = tree.seen_in_play(a.play)
            by = seed and f'seed {seed} of the simulator'
        if by:
            return by
    return None


def try_change(tree, change, tests, coverage, a):
    """'seen by SUITE', 'unseen', or why it is no change at all."""
    with open(change.file, encoding='utf-8') as f:
        source = f.read()
    before = tree.codes.setdefault(change.file, tree.code_of(change.file))
    try:
        write(change.file, change.applied(source))
        if tree.make().returncode != 0:
            return 'does not compile'
        if tree.code_of(change.file) == before:
            return 'the same code'
        by = tries(tree, change, source, tests, coverage, a)
        return f'seen by {by}' if by else 'unseen'
    finally:
        write(change.file, source)  # the next make compiles it


def read_reviewed():
    with open(REVIEWED, encoding='utf-8') as f:
        return {line.rsplit('\t', 1)[0] for line in f if not line.startswith('#')}


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument('-n', type=int, default=20)
    arg.add_argument('-s', type=int, default=random.randrange(10000))
    arg.add_argument('-t', default='build/mutants/tree')
    arg.add_argument('--play', type=int, default=300)
    arg.add_argument('--simulator', choices=['last', 'first', 'alone'],
                     default='last')
    arg.add_argument('names', nargs='+')
    a = arg.parse_args()
    tree = Tree(a.t)
    changes = draw(a.names, a.s)
    tests = find_tests()
    coverage = a.simulator != 'alone' and Coverage(tree, tests)
    built = tree.make()
    if built.returncode != 0:
        sys.exit(built.stdout)
    tree.play_unchanged(a.play)
    print(f'{a.n} of {len(changes)} changes, seed {a.s}', flush=True)
    reviewed = read_reviewed()
    made = seen = same = 0
    with open('build/log', 'w', encoding='utf-8') as log:
        for c in changes:
            if made == a.n:
                break
            result = try_change(tree, c, tests, coverage, a)
            say = f'{c.file}:{c.line}: {c.what}'
            print(f'{say}: {result}', file=log, flush=True)
            made += result.startswith(('seen', 'unseen'))
            seen += result.startswith('seen')
            if result == 'unseen':
                same += c.key in reviewed
                mark = 'reviewed: ' if c.key in reviewed else ''
                print(f'{mark}{say}\n    {c.key}', flush=True)
            elif c.key in reviewed:
                print(f'not the same program: {say}: {result}', flush=True)
    print(f'{made} changes, {same} reviewed as the same program; of the others '
          f'{seen} of {made - same} seen ({100 * seen // max(made - same, 1)} %)')


if __name__ == '__main__':
    main()
