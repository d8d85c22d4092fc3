// SPDX-License-Identifier: MIT
// crawl.js - what the stats say of one crawl: figures, lines, errors, the seen
// check, and the filter against its promise.

import {barChart, intervalChart, lineChart} from './chart.js';
import {byId, bytes, clock, count, el, fill, foreign, percent, rough, setText, time} from './dom.js';

const KEPT_MS = 5 * 60 * 1000 + 2000;
const MEAN_MS = 5000; // the rates shown as figures are over so long

// The last minutes of some counters.
export class History {
    samples = [];

    // values: numbers by name. A counter that goes back is another crawl's.
    add(t, values, counter) {
        const last = this.samples.at(-1);
        if (last && (values[counter] < last[counter] || t <= last.t))
            this.samples = [];
        this.samples.push({t, ...values});
        while (this.samples[0].t < t - KEPT_MS)
            this.samples.shift();
    }

    line(name) {
        return this.samples.map((s) => ({t: s.t, v: s[name]}));
    }

    rates(name) {
        return this.samples.slice(1).map((s, i) => {
            const before = this.samples[i];
            return {t: s.t, v: Math.max(0, (s[name] - before[name]) / (s.t - before.t) * 1000)};
        });
    }

    rate(name) {
        const last = this.samples.at(-1);
        const first = this.samples.find((s) => s.t >= last.t - MEAN_MS);
        return first === last ? NaN : (last[name] - first[name]) / (last.t - first.t) * 1000;
    }
}

// A plot and the text beside its caption.
export function plot(id, format) {
    const read = byId(`${id}-read`);
    return lineChart(byId(`${id}-plot`), format, (p) =>
        setText(read, p === null ? '' : `${clock(new Date(p.t))}  ${format(p.v)}`), format === bytes);
}

let plots = null;

function makePlots() {
    plots = {
        rate: plot('rate', rough),
        speed: plot('speed', bytes),
        queued: plot('queued', count),
        fpr: intervalChart(byId('fpr-plot'), percent),
        fill: barChart(byId('fill-plot')),
    };
}

// ---- lists of shares ----

function renderShares(list, rows, nothing) {
    const most = Math.max(...rows.map((r) => r.n), 1);
    const shown = rows.length > 0 ? rows : [{name: nothing, n: null, of: 0}];
    while (list.children.length > shown.length)
        list.lastChild.remove();
    shown.forEach((row, i) => {
        const li = list.children[i] ?? list.appendChild(
            el('li', {}, el('span', {class: 'name'}), el('span', {class: 'number'}), el('div', {class: 'share'})));
        const [name, n, share] = li.children;
        setText(name, row.name);
        setText(n, row.n === null ? '' : row.text ?? count(row.n));
        share.hidden = !row.n;
        share.className = `share ${row.kind ?? ''}`;
        share.style.setProperty('--share', `${row.n / (row.of || most) * 100}%`);
    });
}

const ERRORS_SHOWN = 12;

function renderErrors(errors) {
    const all = Object.entries(errors).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const rows = all.slice(0, ERRORS_SHOWN).map(([name, n]) => ({name: name.replaceAll('_', ' '), n, kind: 'bad'}));
    const rest = all.slice(ERRORS_SHOWN).reduce((sum, [, n]) => sum + n, 0);
    if (rest > 0)
        rows.push({name: `${all.length - ERRORS_SHOWN} other kinds`, n: rest, kind: 'bad'});
    renderShares(byId('errors'), rows, 'none');
}

function renderSeen(c) {
    const maybe = 'maybe_seen' in c ? c.maybe_seen + c.false_positives : undefined;
    const asked = (c.certainly_new ?? 0) + (maybe ?? 0);
    const of = Math.max(c.links ?? 0, asked, 1);
    const share = (n) => `${count(n)} · ${percent(n / of)}`;
    const rows = [
        {name: 'links found', n: c.links, of, text: count(c.links)},
        {name: 'dropped before: scope, traps, limits', n: c.dropped, of, text: share(c.dropped)},
        {name: 'duplicates', n: c.duplicates, of, text: share(c.duplicates)},
        {name: 'filter: certainly new', n: c.certainly_new, of, text: share(c.certainly_new)},
        {name: 'filter: maybe seen', n: maybe, of, text: share(maybe), kind: 'warn'},
        {name: 'of these false positives, caught by the exact set', n: c.false_positives, of,
            text: count(c.false_positives), kind: 'bad'},
    ];
    renderShares(byId('seen'), rows.filter((r) => typeof r.n === 'number'), 'none yet');
}

