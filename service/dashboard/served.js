// SPDX-License-Identifier: MIT
// served.js - the frontier that other programs use: what the stats say of it,
// its crawls by name, and one URL of theirs.

import {get} from './api.js';
import {overdue, plot} from './crawl.js';
import {address, byId, count, el, fill, foreign, renderTable, rough, seconds, setText, time} from './dom.js';

const NAMES_SHOWN = 20;

let plots = null;

export function renderServed(f, history, now) {
    plots ??= {leases: plot('leases', rough), completed: plot('completed', rough), size: plot('size', count)};
    byId('served-state').className = f.active === false ? 'state paused' : 'state running';
    setText(byId('served-state'), f.active === false ? 'inactive: nothing is handed out' : 'active');
    fill(byId('served-figures'), {
        size: count(f.size), leased: count(f.in_process), completed: count(f.completed), dated: overdue(f),
        rate: rough(history.rate('leases')), queues: `${count(f.active_queues)} of ${count(f.queues)}`,
        waiting: count(f.waiting_items),
    });
    plots.leases(history.rates('leases'), now);
    plots.completed(history.rates('completed'), now);
    plots.size(history.line('size'), now);
}

// ---- its crawls ----

// steer(name), remove(name): the buttons. Resolves to what draws them.
export async function askForNames(steer, remove, may) {
    const {crawls} = await get('v1/crawls');
    const names = crawls.filter((c) => c.kind === 'served').map((c) => c.name);
    const shown = names.slice(0, NAMES_SHOWN);
    const rows = await Promise.all(shown.map(async (name) => ({name, ...await get('v1/stats', {crawl: name})})));
    return () => renderNames(rows, names.length - rows.length, steer, remove, may);
}

function renderNames(rows, more, steer, remove, may) {
    renderTable(byId('names-table'), [
        {name: 'crawl', kind: 'wide', of: (r) => foreign(r.name)},
        {name: 'to serve', kind: 'number', of: (r) => count(r.size)},
        {name: 'leased', kind: 'number', of: (r) => count(r.in_process)},
        {name: 'completed', kind: 'number', of: (r) => count(r.completed)},
        {name: 'queues', kind: 'number', of: (r) => count(r.queues)},
        {name: 'active', kind: 'number', of: (r) => count(r.active_queues)},
        {name: 'steer', of: (r) => el('span', {},
            el('button', {type: 'button', class: 'small', 'data-role': 'write', disabled: !may('write'), onclick: () => steer(r.name)}, 'Queue…'), ' ',
            el('button', {type: 'button', class: 'small danger', 'data-role': 'admin', disabled: !may('admin'), onclick: () => remove(r.name)}, 'Delete…'))},
    ], rows, (r) => r.name, 'No URL was put yet.');
    if (more > 0)
        byId('names-table').tBodies[0].append(el('tr', {role: 'row'},
            el('td', {role: 'cell', colspan: 7, class: 'nothing'}, `${count(more)} more`)));
}

// ---- one URL ----

export function urlFacts(u) {
    const q = u.queue ?? {};
    const facts = [
        ['URL', address(u.url)], ['state', u.state], ['crawl', foreign(u.crawl)], ['key', foreign(u.key)],
        ['due', u.due_at ? time(u.due_at) : 'never again'], ['put first', time(u.created_at)],
        ['leased until', u.leased_until ? time(u.leased_until) : 'not leased'],
        ['its queue', el('span', {}, 'served ', q.served_at ? time(q.served_at) : 'never', `, every ${seconds(q.delay_seconds)}`,
            q.blocked_until ? [', blocked until ', time(q.blocked_until)] : [],
            typeof q.limit === 'number' ? `, at most ${count(q.limit)} URLs` : [])],
        ...Object.entries(u.metadata ?? {}).map(([key, values]) =>
            [foreign(key), foreign([values].flat().join(', '))]),
    ];
    return el('dl', {class: 'facts'}, facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}
