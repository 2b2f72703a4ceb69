// Names of series beside their lines, without overlaps; they are what a keyboard reaches.

const LINE_HEIGHT = 14;

/** Names beside the ends of lines, moved apart, with thin lines that lead to them. */
function endLabels(chart, lines, { box, x, y }) {
  const step = Math.min(LINE_HEIGHT, (box.bottom - box.top + LINE_HEIGHT) / lines.length);
  const ends = lines.map((entry) => {
    const end = entry.line.there.at(-1);
    return { entry, from: [x.at(entry.line.x[end]), y.at(entry.line.atY[end])] };
  });
  ends.sort((a, b) => a.from[1] - b.from[1]);
  const heights = apart(ends.map(({ from }) => from[1]), step, box.top, box.bottom);
  const room = chart.view.width - box.right - 22;
  ends.forEach(({ entry, from: [left, height] }, place) => {
    const bend = Math.max(left + 5, box.right + 4);
    const label = labelOf(chart, entry, box.right + 19, heights[place] + 4, fitted(entry.style.name, room));
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

/** The name of a series as something to point at, to focus and to press. */
function labelOf({ panel }, { one, line, place }, x, y, text) {
  const label = drawn("g", { class: `label ${colourClass(one.solver)}`, "data-place": place }, drawn("text", { x, y }, text));
  if (one.solver < 0) return label;
  const end = line.there.at(-1);
  const ends = end === undefined ? "no finite value" : `${panel.y.label} ${formatted(line.y[end], 3)} at ${formatted(line.x[end], 3)}`;
  const failed = one.crosses.length ? `, ${one.crosses.length} failed` : "";
  return filled(label, { tabindex: 0, role: "button", "aria-pressed": "false", "aria-label": `${one.label}: ${ends}${failed}` }, []);
}
