#!/usr/bin/env python3
"""What Prometheus makes of /metrics: URLWEIR=build/release/urlweir SITE=build/release/tests/support/site tests/interop/prometheus.py

A service with a crawl of its own, and two readers. Prometheus' own parser in Python reads every page. promtool (Debian's
package, unpacked under build/, nothing is installed) checks a page by its lint rules, the alerts, each expression of the
dashboard, and that the alerts go off when they should. A Prometheus server then scrapes the service, with the alerts
loaded, and answers each expression of the dashboard. Skipped with a line where the package cannot be had.
"""
# pip: prometheus_client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from background import free_port, own_address, wait_for, wait_until_said  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get('URLWEIR', TOP + '/build/release/urlweir'))
SITE = os.path.abspath(os.environ.get('SITE', TOP + '/build/release/tests/support/site'))
PACKAGE = TOP + '/build/prometheus'
ALERTS = TOP + '/packaging/prometheus-urlweir-alerts.yaml'
BOARD = json.load(open(TOP + '/packaging/grafana-urlweir.json'))
started = []


def start(args, out, cwd):
    started.append(subprocess.Popen(args, stdout=open(os.path.join(cwd, out), 'w'), stderr=subprocess.STDOUT, cwd=cwd))
    return started[-1]


def get(url):
    try:
        return urllib.request.urlopen(url, timeout=120).read().decode()
    except urllib.error.HTTPError as e:
        return '' if e.code == 503 else e.read().decode()  # not ready yet
    except OSError:
        return ''


def promtool(*args, **more):
    r = subprocess.run([PACKAGE + '/usr/bin/promtool', *args], capture_output=True, text=True, **more)
    assert r.returncode == 0, (args, r.stdout, r.stderr)
    return r.stdout + r.stderr


def families(page):
    """Name to type, of a page that the Python client reads; samples that repeat are refused."""
    seen, result = set(), {}
    for family in text_string_to_metric_families(page):
        name = family.name + ('_total' if family.type == 'counter' else '')
        assert name not in result and family.documentation, name
        assert family.type in ('counter', 'gauge', 'histogram'), family.type
        result[name] = family.type
        for s in family.samples:
            key = (s.name, tuple(sorted(s.labels.items())))
            assert key not in seen, key
            seen.add(key)
            assert s.timestamp is None
    return result


def expressions():
    """Of the dashboard, as Grafana would send them, choosing all."""
    for panel in BOARD['panels']:
        for target in panel.get('targets', []):
            e = target['expr'].replace('$__rate_interval', '1m')
            yield panel['title'], e.replace('$instance', '.*').replace('$crawl', '.*')


def check_rules(folder):
    promtool('check', 'rules', ALERTS)
    rules = [{'record': 'board:e%d' % i, 'expr': e} for i, (_, e) in enumerate(expressions())]
    path = os.path.join(folder, 'board.json')  # JSON is YAML
    json.dump({'groups': [{'name': 'board', 'rules': rules}]}, open(path, 'w'))
    promtool('check', 'rules', path)
    return len(rules)


def series(name, values, **labels):
    labels.update(instance='i', job='j')
    return {'series': name + '{' + ','.join('%s="%s"' % kv for kv in labels.items()) + '}', 'values': values}


