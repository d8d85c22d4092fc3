#!/usr/bin/env python3
# pip: confluent-kafka duckdb
"""-j kafka://HOST/TOPIC on real brokers, read by another client: URLWEIR and SITE set. LONG=1: three brokers, more kills.

A crawl is killed again and again, and a broker with it: who reads committed messages finds each line exactly once,
keyed by host, in the order of the store for each host. Another process with a copy of the directory fences; a topic
that would lose lines, a password that is wrong, brokers that are not there are refused with a reason; brokers that go
away are waited for. SEED=N repeats the moments of the kills.
"""
# Promise (Cluster): secrets of a cluster are not in Kafka: each worker has its
#   own, and one that lacks some does not start; each line of its shards comes
#   once, in files and in a topic, though a worker is lost with its disk. See
#   also `make check-cluster T="secrets lines"`.
# Promise (Archives): lines of JSON in a Kafka topic: consumers of committed
#   messages get each final row's line once, keyed by host, in order for each
#   host, also after kills of the crawl and of brokers; a copy of the directory
#   fences the original; a topic that would lose lines is refused; properties
#   are secrets. See also `kafka_address`, `kafka_client`,
#   `tests/cli/secrets.sh`.
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import confluent_kafka
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from background import wait_for  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
LONG = bool(os.environ.get('LONG'))
SEED = int(os.environ.get('SEED', time.time()))
URLWEIR = os.environ['URLWEIR']
QUICK = ['--scope', 'any', '--allow-private', '--delay', '0', '--retry-delay', '50ms', '--max-delay', '100ms', '--min-disk', '0', '-q']
work = tempfile.mkdtemp(prefix='urlweir-kafka.')
os.chdir(work)
chance = random.Random(SEED)


def kafka(*words):
    return subprocess.run([TOP + '/tools/kafka.sh', *words], stdout=subprocess.PIPE, text=True)


