// Names of series beside their lines and points, without overlaps; they are what a keyboard reaches.

const LINE_HEIGHT = 14;
const BOLD = 600;

/** Names beside the ends of lines, moved apart, with thin lines that lead to them. */
function endLabels(chart, lines, box, x, y) {
  const step = Math.min(LINE_HEIGHT, (box.bottom - box.top + LINE_HEIGHT) / lines.length);
  const wanted = lines.map((entry) => {
    const end = entry.line.there.at(-1);
    return { entry, from: [x.at(entry.line.atX[end]), y.at(entry.line.atY[end])] };
  });
  wanted.sort((a, b) => a.from[1] - b.from[1]);
  const heights = apart(wanted.map(({ from }) => from[1]), step, box.top, box.bottom);
  const room = chart.view.width - box.right - 22;
  wanted.forEach(({ entry, from }, place) => {
    const leader = drawn("path", { class: "leader", d: `M${round(from[0] + 5)},${round(from[1])}L${round(Math.max(from[0] + 5, box.right + 4))},${round(from[1])}L${round(box.right + 16)},${round(heights[place])}` });
    const label = labelOf(chart, entry, box.right + 19, heights[place] + 4, fitted(entry.style.name, room, BOLD));
    label.prepend(leader);
    chart.svg.append(label);
  });
}

/** Ascending heights as near as possible to the wanted ones, at least so far apart: isotonic regression. */
function apart(wanted, step, top, bottom) {
  const pools = [];
  wanted.forEach((height, i) => {
    pools.push({ sum: height - i * step, count: 1 });
    while (pools.length > 1 && mean(pools.at(-2)) > mean(pools.at(-1))) {
      const { sum, count } = pools.pop();
      pools.at(-1).sum += sum;
      pools.at(-1).count += count;
    }
  });
  const highest = Math.max(top, bottom - (wanted.length - 1) * step);
  const starts = pools.flatMap((pool) => Array(pool.count).fill(mean(pool)));
  return starts.map((start, i) => Math.min(highest, Math.max(top, start)) + i * step);
}

function mean({ sum, count }) {
  return sum / count;
}

/** Names beside single points, wherever there is room first, or further off and led to; without any, only while they are in front. */
function pointLabels(chart, box, x, y) {
  const points = chart.lines.filter(({ one, line }) => one.solver >= 0 && line.there.length);
  const at = ({ line }) => [x.at(line.atX[0]), y.at(line.atY[0])];
  const taken = points.map((entry) => [at(entry)[0] - 6, at(entry)[1] - 6, at(entry)[0] + 6, at(entry)[1] + 6]);
  const steps = chart.lines.filter(({ one }) => one.solver < 0).flatMap(({ line }) => stepBoxes(line, x, y));
  points.forEach((entry) => {
    const [px, py] = at(entry);
    const width = textWidth(entry.one.label, BOLD);
    const near = [[px + 10, py + 4], [px - 10 - width, py + 4], [px - width / 2, py - 10], [px - width / 2, py + 20], [px + 8, py - 9], [px + 8, py + 17], [px - 8 - width, py - 9], [px - 8 - width, py + 17], [px + 10, py - 22], [px + 10, py + 30]];
    const places = [...near, ...further(px, py, width, box, chart.view)];
    const boxes = places.map(([left, base]) => [left, base - 11, left + width, base + 3]);
    const inside = (one) => one[0] >= box.left + 2 && one[2] <= chart.view.width - 2 && one[1] >= 0 && one[3] <= box.bottom;
    const clear = (others) => boxes.findIndex((one) => inside(one) && !others.some((other) => overlap(one, other)));
    const best = clear([...taken, ...steps]);
    const free = best < 0 ? clear(taken) : best;
    const chosen = free < 0 ? Math.max(0, boxes.findIndex(inside)) : free;
    const label = labelOf(chart, entry, ...places[chosen], entry.one.label);
    const [left, top, right, bottom] = boxes[chosen];
    if (chosen >= near.length) label.prepend(drawn("path", { class: "leader", d: `M${round(px)},${round(py)}L${round(within(px, left, right))},${round(within(py, top, bottom))}` }));
    if (free < 0) label.classList.add("crowded");
    else taken.push(boxes[chosen]);
    chart.svg.append(label);
  });
}

/** Places for a name above and below a point, the nearest first, as near to it as the axes allow. */
function further(px, py, width, box, view) {
  const step = LINE_HEIGHT / 4;
  const rows = Array.from({ length: 2 * Math.ceil(view.height / step) }, (_, i) => (Math.floor(i / 2) + 8) * (i % 2 ? -step : step));
  const across = [10, -10 - width, -width / 2, 40, -40 - width, view.width].map((by) => within(px + by, box.left + 3, view.width - 3 - width));
  const places = rows.flatMap((down) => across.map((left) => [left, py + 4 + down]));
  const far = ([left, base]) => Math.hypot(within(px, left, left + width) - px, base - 4 - py);
  return places.sort((one, other) => far(one) - far(other));
}

function within(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** The boxes that a descending line of steps takes. */
function stepBoxes(line, x, y) {
  const at = line.there.map((i) => [x.at(line.atX[i]), y.at(line.atY[i])]);
  return at.slice(1).flatMap(([right, below], i) => [[at[i][0], at[i][1] - 1, right, at[i][1] + 1], [right - 1, at[i][1], right + 1, below]]);
}

function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/** The name of a series as something to point at, to focus and to press. */
function labelOf({ panel }, entry, x, y, text) {
  const { one, line } = entry;
  const end = line.there.at(-1);
  const at = formatted(line.x[end], 3);
  const ends = end === undefined ? "no finite value" : `${panel.y.label} ${formatted(line.y[end], 3)} at ${at}${one.ended ? `, ${one.ended}` : ""}`;
  const failed = entry.crosses.length ? `, ${entry.crosses.length} failed` : "";
  const label = drawn("g", { class: `label ${colourClass(one.solver)}`, "data-place": entry.place }, drawn("text", { x, y }, text));
  if (one.solver < 0) return label;
  return filled(label, { tabindex: 0, role: "button", "aria-pressed": "false", "aria-label": `${one.label}: ${ends}${failed}` }, []);
}
