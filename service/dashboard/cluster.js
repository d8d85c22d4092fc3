// SPDX-License-Identifier: MIT
// cluster.js - a crawl in a cluster as a whole: its workers, URLs by state, the
// largest shards, memory of the servers. docs/formats/status.md has what they say.

import {History, plot} from './crawl.js';
import {byId, bytes, count, el, fill, foreign, renderTable, rough, seconds, setText} from './dom.js';

let plots = null;
const histories = new Map(); // by name of the crawl

export function follow(name, state, at) {
    if (typeof state.seen !== 'number')
        return;
    if (!histories.has(name))
        histories.set(name, new History());
    histories.get(name).add(at, {done: state.done, waiting: state.waiting, rate: state.pages_per_second}, 'done');
}

const rates = (o) => o.alive === false ? '' : `${rough(o.pages_per_second)}, ${bytes(o.bytes_per_second)}`;

function renderWorkers(s) {
    renderTable(byId('workers-table'), [
        {name: 'worker', kind: 'wide', of: (w) => [foreign(`${w.host ?? '?'}:${w.dir ?? '?'}`), el('span', {class: 'soft'}, ` process ${w.pid}`)]},
        {name: 'state', of: (w) => w.alive ? w.full_server ? el('span', {class: 'warn'}, 'refused by ', foreign(w.full_server)) : 'alive'
            : el('span', {class: 'bad'}, `not heard for ${seconds(w.heard_seconds)}`)},
        {name: 'pages', kind: 'number', of: (w) => count(w.pages)},
        {name: 'pages, bytes a second', kind: 'number', of: rates},
        {name: 'leases', kind: 'number', of: (w) => w.alive ? count(w.leases) : ''},
        {name: 'settings', kind: 'number', of: (w) => w.alive ? el('span', {class: w.settings_version === s.settings_version ? '' : 'warn'},
            `version ${w.settings_version}`) : ''},
        {name: 'calls repeated, connections lost, holds', kind: 'number', of: (w) => w.alive ?
            [w.repeats, w.connections_lost, w.holds].map(count).join(', ') : ''},
    ], s.workers ?? [], (w) => w.worker, 'Nobody works on it.');
}

function renderShards(s) {
    renderTable(byId('shards-table'), [
        {name: 'shard', kind: 'number', of: (r) => String(r.shard)},
        {name: 'seen', kind: 'number', of: (r) => count(r.seen)},
        {name: 'waiting', kind: 'number', of: (r) => count(r.waiting)},
        {name: 'leased', kind: 'number', of: (r) => count(r.leased)},
        {name: 'done', kind: 'number', of: (r) => count(r.done)},
    ], s.largest_shards ?? [], (r) => String(r.shard), 'It has no URL yet.');
    renderTable(byId('servers-table'), [
        {name: 'server', kind: 'wide', of: (r) => foreign(r.server)},
        {name: 'memory', kind: 'number', of: (r) => [bytes(r.used_memory), el('span', {class: r.full ? 'bad' : 'soft'},
            r.maxmemory > 0 ? ` of ${bytes(r.maxmemory)}${r.full ? ', full' : ''}` : ' of no limit')]},
    ], s.servers ?? [], (r) => r.server, 'None has answered.');
}

// held: what is shown stands still.
export function renderCluster(name, s, now) {
    byId('cluster').hidden = !s;
    if (!s)
        return;
    plots ??= {rate: plot('cluster-rate', rough), waiting: plot('cluster-waiting', count)};
    setText(byId('cluster-note'), [s.cluster, s.state === 'unreachable' ? `not reached: ${s.why}` : s.state].filter(Boolean).join(' · '));
    byId('cluster-note').className = s.state === 'unreachable' || s.state === 'full' ? 'bad' : '';
    if (typeof s.seen !== 'number')
        return;
    fill(byId('cluster-figures'), {
        workers: count(s.workers_alive), rate: rough(s.pages_per_second), speed: `${bytes(s.bytes_per_second)}/s`,
        waiting: count(s.waiting), done: count(s.done), memory: bytes(s.memory?.sum),
    });
    fill(byId('cluster-urls'), {
        seen: count(s.seen), pages: count(s.pages), leased: count(s.leased), lost: count(s.leases_lost), hosts: count(s.hosts_waiting),
        shards: count(s.shards), version: count(s.settings_version),
    });
    fill(byId('cluster-memory'), Object.fromEntries(Object.entries(s.memory ?? {}).map(([kind, n]) => [kind, bytes(n)])));
    const h = histories.get(name);
    plots.rate(h.line('rate'), now);
    plots.waiting(h.line('waiting'), now);
    renderWorkers(s);
    renderShards(s);
}
