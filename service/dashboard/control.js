// SPDX-License-Identifier: MIT
// control.js - what changes something: buttons and the dialogs behind them.
//
// What is refused is said where it was asked. A dialog stays open with what was
// typed until the service has agreed.

import {byId, el, foreign, setText} from './dom.js';
import {change, crawlPath, get, mayDo} from './api.js';

const SAID_MS = 20000, SAID_BAD_MS = 60000, TOGETHER_MS = 1000;
let forget, saidAt = 0;

// What comes at once is said together, or the first would go unheard.
export function say(text, bad = false) {
    const together = Date.now() - saidAt < TOGETHER_MS && byId('said').firstChild !== null;
    byId('said').className = bad ? 'bad' : '';
    byId('said').replaceChildren(...(together ? [...byId('said').childNodes, '; '] : []), foreign(text));
    saidAt = Date.now();
    clearTimeout(forget);
    forget = setTimeout(() => byId('said').replaceChildren(), bad ? SAID_BAD_MS : SAID_MS);
}

// Whatever this token cannot do is switched off.
export function gate() {
    for (const e of document.querySelectorAll('button[data-role]'))
        e.disabled = !mayDo(e.dataset.role);
}

// ---- one question ----

let fields = 0, dialogs = 0;

// {name, label, kind, value, help, options: [[value, text]], required, rows}
function makeField(f) {
    const id = `field-${fields++}`;
    const about = {id, name: f.name, required: f.required, 'aria-describedby': f.help ? `${id}-help` : null};
    let input;
    if (f.kind === 'select')
        input = el('select', about, f.options.map(([v, text]) => el('option', {value: v, selected: v === f.value}, text)));
    else if (f.kind === 'lines')
        input = el('textarea', {...about, rows: f.rows ?? 6, spellcheck: 'false', autocapitalize: 'off'});
    else if (f.kind === 'check')
        input = el('input', {...about, type: 'checkbox', checked: f.value});
    else
        input = el('input', {...about, type: f.kind ?? 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
            min: f.min, step: f.step});
    if (f.kind !== 'check' && f.kind !== 'select' && f.value !== undefined && f.value !== null)
        input.value = f.value;
    input.disabled = Boolean(f.disabled);
    const label = el('label', {for: id}, foreign(f.label));
    const help = f.help ? el('small', {id: `${id}-help`}, f.help) : null;
    const wide = f.wide || f.kind === 'lines' ? ' wide' : '';
    return f.kind === 'check' ? el('div', {class: `field check${wide}`}, input, label, help)
        : el('div', {class: `field${wide}`}, label, input, help);
}

const makeGroup = (g) => Array.isArray(g.fields) ? el('fieldset', {}, el('legend', {}, g.legend), g.fields.map(makeField)) : makeField(g);

// Shows a dialog; act(values) does what was asked and throws what is wrong.
// Resolves to what act returned, or null when it was closed.
export function dialog({title, text = [], fields: all = [], button, danger = false, act, check}) {
    return new Promise((resolve) => {
        const id = `dialog-${dialogs++}`;
        let result = null;
        const wrong = el('p', {class: 'wrong', role: 'alert'});
        const go = el('button', {type: 'submit', class: danger ? 'danger' : null}, button);
        const form = el('form', {}, all.map(makeGroup), wrong,
            el('div', {class: 'buttons'}, el('button', {type: 'button', onclick: () => box.close()}, 'Cancel'), go));
        const box = el('dialog', {'aria-labelledby': id},
            el('h2', {id}, foreign(title)), [text].flat().map((t) => el('p', {}, t)), form);
        const values = () => Object.fromEntries([...form.elements].filter((e) => e.name && !e.disabled)
            .map((e) => [e.name, e.type === 'checkbox' ? e.checked : e.value]));
        const look = () => check?.(values(), form, go);
        form.addEventListener('input', look);
        form.addEventListener('submit', async (event) => {
            event.preventDefault();
            setText(wrong, '');
            go.setAttribute('aria-busy', 'true');
            try {
                result = await act(values(), form);
                box.close();
            } catch (e) {
                wrong.replaceChildren(foreign(e.message));
            } finally {
                go.removeAttribute('aria-busy');
            }
        });
        box.addEventListener('close', () => {
            box.remove();
            resolve(result);
        });
        document.body.append(box);
        look();
        box.showModal();
        const first = form.querySelector('input:not(:disabled), select, textarea') ?? go;
        first.focus();
    });
}

