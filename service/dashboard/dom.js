// SPDX-License-Identifier: MIT
// dom.js - elements, and how numbers, times and strangers' texts are shown.
//
// Nothing here makes markup of a string. What came from the web goes through
// foreign() or address(): characters that are not seen, or that turn the text
// around, are written out, and the text is kept from its surroundings (bdi).

export const byId = (id) => document.getElementById(id);

// An element: attributes by name, `on...` listeners, children as nodes or texts.
export function el(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false)
            continue;
        if (typeof value === 'function')
            e.addEventListener(key.slice(2), value);
        else
            e.setAttribute(key, value === true ? '' : value);
    }
    e.append(...children.flat().filter((c) => c !== null && c !== undefined));
    return e;
}

export function setText(e, text) {
    if (e.textContent !== text)
        e.textContent = text;
}

// Fills each element below `top` that has data-v="KEY" with values[KEY].
export function fill(top, values) {
    for (const e of top.querySelectorAll('[data-v]')) {
        const value = values[e.dataset.v];
        if (value !== undefined)
            setText(e, value);
    }
}

// ---- strangers' texts ----

// Controls, separators, what sets direction, what has no width, tags, halves of
// surrogate pairs, private use: Unicode general categories C and Zl, Zp, and
// the fillers that look like nothing.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/u;

function codePoint(c) {
    return 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
}

export function foreign(text, most = 2000) {
    const out = el('bdi');
    let plain = '';
    const all = [...String(text)];
    for (const c of all.slice(0, most)) {
        if (!UNSEEN.test(c)) {
            plain += c;
            continue;
        }
        out.append(plain, el('span', {class: 'unseen'}, codePoint(c)));
        plain = '';
    }
    out.append(plain);
    if (all.length > most)
        out.append(el('span', {class: 'unseen'}, `${count(all.length - most)} more`));
    return out;
}

// A URL as text; http and https ones can be followed.
export function address(url) {
    let parsed = null;
    try {
        parsed = new URL(url);
    } catch {
        // shown, not linked
    }
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
        return foreign(url);
    return el('a', {
        href: parsed.href, rel: 'noreferrer noopener', target: '_blank',
        title: 'Open in a new tab: this asks the site itself',
    }, foreign(url));
}

// ---- numbers ----

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const NONE = '–';

const isNumber = (n) => typeof n === 'number' && Number.isFinite(n);

export const count = (n) => isNumber(n) ? whole.format(n) : NONE;

// Three figures or so.
export function rough(n) {
    if (!isNumber(n))
        return NONE;
    const digits = Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
    return n.toLocaleString('en', {maximumFractionDigits: digits});
}

export function bytes(n) {
    if (!isNumber(n))
        return NONE;
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let at = 0;
    while (n >= 1024 && at < units.length - 1) {
        n /= 1024;
        at++;
    }
    return `${at === 0 ? count(n) : rough(n)} ${units[at]}`;
}

// A share, as a percentage with two figures that count.
export function percent(n) {
    if (!isNumber(n))
        return NONE;
    if (n > 0 && n < 1e-7)
        return 'under 0.00001 %';
    return `${(n * 100).toLocaleString('en', {maximumSignificantDigits: 3})} %`;
}

export function seconds(n) {
    if (!isNumber(n))
        return NONE;
    if (n < 1)
        return `${rough(n * 1000)} ms`;
    if (n < 120)
        return `${rough(n)} s`;
    if (n < 7200)
        return `${rough(n / 60)} min`;
    return n < 172800 ? `${rough(n / 3600)} h` : `${rough(n / 86400)} d`;
}

// ---- times ----

const two = (n) => String(n).padStart(2, '0');

export function clock(date) {
    return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function localTime(date) {
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(date)}`;
}

// Local time, the day only where it is not today; UTC in the title.
export function time(iso) {
    const date = new Date(iso);
    if (iso === null || iso === undefined || Number.isNaN(date.getTime()))
        return NONE;
    const today = new Date().toDateString() === date.toDateString();
    return el('time', {
        datetime: date.toISOString(),
        title: `${date.toISOString().replace('T', ' ').replace(/\.\d+Z|Z/, '')} UTC`,
    }, today ? clock(date) : localTime(date));
}

// ---- tables ----

// columns: [{name, of(row) -> node or text, kind}], kind one of the classes
// number, tight, wide. Narrow screens show each row as a block with the columns'
// names (dashboard.css), so the roles are said again for what is no table there.
// Who was on a button stays on it.
export function renderTable(table, columns, rows, keyOf, nothing) {
    const held = table.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const head = el('tr', {role: 'row'}, columns.map((c) =>
        el('th', {role: 'columnheader', scope: 'col', class: c.kind}, c.name)));
    const body = rows.map((row) => {
        const tr = el('tr', {role: 'row'}, columns.map((c) =>
            el('td', {role: 'cell', 'data-label': c.name, class: c.kind}, c.of(row))));
        const button = tr.querySelector('button');
        if (button)
            button.dataset.key = keyOf(row);
        return tr;
    });
    if (rows.length === 0)
        body.push(el('tr', {role: 'row'}, el('td', {role: 'cell', colspan: columns.length, class: 'nothing'}, nothing)));
    table.replaceChildren(el('thead', {role: 'rowgroup'}, head), el('tbody', {role: 'rowgroup'}, body));
    if (held !== undefined) {
        const again = [...table.querySelectorAll('button')].find((b) => b.dataset.key === held);
        if (again)
            again.focus({preventScroll: true});
    }
}
