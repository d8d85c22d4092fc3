// SPDX-License-Identifier: MIT
// chart.js - lines over time, bars, and an interval on a logarithmic axis, as
// SVG in the pixels of the place they have.

const SVG = 'http://www.w3.org/2000/svg';

function shape(name, attributes, text) {
    const e = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        e.setAttribute(key, value);
    if (text !== undefined)
        e.textContent = text;
    return e;
}

const near = (n) => Math.round(n * 10) / 10;

// The least of 1, 2, 5 times a power of ten that is not below n; of octets, as
// many of their unit.
function niceCeiling(n, octets) {
    if (!(n > 0))
        return 1;
    const unit = octets ? 1024 ** Math.max(Math.floor(Math.log2(n) / 10), 0) : 1;
    const power = 10 ** Math.floor(Math.log10(n / unit)) * unit;
    return [1, 2, 5, 10].map((f) => f * power).find((f) => f >= n * 0.9999);
}

// An SVG in `box` that draw(svg, width, height) fills, now and when the box
// changes; null: nothing to draw.
function canvas(box, height, draw) {
    const svg = shape('svg', {height, role: 'img', 'aria-hidden': 'true', focusable: 'false'});
    let width = 0;
    const again = () => {
        if (width > 0) {
            svg.setAttribute('width', width);
            svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
            svg.replaceChildren(...draw(width, height));
        }
    };
    box.append(svg);
    new ResizeObserver((entries) => {
        width = Math.floor(entries[0].contentRect.width);
        again();
    }).observe(box);
    return again;
}

// ---- a line over the last minutes ----

const SPAN_MS = 5 * 60 * 1000;
const GAP_MS = 5000;
const BOTTOM = 16, TOP = 8;

// format(value) -> text; octets: the axis is theirs. update(points) with [{t, v}], oldest first; read(text)
// is told what is under the pointer, or null.
export function lineChart(box, format, read, octets) {
    let points = [], now = 0, width = 0;
    const xOf = (t) => near(width - (now - t) / SPAN_MS * width);

    function paths(top, height) {
        const yOf = (v) => near(height - BOTTOM - v / top * (height - BOTTOM - TOP));
        let line = '', area = '', before = null;
        for (const p of points) {
            if (before === null || p.t - before.t > GAP_MS) {
                if (before !== null)
                    area += `V${yOf(0)}Z`;
                line += `M${xOf(p.t)} ${yOf(p.v)}`;
                area += `M${xOf(p.t)} ${yOf(0)}V${yOf(p.v)}`;
            } else {
                line += `L${xOf(p.t)} ${yOf(p.v)}`;
                area += `L${xOf(p.t)} ${yOf(p.v)}`;
            }
            before = p;
        }
        return {line, area: before === null ? '' : `${area}V${yOf(0)}Z`, yOf};
    }

    const again = canvas(box, 112, (w, height) => {
        width = w;
        const top = niceCeiling(Math.max(...points.map((p) => p.v), 0), octets);
        const {line, area, yOf} = paths(top, height);
        const out = [0, 0.5, 1].map((part) =>
            shape('path', {class: 'grid', d: `M0 ${yOf(top * part)}H${width}`}));
        out.push(shape('path', {class: 'area', d: area}), shape('path', {class: 'line', d: line}));
        out.push(shape('text', {class: 'tick', x: 2, y: yOf(top) + 12}, format(top)));
        for (let minute = 4; minute > 0; minute -= width < 300 ? 2 : 1)
            out.push(shape('text', {class: 'tick', x: width * (1 - minute / 5), y: height - 3, 'text-anchor': 'middle'},
                `−${minute} min`));
        out.push(shape('text', {class: 'tick', x: width - 2, y: height - 3, 'text-anchor': 'end'}, 'now'));
        return out;
    });

    box.addEventListener('pointermove', (e) => {
        const t = now - (1 - e.offsetX / width) * SPAN_MS;
        const best = points.reduce((a, p) =>
            a === null || Math.abs(p.t - t) < Math.abs(a.t - t) ? p : a, null);
        read(best);
    });
    box.addEventListener('pointerleave', () => read(null));
    return (all, at) => {
        now = at;
        points = all.filter((p) => p.t >= now - SPAN_MS);
        again();
    };
}

// ---- shares of full, side by side ----

export function barChart(box) {
    let shares = [];
    const again = canvas(box, 84, (width, height) => {
        const step = width / Math.max(shares.length, 1);
        const room = height - 4;
        const out = [0, 0.5, 1].map((part) =>
            shape('path', {class: 'grid', d: `M0 ${near(height - 2 - part * room)}H${width}`}));
        shares.forEach((share, i) => out.push(shape('rect', {
            class: 'bar', x: near(i * step + step * 0.12), width: near(step * 0.76),
            y: near(height - 2 - share * room), height: near(Math.max(share * room, 0)),
        })));
        out.push(shape('text', {class: 'tick', x: 2, y: 14}, '100 %'));
        out.push(shape('text', {class: 'tick', x: 2, y: height - 2 - room / 2 - 3}, '50 %'));
        return out;
    });
    return (now) => {
        shares = now;
        again();
    };
}

// ---- a rate, its interval, and what was promised ----

const log = (n) => Math.log10(n);

// At most three decades below the promise: a filter that is nearly empty errs
// once in 10 to the 15.
function decades(values, promised) {
    const positive = values.filter((v) => v > 0);
    const low = Math.floor(Math.max(log(Math.min(...positive, 0.1)), log(promised) - 3) + 1e-9);
    const high = Math.ceil(log(Math.max(...positive)) + 0.1); // room behind the last
    return [low, Math.max(high, low + 1)];
}

// update({measured, low, high, promised, predicted}); what has no place on this
// axis, as a rate of 0, stands at its left edge.
export function intervalChart(box, format) {
    let rate = null;
    const again = canvas(box, 62, (width) => {
        if (rate === null)
            return [];
        const [from, to] = decades([rate.measured, rate.low, rate.high, rate.promised, rate.predicted], rate.promised);
        const left = 6, right = width - 6;
        const xOf = (v) => v > 0 ? near(left + Math.max(log(v) - from, 0) / (to - from) * (right - left)) : left;
        const out = [];
        for (let d = from; d <= to; d++) {
            const anchor = d === from ? 'start' : d === to ? 'end' : 'middle';
            out.push(shape('path', {class: 'grid', d: `M${xOf(10 ** d)} 4V42`}));
            for (let f = 2; f < 10 && d < to; f++)
                out.push(shape('path', {class: 'grid', d: `M${xOf(f * 10 ** d)} 37V42`}));
            if ((d - from) % Math.ceil((to - from) * 56 / width) === 0)
                out.push(shape('text', {class: 'tick', x: anchor === 'middle' ? xOf(10 ** d) : anchor === 'start' ? 0 : width,
                    y: 56, 'text-anchor': anchor}, format(10 ** d)));
        }
        const low = xOf(rate.low), high = Math.max(xOf(rate.high), low + 1);
        out.push(shape('rect', {class: 'band', x: low, width: near(high - low), y: 17, height: 12}));
        if (rate.predicted > 0)
            out.push(shape('path', {class: 'predicted', d: `M${xOf(rate.predicted)} 10V36`}));
        out.push(shape('path', {class: 'promised', d: `M${xOf(rate.promised)} 6V40`}));
        out.push(shape('circle', {class: rate.measured > 0 ? 'point' : 'point none', cx: xOf(rate.measured), cy: 23, r: 4.5}));
        return out;
    });
    return (now) => {
        rate = now;
        again();
    };
}