export function askForToken(why) {
    return dialog({
        title: 'Token', button: 'Use it',
        text: [why, 'It is kept until this tab is closed, and sent to this service alone.'],
        fields: [{name: 'token', label: 'Token', kind: 'password', required: true}],
        act: async ({token}) => token.trim(),
    });
}

// ---- a crawl ----

// The button waits; what came of it is said.
export async function verb(button, name, what, done) {
    if (button.getAttribute('aria-busy') === 'true')
        return null;
    button.setAttribute('aria-busy', 'true');
    try {
        const crawl = await change('POST', crawlPath(name, `/${what}`), {}, 'write');
        say(`${name}: ${done}`);
        return crawl;
    } catch (e) {
        say(e.message, true);
        gate();
        return null;
    } finally {
        button.removeAttribute('aria-busy');
    }
}

const lines = (text) => text.split('\n').map((l) => l.trim()).filter((l) => l !== '' && !l.startsWith('#'));
const SEEDS_MOST = 16384;
const FIRST_SEEDS_MOST = 1000; // of a crawl that is made; others are added to it

function seedsOf(text) {
    const urls = lines(text);
    if (urls.length > SEEDS_MOST)
        throw new Error(`At most ${SEEDS_MOST} at once; these are ${urls.length}.`);
    return urls;
}

export function addSeeds(name) {
    return dialog({
        title: `Seeds for ${name}`, button: 'Add',
        fields: [{name: 'urls', label: 'URLs, one a line', kind: 'lines', rows: 10, required: true}],
        act: async (v) => {
            const urls = seedsOf(v.urls);
            const {results} = await change('POST', crawlPath(name, '/seeds'), {urls}, 'write');
            const of = (status) => results.filter((r) => r.status === status);
            const failed = of('failed');
            say([`${name}: ${of('ok').length} seeds added`,
                of('skipped').length > 0 ? `, ${of('skipped').length} known before` : '',
                failed.length > 0 ? `, ${failed.length} refused: ${failed[0].url} (${failed[0].reason ?? 'no URL'})` : '',
            ].join(''), failed.length > 0);
            return true;
        },
    });
}

export function remove(name, own) {
    const shown = foreign(name).textContent; // what is not seen, written out
    const isName = (typed) => typed === name || typed === shown;
    return dialog({
        title: `Delete ${name}?`, button: 'Delete for good', danger: true,
        text: own ? 'The crawl is stopped, and its directory with all it found is removed. This cannot be undone.'
            : 'All URLs and queues of this crawl are removed. This cannot be undone.',
        fields: [{name: 'typed', label: `To go on, type its name: ${name}`, required: true}],
        check: (v, form, go) => {
            go.disabled = !isName(v.typed);
        },
        act: async (v) => {
            if (!isName(v.typed))
                throw new Error('This is another name.');
            const {deleted} = await change('DELETE', crawlPath(name), undefined, 'admin');
            say(`${name} is deleted, ${deleted} URLs`);
            return true;
        },
    });
}

export function confirmStop(name) {
    return dialog({
        title: `Stop ${name}?`, button: 'Stop it',
        text: 'This process runs no other crawl and ends with it. `urlweir resume` goes on from there.',
        act: async () => true,
    });
}

// ---- settings ----

// As docs/formats/http-api.md groups what a crawl that runs can change.
const GROUPS = {
    Scope: ['scope', 'depth', 'max-url-len', 'include', 'exclude'],
    Rate: ['delay', 'random-delay', 'max-delay', 'max-crawl-delay', 'limit-rate', 'limit-rate-per-host'],
    Limits: ['limit', 'per-host', 'per-domain', 'per-host-bytes', 'time', 'quota', 'give-up'],
};
const SCOPES = ['seed', 'host', 'domain', 'prefix', 'any'];

