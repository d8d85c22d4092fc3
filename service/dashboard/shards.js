// SPDX-License-Identifier: MIT
// shards.js - a crawl on many machines: the figures of all its shards together,
// and a row for each, with the worker that has it.

import {plot} from './crawl.js';
import {byId, bytes, count, fill, foreign, renderTable, rough, setText} from './dom.js';

// The states of status, in words that the style sheet has a colour for.
const KINDS = {'not finished': 'running', 'paused': 'paused', 'finished': 'stopped'};
export const kindOf = (cluster) => KINDS[cluster.state] ?? 'stopped';

let plots = null;

export function renderCluster(c, history, now) {
    plots ??= {pages: plot('cluster-rate', rough), bytes: plot('cluster-speed', bytes), queued: plot('cluster-queued', count)};
    byId('cluster-title').replaceChildren(foreign(c.cluster));
    byId('cluster-state').className = `state ${kindOf(c)}`;
    setText(byId('cluster-state'), c.state);
    fill(byId('cluster-figures'), {
        pages: count(c.pages), rate: rough(history.rate('pages')), urls: count(c.urls), queued: count(c.queued),
        failed: count(c.failed), bytes: bytes(c.bytes), way: count(c.sent),
    });
    plots.pages(history.rates('pages'), now);
    plots.bytes(history.rates('bytes'), now);
    plots.queued(history.line('queued'), now);
    renderTable(byId('shards-table'), [
        {name: 'shard', kind: 'number', of: (r) => count(r.shard)},
        {name: 'worker', kind: 'wide', of: (r) => foreign(r.worker ?? '–')},
        {name: 'state', of: (r) => r.state},
        {name: 'pages', kind: 'number', of: (r) => count(r.pages)},
        {name: 'URLs', kind: 'number', of: (r) => count(r.urls)},
        {name: 'queued', kind: 'number', of: (r) => count(r.queued)},
        {name: 'failed', kind: 'number', of: (r) => count(r.failed)},
        {name: 'sent', kind: 'number', of: (r) => count(r.sent)},
        {name: 'received', kind: 'number', of: (r) => count(r.received)},
    ], c.shards, (r) => r.shard, 'No shard is known yet.');
}
