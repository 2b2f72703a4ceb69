// Names of series beside their lines and points, without overlaps; they are what a keyboard reaches.

const LINE_HEIGHT = 14;

/** Names beside the ends of lines, moved apart, with thin lines that lead to them. */
function endLabels(chart, lines, { box, x, y }) {
  const step = Math.min(LINE_HEIGHT, (box.bottom - box.top + LINE_HEIGHT) / lines.length);
  const ends = lines.map((entry) => {
    const end = entry.line.there.at(-1);
    return { entry, from: [x.at(entry.line.atX[end]), y.at(entry.line.atY[end])] };
  });
  ends.sort((a, b) => a.from[1] - b.from[1]);
  const heights = apart(ends.map(({ from }) => from[1]), step, box.top, box.bottom);
  const room = chart.view.width - box.right - 22;
  ends.forEach(({ entry, from: [left, height] }, place) => {
    const bend = Math.max(left + 5, box.right + 4);
    const label = labelOf(chart, entry, box.right + 19, heights[place] + 4, fitted(entry.style.name, room, BOLD));
    label.prepend(drawn("path", { class: "leader", d: `M${round(left + 5)},${round(height)}H${round(bend)}L${round(box.right + 16)},${round(heights[place])}` }));
    chart.svg.append(label);
  });
}

/** Ascending heights at least so far apart: the mean of those moved only down and of those moved only up. */
function apart(wanted, step, top, bottom) {
  const [down, up] = [[...wanted], [...wanted]];
  for (let i = 1; i < down.length; i += 1) down[i] = Math.max(down[i], down[i - 1] + step);
  for (let i = up.length - 2; i >= 0; i -= 1) up[i] = Math.min(up[i], up[i + 1] - step);
  const lowest = (i) => bottom - (wanted.length - 1 - i) * step;
  return down.map((height, i) => Math.max(top + i * step, Math.min(lowest(i), (height + up[i]) / 2)));
}

/** Names beside single points at the nearest free places, led to if these are far; without any, only while they are in front. */
function pointLabels(chart, { box, x, y }) {
  const points = chart.lines.filter(({ one, line }) => one.solver >= 0 && line.there.length);
  const places = points.map(({ line }) => [x.at(line.atX[0]), y.at(line.atY[0])]);
  const taken = places.map(([left, top]) => [left - 6, top - 6, left + 6, top + 6]);
  points.forEach((entry, number) => {
    const [px, py] = places[number];
    const boxes = boxesAround(px, py, textWidth(entry.one.label, BOLD), box, chart.view);
    const free = boxes.find((one) => !taken.some((other) => overlap(one, other)));
    const [left, top, right, bottom] = free ?? boxes[0];
    const label = labelOf(chart, entry, left, top + 11, entry.one.label);
    const near = [within(px, left, right), within(py, top, bottom)];
    if (Math.hypot(near[0] - px, near[1] - py) > LINE_HEIGHT) label.prepend(drawn("path", { class: "leader", d: `M${[px, py].map(round)}L${near.map(round)}` }));
    if (free) taken.push(free);
    else label.classList.add("crowded");
    chart.svg.append(label);
  });
}

/** Boxes for a name of a width around a point, the nearest first, as far as the drawing reaches. */
function boxesAround(px, py, width, box, view) {
  const step = LINE_HEIGHT / 4;
  const rows = Array.from({ length: 2 * Math.ceil(view.height / step) }, (_, i) => (i - Math.ceil(view.height / step)) * step);
  const lefts = [10, -10 - width, -width / 2, 40, -40 - width, view.width].map((by) => within(px + by, box.left + 3, view.width - 3 - width));
  const boxes = rows.flatMap((row) => lefts.map((left) => [left, py - 7 + row, left + width, py + 7 + row])).filter(([, top, , bottom]) => top >= 0 && bottom <= box.bottom);
  const far = ([left, top, right, bottom]) => Math.hypot(within(px, left, right) - px, (top + bottom) / 2 - py);
  return boxes.sort((one, other) => far(one) - far(other));
}

function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/** The name of a series as something to point at, to focus and to press. */
function labelOf({ panel }, entry, x, y, text) {
  const { one, line } = entry;
  const end = line.there.at(-1);
  const label = drawn("g", { class: `label ${colourClass(one.solver)}`, "data-place": entry.place }, drawn("text", { x, y }, text));
  if (one.solver < 0) return label;
  const ends = end === undefined ? "no finite value" : `${panel.y.label} ${formatted(line.y[end], 3)} at ${formatted(line.x[end], 3)}${one.ended ? `, ${one.ended}` : ""}`;
  const failed = entry.crosses.length ? `, ${entry.crosses.length} failed` : "";
  return filled(label, { tabindex: 0, role: "button", "aria-pressed": "false", "aria-label": `${one.label}: ${ends}${failed}` }, []);
}