function settingField(name, value, disabled) {
    const about = {name, label: name, disabled};
    if (name === 'scope')
        return {...about, kind: 'select', value: String(value), options: SCOPES.map((s) => [s, s])};
    if (typeof value === 'boolean')
        return {...about, kind: 'check', value};
    if (Array.isArray(value) || name === 'include' || name === 'exclude')
        return {...about, kind: 'lines', rows: 2, value: [value ?? []].flat().join('\n'), help: 'one a line'};
    return {...about, value: value === null || value === undefined ? '' : String(value)};
}

function asSetting(text, before) {
    if (typeof text === 'boolean')
        return text;
    if (Array.isArray(before))
        return text.split('\n').map((l) => l.trim()).filter((l) => l !== '');
    return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim();
}

// What differs from what was there.
function changedSettings(values, before) {
    const changed = {};
    for (const [name, text] of Object.entries(values)) {
        const now = asSetting(text, name === 'include' || name === 'exclude' ? before[name] ?? [] : before[name]);
        const was = before[name] ?? (Array.isArray(now) ? [] : '');
        if (JSON.stringify(now) !== JSON.stringify(was) && String(now) !== String(was))
            changed[name] = now;
    }
    return changed;
}

export async function settings(name, isOpen) {
    let before;
    try {
        ({settings: before} = await get(crawlPath(name, '/settings')));
    } catch (e) {
        say(e.message, true);
        return null;
    }
    const live = new Set(Object.values(GROUPS).flat());
    const groups = Object.entries(GROUPS).map(([legend, names]) =>
        ({legend, fields: names.filter((n) => n in before).map((n) => settingField(n, before[n], false))}));
    const others = Object.keys(before).filter((n) => !live.has(n)).sort();
    if (others.length > 0)
        groups.push({legend: isOpen ? 'Others, for a crawl that is stopped' : 'Others',
            fields: others.map((n) => settingField(n, before[n], isOpen))});
    return dialog({
        title: `Settings of ${name}`, button: 'Change', fields: groups.filter((g) => g.fields.length > 0),
        text: 'Times: 500ms, 2s, 5m, 1h, 1d. Sizes: bytes, or K, M, G.',
        act: async (v) => {
            const changed = changedSettings(v, before);
            if (Object.keys(changed).length === 0)
                throw new Error('Nothing is changed.');
            await change('PATCH', crawlPath(name, '/settings'), changed, 'admin');
            say(`${name}: ${Object.entries(changed).map(([what, now]) => `${what} ${before[what] ?? 'none'} → ${now}`).join(', ')}`);
            return true;
        },
    });
}

function otherSettings(text) {
    const out = {};
    for (const line of lines(text)) {
        const [, name, value] = /^([a-z-]+)\s*:\s*(.*)$/.exec(line) ?? [];
        if (name === undefined)
            throw new Error(`Not of the form NAME: VALUE: ${line}`);
        out[name] = value === 'true' || value === 'false' ? value === 'true' : asSetting(value);
    }
    return out;
}

export function newCrawl() {
    return dialog({
        title: 'New crawl', button: 'Start it',
        fields: [
            {name: 'name', label: 'Name', required: true, help: 'letters, digits, - _ and .'},
            {name: 'seeds', label: 'Seeds, one URL a line', kind: 'lines', required: true},
            {legend: 'Settings', fields: [
                {name: 'scope', label: 'scope', kind: 'select', value: 'host', options: SCOPES.map((s) => [s, s])},
                {name: 'depth', label: 'depth', help: 'none: any'},
                {name: 'limit', label: 'limit, pages', help: 'none: no limit'},
                {name: 'delay', label: 'delay', help: '1s when left out'},
                {name: 'others', label: 'Others, NAME: VALUE a line', kind: 'lines', rows: 3, help: 'the options of urlweir crawl by their long names'},
            ]},
        ],
        act: async (v) => {
            const chosen = {scope: v.scope, ...otherSettings(v.others)};
            for (const key of ['depth', 'limit', 'delay'])
                if (v[key].trim() !== '')
                    chosen[key] = asSetting(v[key]);
            const seeds = seedsOf(v.seeds), more = seeds.splice(FIRST_SEEDS_MOST);
            const crawl = await change('POST', 'v1/crawls', {name: v.name.trim(), seeds, settings: chosen}, 'admin');
            if (more.length > 0)
                await change('POST', crawlPath(crawl.name, '/seeds'), {urls: more}, 'write');
            say(`${crawl.name} is ${crawl.state}`);
            return crawl.name;
        },
    });
}