class Site:
    """The test web, as a context."""
    def __init__(self, *options):
        self.options = options

    def __enter__(self):
        self.log = tempfile.mktemp(dir=work)
        self.process = subprocess.Popen([os.environ['SITE'], 'serve', *self.options, '--log', self.log, '--max-time', '1800', '--stdin-guard'],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seed = 'http://127.0.0.1:%s/' % self.process.stdout.readline().split()[1]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def arrivals(self):
        with open(self.log, 'rb') as f:
            return f.read().count(b'\n')


def run(*words, wants=0):
    r = subprocess.run([URLWEIR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert r.returncode == wants, (words, r.returncode, r.stdout, r.stderr)
    return r.stderr


def says(text, *phrases):
    for phrase in phrases:
        assert phrase in text, (phrase, text)


def queued(directory):
    return json.loads(subprocess.run([URLWEIR, 'status', directory, '--json'], stdout=subprocess.PIPE).stdout)['queued']


def read(topic, brokers, **more):
    """The committed messages of a topic, partition by partition, as (key, line)."""
    c = confluent_kafka.Consumer({'bootstrap.servers': brokers, 'group.id': 'reader', 'isolation.level': 'read_committed',
                                  'enable.auto.commit': False, 'enable.partition.eof': True, **more})
    parts = c.list_topics(topic, 30).topics[topic].partitions
    c.assign([confluent_kafka.TopicPartition(topic, p, confluent_kafka.OFFSET_BEGINNING) for p in parts])
    found, left = collections.defaultdict(list), set(parts)
    until = time.monotonic() + 120
    while left:
        assert time.monotonic() < until, 'the end of %s is not reached' % topic
        m = c.poll(1)
        if m is None:
            continue
        if m.error():
            assert m.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, m.error()
            left.discard(m.partition())
            continue
        found[m.partition()].append((m.key().decode(), m.value().decode()))
    c.close()
    return found


def check_whole(directory, topic, brokers):
    """The topic has what a file of lines has, and each host is in one partition, in order."""
    run('resume', directory, '-j', directory + '.jsonl', '--once', '-q')
    with open(directory + '.jsonl', encoding='utf-8') as f:
        want = f.read().splitlines()
    found = read(topic, brokers)
    got = [line for part in found.values() for _, line in part]
    assert sorted(got) == sorted(want), (len(got), len(set(got)), len(want))
    where = {}
    for part, messages in found.items():
        last = {}
        for key, line in messages:
            line = json.loads(line)
            assert key == line['url'].split('/')[2].rpartition(':')[0], (key, line['url'])
            assert where.setdefault(key, part) == part, key
            assert line['seq'] > last.get(key, 0), (key, line['seq'])
            last[key] = line['seq']
    return len(want)


def end(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def started(words, name):
    return subprocess.Popen([URLWEIR, *words], stdout=open(name + '.out', 'a'), stderr=open(name + '.err', 'a'))


def asked_by_duckdb(topic, brokers, pages):
    """The questions of docs/data.md, as they stand there, to what a consumer has written."""
    import duckdb
    with open('pages.jsonl', 'w', encoding='utf-8') as f:
        for part in read(topic, brokers).values():
            f.writelines(line + '\n' for _, line in part)
    with open(TOP + '/docs/data.md', encoding='utf-8') as f:
        questions = re.findall(r'^duckdb web.duckdb "(.*)"$', f.read(), re.M)
    assert len(questions) == 2, questions
    db = duckdb.connect()
    db.execute(questions[0])
    rows = db.execute(questions[1]).fetchall()
    assert sum(row[1] for row in rows) == pages and all(row[2] > 0 for row in rows), rows


# ---- what is shown -----------------------------------------------------------

def killed_again_and_again(brokers):
    """Kills of the crawler, of a broker, and of both, while each is at work."""
    kills = 0
    with Site('--hosts', '40', '--pages', '4000', '--size', '3000', '--latency', '40') as site:
        words = ['crawl', site.seed, '-o', 'd', '-c', '8', '-j', 'kafka://%s/pages' % brokers, *QUICK]
        for _ in range(14 if LONG else 7):
            crawl = started(words, 'd')
            upto = site.arrivals() + chance.randrange(30, 300)
            wait_for('arrivals', lambda: crawl.poll() is not None or site.arrivals() >= upto)
            # A commit each half second: somewhere in it.
            time.sleep(chance.random() * 0.6)
            if kills % 3 == 1:
                kafka('kill', 'brokers', '1')
                time.sleep(chance.random())
                kafka('again', 'brokers', '1')
            if crawl.poll() is not None:
                break
            end(crawl)
            kills += 1
            if os.path.exists('d/frontier.db'):
                words = ['resume', 'd', '-q']
        run(*words)
    assert kills > 0
    return '%d lines once after %d kills' % (check_whole('d', 'pages', brokers), kills)


def brokers_that_go_away_are_waited_for(brokers):
    with Site('--hosts', '10', '--pages', '400', '--latency', '20') as site:
        crawl = started(['crawl', site.seed, '-o', 'away', '-j', 'kafka://%s/away' % brokers, *QUICK], 'away')
        wait_for('lines', lambda: site.arrivals() > 50, crawl)
        n = int(open('brokers/brokers').read().count(',')) + 1
        for i in range(n):
            kafka('kill', 'brokers', str(i + 1))
        wait_for('word of it', lambda: 'they wait in the store' in open('away.err').read(), crawl)
        # All is fetched meanwhile, and the crawl does not end.
        wait_for('pages', lambda: queued('away') == 0, crawl)
        crawl.send_signal(signal.SIGTERM)
        assert crawl.wait(60) in (0, 4), crawl.returncode
        # Nor is it refused while they are away; a new crawl is.
        says(run('crawl', site.seed, '-o', 'none', '-j', 'kafka://%s/away' % brokers, *QUICK, wants=2), 'kafka://', 'refused')
        assert not os.path.exists('none/frontier.db')
        crawl = started(['resume', 'away', '-q'], 'away')
        wait_for('a start', lambda: open('away.err').read().count('they wait in the store') == 2, crawl)
        for i in range(n):
            kafka('again', 'brokers', str(i + 1))
        assert crawl.wait(120) == 0, open('away.err').read()
    says(open('away.err').read(), 'the brokers take lines again')
    return '%d lines' % check_whole('away', 'away', brokers)


def a_second_process_fences(brokers):
    with Site('--hosts', '4', '--pages', '3000', '--latency', '20', '--crawl-delay', '0.1') as site:
        first = started(['crawl', site.seed, '-o', 'one', '-j', 'kafka://%s/fence' % brokers, '--limit', '50', *QUICK], 'one')
        assert first.wait(120) == 3
        shutil.copytree('one', 'two')
        first = started(['resume', 'one', '--limit', 'none', '-q'], 'one')
        wait_for('lines of rows that the copy lacks', lambda: sum(map(len, read('fence', brokers).values())) > 60, first)
        second = started(['resume', 'two', '--limit', 'none', '-q'], 'two')
        assert first.wait(120) == 4, first.returncode
        says(open('one.err').read(), 'cannot send lines', 'enced')
        # The second is the crawl now, and says what the topic has besides.
        assert second.wait(120) == 0
        says(open('two.err').read(), 'lines of rows that the store has lost')
    return 'the first has ended'


def what_a_lost_store_sent_is_known_although_brokers_come_late(brokers):
    """An old copy of a directory goes on without brokers, until it has more rows than the topic has lines."""
    with Site('--hosts', '10', '--pages', '300', '--latency', '20') as site:
        run('crawl', site.seed, '-o', 'lost', '-j', 'kafka://%s/copy' % brokers, '--limit', '50', *QUICK, wants=3)
        kept = sum(map(len, read('copy', brokers).values()))
        shutil.copytree('lost', 'copy')
        run('resume', 'lost', '--limit', '100', '-q', wants=3)
        sent = sum(map(len, read('copy', brokers).values()))
        n = int(open('brokers/brokers').read().count(',')) + 1
        for i in range(n):
            kafka('kill', 'brokers', str(i + 1))
        crawl = started(['resume', 'copy', '--limit', 'none', '-q'], 'copy')
        wait_for('all pages', lambda: queued('copy') == 0, crawl)
        for i in range(n):
            kafka('again', 'brokers', str(i + 1))
        assert crawl.wait(120) == 0, open('copy.err').read()
    says(open('copy.err').read(), 'lines of rows that the store has lost')
    run('resume', 'copy', '-j', 'copy.jsonl', '--once', '-q')
    rows = sum(1 for _ in open('copy.jsonl'))
    got = sum(map(len, read('copy', brokers).values()))
    assert sent > kept and got == sent + rows - kept, (got, sent, rows, kept)
    return '%d lines and %d' % (sent, got - sent)


def a_service_sends_the_lines_of_its_crawls(brokers):
    with Site('--hosts', '10', '--pages', '600', '--latency', '20') as site:
        with open('one.yaml', 'w', encoding='utf-8') as f:
            f.write('seeds: [%s]\nscope: any\nallow-private: true\ndelay: 0\nmax-delay: 100ms\nmin-disk: 0\nconcurrency: 8\n'
                    'jsonl: kafka://%s/service\n' % (site.seed, brokers))
        words = ['serve', 's', '--listen', '127.0.0.1:0', '--crawl', 'one.yaml']
        service = started(words, 'serve')
        wait_for('pages', lambda: site.arrivals() > 150, service)
        end(service)
        service = started(words, 'serve')
        wait_for('an end', lambda: 'crawl one: waiting; ' in open('serve.err').read(), service)
        service.send_signal(signal.SIGTERM)
        assert service.wait(60) == 0, service.returncode
    return '%d lines' % check_whole('s/crawls/one', 'service', brokers)


def another_transaction_is_waited_for(brokers):
    """The last line is found though another producer has been holding up the topic since."""
    with Site('--hosts', '4', '--pages', '100') as site:
        words = ['crawl', site.seed, '-o', 'late', '-j', 'kafka://%s/late' % brokers, '--limit', '20', *QUICK]
        run(*words, wants=3)
        other = confluent_kafka.Producer({'bootstrap.servers': brokers, 'transactional.id': 'other'})
        other.init_transactions(30)
        other.begin_transaction()
        other.produce('late.urlweir', 'nothing', 'other', partition=0)
        other.flush()
        crawl = started(['resume', 'late', '--limit', 'none', '-q'], 'late')
        wait_for('word of it', lambda: 'a transaction may be open' in open('late.err').read(), crawl)
        other.commit_transaction(30)
        assert crawl.wait(120) == 0
    return '%d lines' % check_whole('late', 'late', brokers)


def shards_send_each_line_once(brokers):
    """A worker is lost with its disk: who has its shards goes on where the topic ends, though it was told of no topic."""
    crawl, rows = 'kafka://%s/parts' % brokers, []
    with Site('--hosts', '20', '--pages', '1200', '--latency', '40') as site:
        first = started(['crawl', '--cluster', crawl, '--shards', '3', site.seed, '-o', 'w1', '-j', 'kafka://%s/shards' % brokers,
                         '-c', '8', *QUICK], 'w1')
        wait_for('pages', lambda: first.poll() is not None or site.arrivals() > 300, first)
        end(first)
        shutil.rmtree('w1')
        run('join', crawl, '-o', 'w2', '--min-disk', '0', '-q')
    for shard in range(3):
        out = subprocess.run([URLWEIR, 'export', 'w2/shards/%d' % shard], stdout=subprocess.PIPE, text=True, check=True).stdout
        rows += [json.loads(line) for line in out.splitlines()]
    want = sorted(row['url'] for row in rows if row['status'] != 'queued')
    got = sorted(json.loads(line)['url'] for part in read('shards', brokers).values() for _, line in part)
    assert got == want and len(got) > 1000, (len(got), len(set(got)), len(want))
    return '%d lines once' % len(got)


def what_cannot_work_is_refused(brokers):
    admin = AdminClient({'bootstrap.servers': brokers})
    made = admin.create_topics([NewTopic('compacted', 1, 1, config={'cleanup.policy': 'compact'}), NewTopic('short', 1, 1),
                                NewTopic('short.urlweir', 1, 1, config={'cleanup.policy': 'compact,delete'})])
    for future in made.values():
        future.result()
    to = ['crawl', 'http://127.0.0.1:9/', '-o', 'no', *QUICK, '-j']
    says(run(*to, 'kafka://%s/compacted' % brokers, wants=2), 'cleanup.policy=compact', 'one message of each key')
    says(run(*to, 'kafka://%s/short' % brokers, wants=2), 'short.urlweir', 'cleanup.policy=', 'must be compact')
    says(run(*to, 'kafka://%s/' % brokers, wants=1), 'the name of a topic')
    says(run(*to, 'kafka://%s/x' % brokers, '--kafka-property', 'transactional.id=x', wants=1), "'transactional.id'")
    # TLS and a password.
    secure = open('brokers/secure').read().strip()
    at = ['kafka://%s/secure' % secure]
    tls = ['--kafka-property', 'security.protocol=SASL_SSL', '--kafka-property', 'sasl.mechanism=PLAIN',
           '--kafka-property', 'sasl.username=urlweir']
    ca = ['--kafka-property', 'ssl.ca.location=' + os.path.abspath('brokers/ca.pem')]
    password = ['--kafka-property', 'sasl.password=weir']
    says(run(*to, *at, *tls, *ca, '--kafka-property', 'sasl.password=wrong', wants=2), 'uthentication')
    says(run(*to, *at, *tls, *password, wants=2), 'certificate')
    with Site('--hosts', '4', '--pages', '100') as site:
        run('crawl', site.seed, '-o', 'secure', *QUICK, '-j', *at, *tls, *ca, *password)
    assert 'sasl.password' not in open('secure/urlweir-settings.yaml').read()
    assert 'sasl.password=weir' in open('secure/urlweir-secrets.yaml').read()
    # What the topic of states keeps is compacted, for ever.
    kept = admin.describe_configs([ConfigResource('topic', 'secure.urlweir')])
    for future in kept.values():
        assert future.result()['cleanup.policy'].value == 'compact'
    lines = check_whole('secure', 'secure', brokers)
    asked_by_duckdb('secure', brokers, lines - 1)
    return '%d lines over TLS' % lines


def main():
    started_here = kafka('start', 'brokers', '3' if LONG else '1')
    if started_here.returncode == 77:
        print(started_here.stdout.strip())
        sys.exit(77)
    try:
        assert started_here.returncode == 0, started_here.stdout
        brokers = open('brokers/brokers').read().strip()
        print('SEED=%d' % SEED)
        only = sys.argv[1:]
        for part in (what_cannot_work_is_refused, killed_again_and_again, brokers_that_go_away_are_waited_for, a_second_process_fences,
                     what_a_lost_store_sent_is_known_although_brokers_come_late, a_service_sends_the_lines_of_its_crawls, another_transaction_is_waited_for,
                     shards_send_each_line_once):
            if not only or part.__name__ in only:
                t = time.monotonic()
                print('%s: %s (%.0f s)' % (part.__name__, part(brokers), time.monotonic() - t), flush=True)
    finally:
        kafka('stop', 'brokers')
    shutil.rmtree(work)


main()
