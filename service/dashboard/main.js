// SPDX-License-Identifier: MIT
// main.js - what is shown, when: the stream of samples, the crawl that was
// chosen (the part of the address behind #), tables while they can be seen.

import {askForToken, addSeeds, confirmStop, gate, newCrawl, remove, say, settings, steerQueue, verb} from './control.js';
import {change, crawlPath, currentRole, get, hasToken, mayDo, onRole, onToken, reconsider, setToken, wasDeclined, watch} from './api.js';
import {History, renderCrawl, renderHead} from './crawl.js';
import {askForNames, renderServed, urlFacts} from './served.js';
import {kindOf, renderCluster} from './shards.js';
import {problem, renderHosts, renderRecent, story} from './tables.js';
import {byId, bytes, clock, count, el, fill, foreign, localTime, rough, setText} from './dom.js';

const SERVED = '#served';
const CLUSTER = '#cluster'; // a worker has nothing else to show
const TABLES_MS = 3000;
const ANSWER_MS = 1500; // the stats are at most so old when they come

const histories = new Map(); // of own crawls, by name
const servedHistory = new History();
const clusterHistory = new History();
let stats = null;
let before = null;         // the process's part of the stats before
let held = false;          // what is shown stands still
const states = new Map();  // what was said of each crawl's state
const answered = new Map(); // {state, until} by name: what a button's answer said

// ---- which crawl ----

const ownCrawls = () => stats.crawls.filter((c) => c.kind === 'own');
const addressOf = (name) => `#crawl=${encodeURIComponent(name)}`;

let wanted = location.hash; // the last one that named something: the skip link names nothing

function chosen() {
    if (stats.cluster)
        return CLUSTER;
    if (wanted === SERVED && stats.frontier)
        return SERVED;
    const own = ownCrawls();
    const named = own.find((c) => addressOf(c.name) === wanted);
    return named ?? own[0] ?? (stats.frontier ? SERVED : null);
}
const chosenCrawl = () => {
    const c = stats && chosen();
    return c && c !== SERVED && c !== CLUSTER ? c : null;
};

// ---- rendering the stats ----

function card(href, name, state, kind, figures, current) {
    const list = byId('chooser');
    let a = [...list.querySelectorAll('a')].find((x) => x.getAttribute('href') === href);
    if (!a) {
        a = el('a', {href}, el('b', {}, foreign(name)), el('span', {class: 'state'}), el('small', {}), el('small', {class: 'number'}));
        list.append(el('li', {}, a));
    }
    a.children[1].className = `state ${kind}`;
    setText(a.children[1], state);
    setText(a.children[2], figures[0]);
    setText(a.children[3], figures[1]);
    if (current)
        a.setAttribute('aria-current', 'page');
    else
        a.removeAttribute('aria-current');
    return a;
}

function renderChooser(now) {
    const kept = new Set();
    for (const c of ownCrawls())
        kept.add(card(addressOf(c.name), c.name, c.state, c.state,
            [`${count(c.pages)} pages`, `${count(c.queued)} queued`], now !== SERVED && now?.name === c.name));
    if (stats.frontier)
        kept.add(card(SERVED, 'served frontier', stats.frontier.active === false ? 'inactive' : 'active',
            stats.frontier.active === false ? 'paused' : 'running',
            [`${count(stats.frontier.completed)} completed`, `${count(stats.frontier.size)} to serve`], now === SERVED));
    if (stats.cluster)
        kept.add(card(CLUSTER, stats.cluster.cluster.split('/').at(-1), stats.cluster.state, kindOf(stats.cluster),
            [`${count(stats.cluster.pages)} pages`, `${count(stats.cluster.queued)} queued`], now === CLUSTER));
    for (const a of byId('chooser').querySelectorAll('a'))
        if (!kept.has(a))
            a.parentElement.remove();
}