def check_alerts(folder):
    """Each goes off, and not where all is well."""
    state = series('urlweir_crawl_state', '1x120', crawl='c', state='running')
    rate = 'urlweir_crawl_filter_false_positive_ratio'
    bad = {
        'UrlweirStoreBroken': [series('urlweir_frontier_broken', '1x120')],
        'UrlweirCrawlFailed': [series('urlweir_crawl_state', '1x120', crawl='c', state='failed')],
        'UrlweirCheckpointOld': [series('urlweir_crawl_last_checkpoint_timestamp_seconds', '1x120', crawl='c'), state],
        'UrlweirCheckpointsFail': [series('urlweir_crawl_checkpoint_failures_total', '0+1x120', crawl='c')],
        'UrlweirManyFailures': [
            series('urlweir_crawl_urls_done_total', '0+40x120', crawl='c', status='failed', reason='dns'),
            series('urlweir_crawl_urls_done_total', '0+60x120', crawl='c', status='fetched', reason='')],
        'UrlweirFilterAbovePromise': [series(rate, '0.002x120', crawl='c', rate='measured_low'),
                                      series(rate, '0.001x120', crawl='c', rate='promised')],
        'UrlweirFilterOverfull': [series('urlweir_crawl_filter_overfull', '1x120', crawl='c')],
        'UrlweirDiskLow': [series('urlweir_disk_free_bytes', '4e9x120'), series('urlweir_disk_size_bytes', '1e11x120')],
        'UrlweirCommitsSlow': [
            series('urlweir_frontier_commit_duration_seconds_bucket', '0+1x120', le='1'),
            series('urlweir_frontier_commit_duration_seconds_bucket', '0+5x120', le='2.5'),
            series('urlweir_frontier_commit_duration_seconds_bucket', '0+5x120', le='+Inf')],
        'UrlweirFrontierFull': [series('urlweir_frontier_waiting_items', '60000x120')],
        'UrlweirDescriptorsShort': [series('urlweir_process_open_fds', '950x120'),
                                    series('urlweir_process_max_fds', '1000x120')],
        'UrlweirCrawlIdle': [series('urlweir_crawl_pages_total', '7x120', crawl='c'),
                             series('urlweir_crawl_ready_hosts', '3x120', crawl='c'), state],
    }
    names = re.findall(r'alert: (\w+)', open(ALERTS).read())
    assert sorted(names) == sorted(bad), 'alerts without a case here, or the other way round'
    good = [state, series('urlweir_frontier_broken', '0x120'),
            series('urlweir_crawl_state', '0x120', crawl='c', state='failed'),
            series('urlweir_crawl_last_checkpoint_timestamp_seconds', '0+60x120', crawl='c'),
            series('urlweir_crawl_checkpoint_failures_total', '0x120', crawl='c'),
            series('urlweir_crawl_urls_done_total', '0+1x120', crawl='c', status='failed', reason='dns'),
            series('urlweir_crawl_urls_done_total', '0+99x120', crawl='c', status='fetched', reason=''),
            series(rate, '0.0009x120', crawl='c', rate='measured_low'),
            series(rate, '0.001x120', crawl='c', rate='promised'),
            series('urlweir_crawl_filter_overfull', '0x120', crawl='c'),
            series('urlweir_disk_free_bytes', '5e10x120'), series('urlweir_disk_size_bytes', '1e11x120'),
            series('urlweir_frontier_commit_duration_seconds_bucket', '0+5x120', le='0.005'),
            series('urlweir_frontier_commit_duration_seconds_bucket', '0+5x120', le='+Inf'),
            series('urlweir_frontier_waiting_items', '10x120'),
            series('urlweir_process_open_fds', '95x120'), series('urlweir_process_max_fds', '1000x120'),
            series('urlweir_crawl_pages_total', '0+7x120', crawl='c'),
            series('urlweir_crawl_ready_hosts', '3x120', crawl='c')]
    # Whether one is on is asked of ALERTS, as its labels and words are not the matter here.
    tests = [{'interval': '1m', 'input_series': inputs, 'promql_expr_test': [
        {'expr': 'count(ALERTS{alertname="%s",alertstate="firing"})' % name, 'eval_time': '1h50m',
         'exp_samples': [{'labels': '{}', 'value': 1}]}]} for name, inputs in bad.items()]
    tests.append({'interval': '1m', 'input_series': good, 'promql_expr_test': [
        {'expr': 'ALERTS{alertstate="firing"}', 'eval_time': '1h50m', 'exp_samples': []}]})
    path = os.path.join(folder, 'alerts-test.json')
    json.dump({'rule_files': [ALERTS], 'evaluation_interval': '1m', 'tests': tests}, open(path, 'w'))
    promtool('test', 'rules', path)
    return len(bad)