// ---- a queue: of a host of an own crawl, or any key of a served one ----

const BLOCKS = [['', 'as it is'], ['600', 'for 10 minutes'], ['3600', 'for 1 hour'], ['86400', 'for 1 day'],
    ['2592000', 'for 30 days'], ['until', 'until a time'], ['none', 'not any more']];

function blockUntil(v) {
    if (v.block === 'none')
        return null;
    if (v.block !== 'until')
        return new Date(Date.now() + Number(v.block) * 1000).toISOString();
    const at = new Date(v.until);
    if (v.until === undefined || v.until === '' || Number.isNaN(at.getTime()))
        throw new Error('Until when?');
    return at.toISOString();
}

export function steerQueue({crawl = '', key = '', delay = '', fixed}) {
    return dialog({
        title: fixed ? `${key} of ${crawl}` : 'Steer a queue', button: 'Do it',
        text: 'What is left as it is stays so. To limit or delete takes an admin.',
        fields: [
            ...(fixed ? [] : [{name: 'crawl', label: 'Crawl', value: crawl}, {name: 'key', label: 'Host, or the queue\u2019s key', required: true, value: key}]),
            {name: 'block', label: 'Block it', kind: 'select', value: '', options: BLOCKS},
            {name: 'until', label: 'Until, local time', kind: 'datetime-local', disabled: true},
            {legend: 'Pace', fields: [
                {name: 'delay', label: 'Seconds between its URLs', kind: 'number', min: 0, step: 1, help: delay === '' ? undefined : `now ${delay}`},
                {name: 'limit', label: 'Most completed URLs, 0: any', kind: 'number', min: 0, step: 1, disabled: !mayDo('admin')},
            ]},
            {name: 'remove', label: 'Delete the queue', kind: 'check', disabled: !mayDo('admin'),
                help: 'Of an own crawl what waits is skipped for good; of a served one all URLs are forgotten.'},
        ],
        check: (v, form, go) => {
            const until = form.elements.namedItem('until');
            until.disabled = v.block !== 'until';
            until.closest('.field').hidden = until.disabled;
            go.className = v.remove ? 'danger' : '';
            setText(go, v.remove ? 'Delete for good' : 'Do it');
        },
        act: async (v) => {
            const of = {crawl: fixed ? crawl : v.crawl, key: fixed ? key : v.key};
            const done = [];
            if (v.block !== '') {
                await change('POST', 'v1/queues/block', {...of, until: blockUntil(v)}, 'write');
                done.push(v.block === 'none' ? 'not blocked any more' : 'blocked');
            }
            if (v.delay !== '') {
                await change('POST', 'v1/queues/delay', {...of, delay_seconds: Number(v.delay)}, 'write');
                done.push(`delay ${v.delay} s`);
            }
            if (v.limit) {
                await change('POST', 'v1/queues/limit', {...of, limit: Number(v.limit)}, 'admin');
                done.push(`limit ${v.limit}`);
            }
            if (v.remove) {
                const {deleted} = await change('DELETE', `v1/queues?${new URLSearchParams(of)}`, undefined, 'admin');
                done.push(`${deleted} URLs deleted`);
            }
            if (done.length === 0)
                throw new Error('Nothing is changed.');
            say(`${of.key}: ${done.join(', ')}`);
            return true;
        },
    });
}