// ---- the filter ----

function verdict(f) {
    if (typeof f.fpr_measured !== 'number')
        return ['', 'nothing measured yet'];
    if (f.fpr_low > f.fpr_promised)
        return ['bad', 'above the promise'];
    return f.fpr_high <= f.fpr_promised ? ['good', 'promise kept'] : ['warn', 'too few URLs to tell'];
}

function renderFilter(f) {
    byId('filter').hidden = !f;
    if (!f)
        return;
    const [kind, words] = verdict(f);
    byId('fpr-verdict').className = `read ${kind}`;
    setText(byId('fpr-verdict'), words);
    plots.fpr({measured: f.fpr_measured, low: f.fpr_low, high: f.fpr_high, promised: f.fpr_promised, predicted: f.fpr_predicted});
    fill(byId('filter'), {
        measured: percent(f.fpr_measured),
        interval: `${percent(f.fpr_low)} to ${percent(f.fpr_high)}`,
        promised: percent(f.fpr_promised),
        predicted: percent(f.fpr_predicted),
    });
    const shares = f.fill ?? [];
    byId('fill').hidden = shares.length === 0;
    plots.fill(shares);
    setText(byId('fill-read'), shares.length === 0 ? '' :
        `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))} of the bits set`);
    setText(byId('filter-note'), [
        f.kind, `${count(f.keys)} keys`, `${bytes(f.bits / 8)}`,
        f.keys > 0 ? `${rough(f.bits / f.keys)} bits a key` : null,
        f.segments > 0 ? `${count(f.segments)} segments` : null,
    ].filter(Boolean).join(', '));
}

// ---- all of it ----

export function renderHead(c) {
    if (byId('crawl-name').dataset.name !== c.name) {
        byId('crawl-name').dataset.name = c.name;
        byId('crawl-name').replaceChildren(foreign(c.name));
    }
    byId('crawl-state').className = `state ${c.state}`;
    setText(byId('crawl-state'), c.state);
    const note = [c.started_at, c.end, c.why].join('\n');
    if (byId('crawl-note').dataset.shown === note)
        return;
    byId('crawl-note').dataset.shown = note;
    byId('crawl-note').replaceChildren('since ', time(c.started_at),
        ...(c.end ? [' · ended: ', foreign(c.end)] : []), ...(c.why ? [' · ', foreign(c.why)] : []));
}

export function overdue(c) {
    const oldest = c.overdue > 0 ? `, the oldest for ${count(Math.round(c.overdue_seconds / 60))} min` : '';
    return `${count(c.dated)}, ${count(c.overdue)}${oldest}`;
}

export function renderCrawl(c, history, now) {
    if (plots === null)
        makePlots();
    fill(byId('figures'), {
        rate: rough(history.rate('pages')), pages: count(c.pages), queued: count(c.queued),
        transfers: count(c.transfers), speed: `${bytes(history.rate('bytes'))}/s`, memory: bytes(c.memory_bytes),
    });
    fill(byId('crawl').querySelector('.list'), {
        urls: count(c.urls), fetched: count(c.fetched), redirects: count(c.redirects), failed: count(c.failed),
        denied: count(c.denied), skipped: count(c.skipped), leased: count(c.leased),
        hosts: `${count(c.hosts_active)} of ${count(c.hosts)}`, bytes: bytes(c.bytes),
        dated: overdue(c), refreshed: `${count(c.refreshed)}, ${percent((c.refreshed - c.changed) / c.refreshed)}`,
        fresh: percent(c.fresh / c.rated),
        requests: `${count(c.requests)}, ${count(c.connections)}`, seeds: `${count(c.seeds)}, ${count(c.seeds_failed)}`,
    });
    plots.rate(history.rates('pages'), now);
    plots.speed(history.rates('bytes'), now);
    plots.queued(history.line('queued'), now);
    renderErrors(c.errors ?? {});
    renderSeen(c);
    renderFilter(c.filter);
}