function renderProcess(at) {
    const p = stats.process ?? {};
    const share = before && at > before.at ? (p.cpu_seconds - before.cpu) / (at - before.at) * 1000 : NaN;
    fill(byId('process'), {
        memory: bytes(p.memory_bytes),
        cpu: Number.isFinite(share) ? `${rough(share * 100)} %` : '–',
        connections: `${count(p.http_connections)} HTTP, ${count(p.grpc_connections)} gRPC`,
    });
    before = {at, cpu: p.cpu_seconds};
}

// Changes of state are said to those who do not see them; samples are not.
function sayStates() {
    for (const c of ownCrawls()) {
        const was = states.get(c.name);
        states.set(c.name, c.state);
        if (was !== undefined && was !== c.state)
            say(`${c.name} is ${c.state}${c.end ? `: ${c.end}` : ''}`, c.state === 'failed');
    }
}

const hasEnded = (c) => c.state === 'stopped' || c.state === 'failed';

// What cannot be done in this state is not offered, and what only a crawl that
// runs can tell is not asked for.
function renderButtons(c) {
    setText(byId('pause'), c.state === 'paused' ? 'Unpause' : 'Pause');
    setText(byId('stop'), hasEnded(c) ? 'Resume' : 'Stop');
    for (const id of ['pause', 'add-seeds', 'hosts', 'recent'])
        byId(id).hidden = hasEnded(c);
    byId('ended').hidden = !hasEnded(c);
    byId('remove').hidden = !stats.frontier;
}

function render() {
    if (stats === null)
        return;
    const now = chosen(), at = Date.parse(stats.at);
    renderChooser(now);
    byId('nothing').hidden = now !== null;
    if (now === null)
        setText(byId('nothing'), 'No crawl is here yet.');
    byId('crawl').hidden = now === null || now === SERVED || now === CLUSTER;
    byId('cluster').hidden = now !== CLUSTER;
    byId('served').hidden = now !== SERVED;
    byId('new-crawl').hidden = !stats.frontier;
    if (now === SERVED) {
        renderServed(stats.frontier, servedHistory, at);
        document.title = 'served frontier · urlweir';
    } else if (now === CLUSTER) {
        renderCluster(stats.cluster, clusterHistory, at);
        document.title = `${stats.cluster.state} · ${stats.cluster.cluster} · urlweir`;
    } else if (now !== null) {
        renderHead(now);
        renderCrawl(now, histories.get(now.name), at);
        renderButtons(now);
        document.title = `${now.state} · ${now.name} · urlweir`;
    }
}

// Stats may be older than the answer that came before it.
function keepAnswers() {
    for (const c of ownCrawls()) {
        const a = answered.get(c.name);
        if (a && Date.now() < a.until)
            c.state = a.state;
        else
            answered.delete(c.name);
    }
}

function take(s) {
    const at = Date.parse(s.at), first = stats === null;
    stats = s;
    keepAnswers();
    for (const c of ownCrawls()) {
        if (!histories.has(c.name))
            histories.set(c.name, new History());
        histories.get(c.name).add(at, {pages: c.pages + c.refreshed, bytes: c.bytes, queued: c.queued}, 'pages');
    }
    for (const name of histories.keys())
        if (!ownCrawls().some((c) => c.name === name))
            histories.delete(name);
    if (s.frontier)
        servedHistory.add(at, {completed: s.frontier.completed, size: s.frontier.size, leases: s.frontier.leases}, 'leases');
    if (s.cluster)
        clusterHistory.add(at, {pages: s.cluster.pages, bytes: s.cluster.bytes, queued: s.cluster.queued}, 'pages');
    sayStates();
    if (!held) {
        renderProcess(at);
        render();
    }
    if (first) {
        showRole();
        tables();
    }
}

// ---- the connection ----

let lost = {since: new Date()}; // null, or {since, why, retryAt, said}

