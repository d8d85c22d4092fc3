// SPDX-License-Identifier: MIT
// tables.js - hosts, latest answers, and the story of one URL of a crawl.

import {address, bytes, count, el, foreign, renderTable, seconds, time, byId} from './dom.js';

// ---- hosts ----

const STATES = {ready: '', busy: '', waiting: 'soft', blocked: 'warn', dead: 'bad'};

export function renderHosts(hosts, steer, maySteer) {
    renderTable(byId('hosts-table'), [
        {name: 'host', kind: 'wide', of: (h) => foreign(h.host)},
        {name: 'state', of: (h) => el('span', {class: STATES[h.state] ?? ''}, h.state,
            h.why ? [': ', foreign(h.why.replaceAll('_', ' '))] : [])},
        {name: 'queued', kind: 'number', of: (h) => count(h.queued)},
        {name: 'fetched', kind: 'number', of: (h) => count(h.fetched)},
        {name: 'failures', kind: 'number', of: (h) => count(h.failures)},
        {name: 'connections', kind: 'number', of: (h) => [count(h.connections),
            h.kept > 0 ? el('span', {class: 'soft'}, ` kept for ${count(h.kept)}`) : '']},
        {name: 'answers in', kind: 'number', of: (h) => seconds(h.latency_seconds)},
        {name: 'delay', kind: 'number', of: (h) => [seconds(h.delay_seconds),
            h.delay_why === 'delay' ? '' : el('span', {class: 'soft'}, ` ${h.delay_why.replaceAll('_', ' ')}`)]},
        {name: 'due', kind: 'tight', of: (h) => time(h.due_at)},
        {name: 'steer', of: (h) => el('button', {type: 'button', class: 'small', 'data-role': 'write', disabled: !maySteer(),
            'aria-label': `Change ${h.host}`, onclick: () => steer(h)}, 'Change…')},
    ], hosts, (h) => h.host, 'No such host.');
}

// ---- latest answers ----

function outcome(r) {
    const kind = {fetched: '', redirect: 'soft', failed: 'bad', denied: 'warn', skipped: 'warn'}[r.status] ?? '';
    const reason = r.reason && r.reason !== r.status ? `: ${r.reason.replaceAll('_', ' ')}` : '';
    return el('span', {class: kind}, foreign(`${r.status}${reason}`));
}

export function renderRecent(recent, lookUp) {
    renderTable(byId('recent-table'), [
        {name: 'at', kind: 'tight', of: (r) => time(r.fetched_at)},
        {name: 'URL', kind: 'wide', of: (r) => address(r.url)},
        {name: 'title', kind: 'wide', of: (r) => r.title ? foreign(r.title, 200) : ''},
        {name: 'became', of: outcome},
        {name: 'HTTP', kind: 'number', of: (r) => r.http_status ? String(r.http_status) : ''},
        {name: 'in', kind: 'number', of: (r) => seconds(r.elapsed)},
        {name: 'bytes', kind: 'number', of: (r) => bytes(r.wire_bytes)},
        {name: 'story', of: (r) => el('button', {type: 'button', class: 'small',
            'aria-label': `Story of ${r.url}`, onclick: () => lookUp(r.url)}, 'Story')},
    ], recent, (r) => `${r.fetched_at} ${r.url}`, 'Nothing was answered yet.');
}

// ---- the story of a URL (docs/formats/explain.md) ----

const words = (name) => name.replaceAll('_', ' ');
const URLS = new Set(['url', 'via', 'redirect_to', 'same_as']);
const TIMES = new Set(['fetched_at', 'found_at', 'lastmod']);
const APART = new Set(['history', 'url', 'status', 'state', 'reason', 'admitted']);

function value(name, v) {
    if (v !== null && typeof v === 'object')
        return foreign(JSON.stringify(v));
    if (URLS.has(name))
        return address(v);
    if (TIMES.has(name) && !Number.isNaN(Date.parse(v)))
        return time(v);
    if (typeof v === 'boolean')
        return v ? 'yes' : 'no';
    if (name.endsWith('bytes'))
        return bytes(v);
    return typeof v === 'number' ? count(v) : foreign(v);
}

function event(e) {
    const said = ['fetched_at', 'at', 'status', 'reason'], at = e.fetched_at ?? e.at;
    const li = el('li', {}, at ? [time(at), ' '] : [], el('span', {class: 'what'}, outcome(e)));
    for (const [name, v] of Object.entries(e))
        if (!said.includes(name) && v !== null)
            li.append(' · ', el('span', {class: 'soft'}, `${words(name)} `),
                name === 'http_status' ? String(v) : value(name, v));
    return li;
}

export function story(x) {
    const facts = Object.entries(x).filter(([name, v]) => !APART.has(name) && v !== null);
    const history = x.history ?? [];
    return [
        el('p', {}, address(x.url), ' — ', el('b', {}, x.state ?? outcome(x)),
            x.admitted === false ? '. It is no part of this crawl.' : ''),
        el('dl', {class: 'facts'}, facts.flatMap(([name, v]) =>
            [el('dt', {}, words(name)), el('dd', {}, value(name, v))])),
        history.length === 0 ? el('p', {class: 'soft'}, 'It was not tried yet.') :
            el('ol', {class: 'history', 'aria-label': 'Tries, oldest first'}, history.map(event)),
    ];
}

export function problem(box, message) {
    box.replaceChildren(el('p', {class: 'bad'}, foreign(message)));
}