def begin_service(folder):
    site = start([SITE, 'serve', '--hosts', '10', '--pages', '1500', '--profile', 'errors,robots', '--max-time', '1800'],
                 'port', folder)
    port = wait_until_said(folder + '/port', r'port (\d+)', site)
    with open(folder + '/one.yaml', 'w') as f:
        f.write('\n'.join((
            'seeds: ["http://127.0.0.1:%s/"]' % port, 'scope: any', 'allow-private: true', 'sitemap: off', 'delay: 0',
            'retry-delay: 50ms', 'max-delay: 100ms', 'min-disk: 0', 'checkpoint: 1s', '')))
    service = start([BIN, 'serve', 'd', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--crawl', 'one.yaml'],
                    'serve.err', folder)
    return wait_until_said(folder + '/serve.err', r'HTTP on (\S+)', service)


def begin_prometheus(folder, service):
    """With time enough for a scrape: after one that is late, queries have no answer."""
    at = '%s:%d' % (own_address(), free_port(own_address()))
    with open(folder + '/prometheus.json', 'w') as f:
        json.dump({'global': {'scrape_interval': '5s', 'scrape_timeout': '5s', 'evaluation_interval': '1s'},
                   'rule_files': [ALERTS],
                   'scrape_configs': [{'job_name': 'urlweir', 'static_configs': [{'targets': [service]}]}]}, f)
    start([PACKAGE + '/usr/bin/prometheus', '--config.file=prometheus.json', '--storage.tsdb.path=tsdb',
           '--web.listen-address=' + at], 'prometheus.out', folder)
    return 'http://%s/api/v1/' % at


def query(api, e):
    answer = json.loads(get(api + 'query?query=' + urllib.parse.quote(e)) or '{}')
    assert answer.get('status') in (None, 'success'), (e, answer)
    return answer.get('data', {}).get('result', [])


OF_THE_MACHINE = 'UrlweirDiskLow', 'UrlweirCommitsSlow'


def looked_at(api):
    """The rules, once each of them was evaluated."""
    groups = json.loads(get(api + 'rules') or '{}').get('data', {}).get('groups', [])
    rules = [rule for group in groups for rule in group['rules']]
    return rules if rules and all(rule['health'] != 'unknown' for rule in rules) else None


def main(folder):
    service = begin_service(folder)
    pages = []
    while not pages or 'urlweir_crawl_state{crawl="one",state="waiting"} 1' not in pages[-1]:
        pages.append(get('http://%s/metrics' % service))
        families(pages[-1])
        time.sleep(0.2)
    assert not promtool('check', 'metrics', input=pages[-1]).strip()
    count, alerts = check_rules(folder), check_alerts(folder)
    api = begin_prometheus(folder, service)
    wait_for('scrapes', lambda: query(api, 'sum_over_time(up{job="urlweir"}[1m]) > 2 and up == 1'), started[-1])
    rules = wait_for('look at the alerts', lambda: looked_at(api))
    [done] = query(api, 'sum(urlweir_crawl_urls_done_total)')
    [admitted] = query(api, 'urlweir_crawl_urls_admitted_total')
    assert done['value'][1] == admitted['value'][1] != '0'
    there = {s['metric']['__name__'] for s in query(api, '{__name__=~"urlweir_.+"}')}
    for name, kind in families(pages[-1]).items():
        if name == 'urlweir_frontier_call_duration_seconds':
            continue  # nobody called
        assert name + ('_bucket' if kind == 'histogram' else '') in there, name
    answers = [(title, len(query(api, e))) for title, e in expressions()]
    empty = [title for title, n in answers if n == 0]
    assert len(empty) < 15, empty
    for rule in rules:
        assert rule['health'] == 'ok', rule
        assert rule['state'] == 'inactive' or rule['name'] in OF_THE_MACHINE, rule
    print('prometheus: %d pages read by the Python client, promtool finds no fault; %d expressions, %d alerts; scraped '
          'and asked by a server' % (len(pages), count, alerts))


def have_package():
    """A mirror that does not answer may a little later; but not for ever."""
    for _ in range(2):
        try:
            if subprocess.run([TOP + '/tools/unpack-package.sh', 'prometheus', PACKAGE], timeout=300).returncode == 0:
                return True
        except subprocess.TimeoutExpired:
            break
    return False


if not have_package():
    print('prometheus: skipped, its Debian package cannot be had')
    sys.exit(77)
with tempfile.TemporaryDirectory() as work:
    try:
        main(work)
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