function showConnection() {
    document.body.classList.toggle('stale', lost !== null);
    byId('connection').className = lost === null ? 'live' : 'lost';
    if (lost === null) {
        setText(byId('connection'), stats ? `live, ${clock(new Date(stats.at))}` : 'connected');
        return;
    }
    const wait = Math.max(0, Math.ceil((lost.retryAt - Date.now()) / 1000));
    setText(byId('connection'), `disconnected since ${clock(lost.since)}: ${lost.why}; ${wait > 0 ? `next try in ${wait} s` : 'trying'}`);
}

const hurry = watch({
    stats: (s) => {
        take(s);
        showConnection();
    },
    live: () => {
        if (lost?.said)
            say('connected again');
        if (lost !== null)
            showRole();
        lost = null;
    },
    lost: (why, retryAt) => {
        if (!lost?.said && stats !== null)
            say(`disconnected: ${why}`, true);
        lost = {since: lost?.since ?? new Date(), why, retryAt, said: stats !== null};
        showConnection();
        showRole();
    },
});
setInterval(() => lost?.why && showConnection(), 1000);
addEventListener('online', hurry);

// ---- tables, while they can be seen ----

const seen = new Set();
const watcher = new IntersectionObserver((entries) => {
    for (const e of entries)
        seen[e.isIntersecting ? 'add' : 'delete'](e.target.id);
    tables();
}, {rootMargin: '100px'});
for (const id of ['hosts', 'recent', 'names'])
    watcher.observe(byId(id));

// A table that somebody marks text in, or presses a button of, stays as it is:
// what is pressed and drawn anew before it is released was never clicked.
function isInUse(id) {
    const selection = getSelection();
    return byId(id).matches(':active') || (!selection.isCollapsed && byId(id).contains(selection.anchorNode));
}

// work() asks the service and resolves to what draws its answer.
const underWay = new Set();
async function refresh(id, work) {
    if (!seen.has(id) || underWay.has(id) || isInUse(id))
        return;
    underWay.add(id);
    try {
        const draw = await work();
        if (!isInUse(id))
            draw();
        byId(id).querySelector('.failure')?.remove();
    } catch (e) {
        if (e.status === 409) // it has ended meanwhile, as the next stats say
            return;
        const p = byId(id).querySelector('.failure') ?? byId(id).appendChild(el('p', {class: 'failure bad'}));
        setText(p, e.message);
    } finally {
        underWay.delete(id);
    }
}

function tables() {
    if (stats === null || lost !== null || held || document.visibilityState === 'hidden')
        return;
    const c = chosenCrawl();
    if (c && !hasEnded(c)) {
        refresh('hosts', async () => {
            const {hosts} = await get(crawlPath(c.name, '/hosts'), {sort: byId('hosts-sort').value, size: 25});
            return () => chosenCrawl()?.name === c.name &&
                renderHosts(hosts, (h) => steerQueue({crawl: c.name, key: h.host, delay: h.delay_seconds, fixed: true}), () => mayDo('write'));
        });
        refresh('recent', async () => {
            const {recent} = await get(crawlPath(c.name, '/recent'), {size: 25});
            return () => chosenCrawl()?.name === c.name && renderRecent(recent, lookUp);
        });
    } else if (!c && stats.frontier) {
        refresh('names', () => askForNames((name) => steerQueue({crawl: name}), (name) => remove(name, false), mayDo));
    }
}
setInterval(tables, TABLES_MS);
document.addEventListener('visibilitychange', tables);
byId('hosts-sort').addEventListener('change', tables);

// ---- looking up a URL ----

async function lookUp(url) {
    byId('explain-url').value = url;
    const c = chosenCrawl(), box = byId('explained');
    if (!c)
        return;
    try {
        box.replaceChildren(...story(await change('POST', crawlPath(c.name, '/explain'), {url}, 'read')));
    } catch (e) {
        problem(box, e.message);
    }
    box.focus({preventScroll: true});
    box.scrollIntoView({block: 'nearest'});
}

byId('explain-form').addEventListener('submit', (e) => {
    e.preventDefault();
    lookUp(byId('explain-url').value.trim());
});

