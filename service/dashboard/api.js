// SPDX-License-Identifier: MIT
// api.js - asking the service, as docs/formats/http-api.md has it.
//
// The token is kept for this tab alone (sessionStorage) and goes out in a
// header; which is why events are read from a fetch and not by EventSource,
// which sends none. What is lost is tried again, later and later.

const KEY = 'urlweir-token';
const ROLES = ['none', 'read', 'write', 'admin'];
const SILENCE_MS = 8000; // samples come each second

export class Refused extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

// A browser that keeps nothing for pages throws; then it is kept until a reload.
function stored() {
    try {
        return sessionStorage.getItem(KEY);
    } catch {
        return null;
    }
}
let token = stored();

let askForToken = async () => null; // (why) -> a token, or null
let role = 'admin';                 // until the service says otherwise
let roleChanged = () => {};

export function onToken(ask) {
    askForToken = ask;
}
export function onRole(changed) {
    roleChanged = changed;
}
export const currentRole = () => role;
export const mayDo = (needed) => ROLES.indexOf(role) >= ROLES.indexOf(needed);
export const hasToken = () => token !== null;

function setRole(now) {
    if (now === role || !ROLES.includes(now))
        return;
    role = now;
    roleChanged(role);
}

export function setToken(now) {
    token = now;
    try {
        if (now === null)
            sessionStorage.removeItem(KEY);
        else
            sessionStorage.setItem(KEY, now);
    } catch {
        // see above
    }
}

// One prompt, however many wait for it; none again once it was declined.
let prompt = null, declined = false;
async function tokenAfter(used, why) {
    if (token !== used)
        return true; // another one has come meanwhile
    if (declined)
        return false;
    prompt ??= askForToken(why).finally(() => {
        prompt = null;
    });
    const given = await prompt;
    declined = given === null;
    if (!declined)
        setToken(given);
    return !declined;
}

export const wasDeclined = () => declined;
export function reconsider() {
    declined = false;
}

async function send(path, options) {
    for (;;) {
        const used = token, headers = {...options.headers};
        if (used !== null)
            headers.Authorization = `Bearer ${used}`;
        const answer = await fetch(path, {...options, headers, cache: 'no-store', redirect: 'error'});
        if (answer.headers.has('Urlweir-Role'))
            setRole(answer.headers.get('Urlweir-Role'));
        if (answer.status !== 401)
            return answer;
        const why = used === null ? 'This service wants a token.' : 'The service does not know this token.';
        if (!await tokenAfter(used, why))
            throw new Refused(401, 'no token was given');
    }
}

async function problemOf(answer) {
    const text = await answer.text().catch(() => '');
    try {
        const problem = JSON.parse(text);
        return problem.detail || problem.title || text;
    } catch {
        return text.slice(0, 200) || answer.statusText;
    }
}

// needed: the role it takes, for who is refused.
async function ask(path, options, needed) {
    let answer;
    try {
        answer = await send(path, options);
    } catch (e) {
        if (e instanceof Refused || e.name === 'AbortError')
            throw e;
        throw new Refused(0, 'The service cannot be reached.');
    }
    if (answer.ok)
        return answer.json();
    const why = await problemOf(answer);
    if (answer.status === 403 && mayDo(needed) && !answer.headers.has('Urlweir-Role'))
        setRole(ROLES[ROLES.indexOf(needed) - 1]);
    throw new Refused(answer.status, answer.status === 403 ? `Refused: ${why}.` : why);
}

export function get(path, query = {}) {
    const text = new URLSearchParams(query).toString();
    return ask(text ? `${path}?${text}` : path, {method: 'GET'}, 'read');
}

export function change(method, path, body, needed) {
    const options = {method};
    if (body !== undefined) {
        options.body = JSON.stringify(body);
        options.headers = {'Content-Type': 'application/json'};
    }
    return ask(path, options, needed);
}

export const crawlPath = (name, rest = '') => `v1/crawls/${encodeURIComponent(name)}${rest}`;

// ---- events ----

// Reads text/event-stream, calling on(name, data) for each event. HTML Standard,
// 9.2.6; an id or a retry is not used by this service.
async function readEvents(body, alive, on) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '', name = '', data = [];
    for (;;) {
        const {done, value} = await reader.read();
        if (done)
            return;
        alive();
        const lines = (rest + value).split(/\r?\n/);
        rest = lines.pop();
        for (const line of lines) {
            if (line === '') {
                if (data.length > 0)
                    on(name || 'message', data.join('\n'));
                name = '';
                data = [];
            } else if (line.startsWith('event:')) {
                name = line.slice(6).trimStart();
            } else if (line.startsWith('data:')) {
                data.push(line.slice(5).replace(/^ /, ''));
            }
        }
    }
}

const pause = (ms, signal) => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
    }, {once: true});
});

// Stats for ever: on.stats(object); on.live(); on.lost(why, retryAt).
// Returns a function that tries again at once.
export function watch(on) {
    let hurry = new AbortController(), tries = 0;

    async function once() {
        const control = new AbortController();
        let timer;
        const alive = () => {
            clearTimeout(timer);
            timer = setTimeout(() => control.abort(), SILENCE_MS);
        };
        try {
            const answer = await send('v1/events', {headers: {Accept: 'text/event-stream'}, signal: control.signal});
            if (!answer.ok)
                return await problemOf(answer);
            alive();
            await readEvents(answer.body, alive, (name, data) => {
                if (name !== 'stats')
                    return;
                tries = 0;
                on.live();
                on.stats(JSON.parse(data));
            });
            return 'the service ended the stream';
        } catch (e) {
            if (e instanceof Refused)
                return e.message;
            return control.signal.aborted ? 'nothing was heard for a while' : 'the service cannot be reached';
        } finally {
            clearTimeout(timer);
            control.abort();
        }
    }

    (async () => {
        for (;;) {
            const why = await once();
            const wait = Math.min(15000, 500 * 2 ** tries++) * (0.75 + Math.random() / 2);
            on.lost(why, Date.now() + wait);
            await pause(wait, hurry.signal);
            hurry = new AbortController();
        }
    })();
    return () => hurry.abort();
}