byId('url-form').addEventListener('submit', async (e) => {
    e.preventDefault();
    const query = {url: byId('url-url').value.trim()};
    for (const name of ['crawl', 'key'])
        if (byId(`url-${name}`).value !== '')
            query[name] = byId(`url-${name}`).value;
    try {
        byId('url-found').replaceChildren(urlFacts(await get('v1/url', query)));
    } catch (x) {
        problem(byId('url-found'), x.message);
    }
    byId('url-found').focus({preventScroll: true});
});

// ---- buttons ----

// The crawl in an answer is newer than the stats.
function put(crawl) {
    const at = crawl === null ? -1 : stats.crawls.findIndex((c) => c.name === crawl.name);
    if (at < 0)
        return;
    stats.crawls[at] = crawl;
    answered.set(crawl.name, {state: crawl.state, until: Date.now() + ANSWER_MS});
    states.set(crawl.name, crawl.state);
    render();
}

byId('pause').addEventListener('click', async () => {
    const c = chosenCrawl();
    put(c.state === 'paused' ? await verb(byId('pause'), c.name, 'unpause', 'goes on')
        : await verb(byId('pause'), c.name, 'pause', 'paused; what was under way is finished'));
});
byId('stop').addEventListener('click', async () => {
    const c = chosenCrawl();
    if (hasEnded(c))
        put(await verb(byId('stop'), c.name, 'resume', 'resumed'));
    else if (stats.frontier || await confirmStop(c.name))
        put(await verb(byId('stop'), c.name, 'stop', 'stopped'));
});
byId('add-seeds').addEventListener('click', () => addSeeds(chosenCrawl().name));
byId('settings').addEventListener('click', () => {
    const c = chosenCrawl();
    settings(c.name, !hasEnded(c));
});
byId('remove').addEventListener('click', () => remove(chosenCrawl().name, true));
byId('any-host').addEventListener('click', () => steerQueue({crawl: chosenCrawl().name}));
byId('any-queue').addEventListener('click', () => steerQueue({crawl: 'DEFAULT'}));
byId('new-crawl').addEventListener('click', async () => {
    const name = await newCrawl();
    if (name)
        location.hash = addressOf(name);
});
addEventListener('hashchange', () => {
    if (location.hash !== SERVED && !location.hash.startsWith('#crawl='))
        return;
    wanted = location.hash;
    byId('explained').replaceChildren();
    for (const id of ['hosts-table', 'recent-table'])
        byId(id).replaceChildren();
    render();
    tables();
});

// WCAG 2.2, 2.2.2: what moves by itself can be stopped.
byId('hold').addEventListener('click', () => {
    held = !held;
    byId('hold').setAttribute('aria-pressed', held);
    if (!held) {
        render();
        tables();
    }
});

// ---- who asks ----

function showRole() {
    gate();
    const note = byId('role-note');
    note.hidden = currentRole() === 'admin';
    setText(note, `The role here is ${currentRole()}; what takes more is switched off.${
        stats && !stats.frontier ? ' Whoever owns the crawl steers it with `urlweir pause DIR` and the like.' : ''}`);
    setText(byId('token'), hasToken() ? 'Forget token' : 'Give a token…');
    byId('token').hidden = !hasToken() && !wasDeclined();
}
onToken(askForToken);
onRole(showRole);
byId('token').addEventListener('click', () => {
    if (hasToken()) {
        setToken(null);
        location.reload();
    } else {
        reconsider();
        hurry();
    }
});

// ---- the look ----

const THEME = 'urlweir-theme';
function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    byId('theme').value = theme;
}
function storedTheme() {
    try {
        return localStorage.getItem(THEME);
    } catch {
        return null; // a browser that keeps nothing for pages
    }
}
setTheme(['light', 'dark'].includes(storedTheme()) ? storedTheme() : 'auto');
byId('theme').addEventListener('change', (e) => {
    setTheme(e.target.value);
    try {
        localStorage.setItem(THEME, e.target.value);
    } catch {
        // until the page is closed
    }
});
byId('connection').title = `page opened ${localTime(new Date())}`;
showRole();
