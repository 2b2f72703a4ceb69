// One panel as an SVG drawing: axes, grid, the floor, series, single runs.

/** A drawing of a panel under the choices of the reader, with what is needed to point at it. */
function chartOf(panel, data, view, id) {
  const shown = panel.series.map((one, place) => ({ one, place })).filter(({ one }) => !view.off.has(one.solver));
  const withRuns = shown.map(({ one }) => one).filter((one) => view.mode === "runs" || view.run?.solver === one.solver);
  view.floor = floorOf(panel, data.pool, withRuns);
  const lines = shown.map(({ one, place }, number) => ({
    one, place, phase: number / shown.length, style: styleOf(one, data), line: lineOf(one, panel, data.pool, view),
    runs: view.mode === "runs" ? (one.runs ?? []).map(([x, y]) => placedLine({ x: data.pool[x], y: data.pool[y] }, panel, view)) : [],
    crosses: one.crosses ? crossesOf(one, panel, data.pool, view) : [],
    picked: pickedRun(one, panel, data.pool, view),
  }));
  const chart = { panel, data, view, id, lines, parts: [] };
  Object.assign(chart, rangesOf(chart));
  chart.svg = drawn("svg", { class: "chart", width: view.width, height: view.height, viewBox: `0 0 ${view.width} ${view.height}`, role: "group" });
  if (view.mode === "apart" && lines.length > 1) drawApart(chart);
  else drawTogether(chart);
  if (!lines.some(({ line }) => line.there.length)) chart.svg.append(drawn("text", { class: "tick", x: view.width / 2, y: view.height / 2, "text-anchor": "middle" }, lines.length ? "no finite value" : "all solvers are hidden"));
  return chart;
}

function styleOf(one, data) {
  return data.solvers[one.solver] ?? { name: one.label, dash: data.references[-1 - one.solver], shape: "" };
}

/** Crosses where failed runs ended; a place that a log axis does not have is null. */
function crossesOf(one, panel, pool, view) {
  const [x, y] = one.crosses.map((number) => pool[number]);
  return x.map((at, i) => [placed(at, view.logX), raised(y[i], panel, view)]).filter(([, at]) => at !== null);
}

/** The ranges of both axes: around all lines, and around bands unless they are far above. */
function rangesOf({ panel, lines, view }) {
  const [xs, ys, high] = [[...panel.rules], [], []];
  for (const { line, runs, crosses, picked } of lines) {
    for (const one of [...(runs.length ? runs : [line]), ...(picked ? [picked] : [])]) {
      for (const i of one.there) {
        xs.push(one.atX[i]);
        ys.push(one.atY[i]);
      }
    }
    if (line.low && !runs.length) for (const i of line.there) high.push(line.atLow[i], line.atHigh[i]);
    for (const [x, y] of crosses) {
      if (x !== null) xs.push(x);
      high.push(y);
    }
  }
  const top = greatest(ys, 1);
  const most = view.logY ? 10 * top : top + 0.5 * (top - Math.min(least(ys, 0), 0));
  const heights = [...ys, ...high.filter((y) => y !== null && y <= most)];
  const zeros = view.logY && lines.some(({ line, runs, picked }) => [line, ...runs, ...(picked ? [picked] : [])].some((one) => one.floored.some(Boolean)));
  const categories = panel.x.categories ? [-0.6, panel.x.categories.length - 0.4] : null;
  const x = view.zoom?.x ?? categories ?? rangeOf(xs, view.logX, 0.025);
  const y = view.zoom?.y ?? rangeOf(heights, view.logY, 0.06, true);
  return { rangeX: x, rangeY: y, zeros };
}

/** All series in one pair of axes. */
function drawTogether(chart) {
  const { panel, view, lines } = chart;
  const single = singlePoints(chart);
  const names = view.labels && !panel.x.categories && !single ? lines.filter(({ line }) => line.there.length) : [];
  const room = names.length ? Math.min(0.3 * view.width, greatest(names.map(({ style }) => textWidth(style.name, BOLD)), 0)) + 26 : 14;
  const box = boxOf(chart, { right: room });
  const [x, y] = [new Scale(view.logX, chart.rangeX, box.left, box.right), new Scale(view.logY, chart.rangeY, box.bottom, box.top)];
  drawFrame(chart, box, x, y);
  const inside = drawn("g", { "clip-path": `url(#${chart.id}-clip)` });
  const clip = { x: box.left - 6, y: box.top - 6, width: box.right - box.left + 12, height: box.bottom - box.top + 12 };
  chart.svg.append(drawn("clipPath", { id: `${chart.id}-clip` }, drawn("rect", clip)), inside);
  const widths = sharedCategories(chart) ? 0.6 / lines.length : 0;
  lines.forEach((entry, number) => {
    const shift = widths * (number - (lines.length - 1) / 2) * (x.at(1) - x.at(0));
    const group = seriesGroup(chart, entry, shift ? x.moved(x.begin + shift, x.end + shift) : x, y);
    entry.group = group;
    inside.append(group);
  });
  chart.parts.push({ box, x, y, lines });
  if (single) pointLabels(chart, box, x, y);
  else if (names.length) endLabels(chart, names, box, x, y);
  chart.named = Boolean(single || names.length || !lines.length);
  noteEnds(chart, box, x);
}

/** Whether several series have points at the same category, so that they stand side by side. */
function sharedCategories({ panel, lines }) {
  if (!panel.x.categories) return false;
  const used = lines.flatMap(({ line }) => line.x);
  return new Set(used).size < used.length;
}

/** Whether each solver is a single point of a plane. */
function singlePoints({ panel, lines }) {
  const solvers = lines.filter(({ one }) => one.solver >= 0);
  return !panel.x.categories && solvers.length > 0 && solvers.every(({ line }) => line.x.length <= 1);
}

/** Small multiples: each series in front of all others, in axes of the same scales. */
function drawApart(chart) {
  const { view, lines } = chart;
  const columns = Math.max(2, Math.min(4, Math.floor(view.width / 230)));
  const rows = Math.ceil(lines.length / columns);
  const outer = boxOf(chart, { right: 10 });
  const [width, height] = [(outer.right - outer.left + 14) / columns - 14, Math.max(110, 0.55 * (view.width / columns))];
  const total = outer.top + rows * (height + 24) + (view.height - outer.bottom);
  chart.svg.setAttribute("height", round(total));
  chart.svg.setAttribute("viewBox", `0 0 ${view.width} ${round(total)}`);
  const ghosts = `${chart.id}-ghosts`;
  lines.forEach((entry, number) => {
    const [column, row] = [number % columns, Math.floor(number / columns)];
    const left = outer.left + column * (width + 14);
    const top = outer.top + 18 + row * (height + 24);
    const box = { left, right: left + width, top, bottom: top + height };
    const [x, y] = [new Scale(view.logX, chart.rangeX, left, box.right), new Scale(view.logY, chart.rangeY, box.bottom, top)];
    const last = number + columns >= lines.length;
    drawFrame(chart, box, x, y, { left: column === 0, below: last, titleY: number === 0, titleX: number === 0, height: total });
    if (!number) chart.svg.append(drawn("g", { id: ghosts }, ...lines.map((one) => drawn("path", { class: "ghost", d: pathsOf(one.line, chart.panel.stepped, x, y)[0] }))));
    else chart.svg.append(drawn("use", { href: `#${ghosts}`, x: left - outer.left, y: top - outer.top - 18 }));
    const group = seriesGroup(chart, entry, x, y);
    group.classList.add("on");
    chart.svg.append(group, labelOf(chart, entry, left, top - 6, fitted(entry.style.name, width, BOLD)));
    chart.parts.push({ box, x, y, lines: [entry] });
  });
  chart.named = true;
}

/** The box of the axes, inside what ticks and titles need. */
function boxOf(chart, { right }) {
  const { panel, view } = chart;
  const rough = new Scale(view.logY, chart.rangeY, view.height - 50, 10);
  const texts = ticksOf(panel.y, rough, Math.floor((view.height - 56) / 40)).texts.map(([, text]) => textWidth(text, BOLD));
  const names = panel.x.categories ? categoryRoom(panel, view) : 0;
  return { left: greatest(texts, 10) + 34, right: view.width - right, top: 12, bottom: view.height - 44 - names };
}

/** The room below an axis for names that do not fit side by side. */
function categoryRoom(panel, view) {
  const widest = greatest(panel.x.categories.map((name) => textWidth(name)), 0);
  return widest < (view.width - 80) / panel.x.categories.length - 8 ? 0 : Math.min(110, 0.6 * widest);
}

function drawFrame(chart, box, x, y, parts = { left: true, below: true, titleX: true, titleY: true }) {
  const { panel, view } = chart;
  const height = parts.height ?? view.height;
  const tilted = panel.x.categories && categoryRoom(panel, view) > 0;
  const across = ticksOf(panel.x, x, Math.max(2, Math.floor((box.right - box.left) / 75)));
  const up = ticksOf(panel.y, y, Math.max(2, Math.floor((box.bottom - box.top) / 40)));
  const frame = drawn("g", { class: "frame-of-axes", "aria-hidden": "true" });
  const line = (name, x1, y1, x2, y2) => frame.append(drawn("path", { class: name, d: `M${round(x1)},${round(y1)}L${round(x2)},${round(y2)}` }));
  for (const [value, text] of across.texts) {
    const at = x.at(value);
    if (!panel.x.categories) line("grid", at, box.top, at, box.bottom);
    line("axis", at, box.bottom, at, box.bottom + 4);
    if (!parts.below) continue;
    const turned = tilted ? { transform: `translate(${round(at + 3)} ${round(box.bottom + 16)}) rotate(-35)`, "text-anchor": "end" } : { x: at, y: box.bottom + 17, "text-anchor": "middle" };
    frame.append(drawn("text", { class: "tick x-tick", ...turned }, tilted ? fitted(text, 150) : text));
  }
  for (const [value, text] of up.texts) {
    const at = y.at(value);
    line("grid", box.left, at, box.right, at);
    if (parts.left) frame.append(drawn("text", { class: "tick y-tick", x: box.left - 7, y: at + 4, "text-anchor": "end" }, text));
  }
  for (const value of across.between) line("axis", x.at(value), box.bottom, x.at(value), box.bottom + 2);
  for (const value of up.between) line("axis", box.left - 2, y.at(value), box.left, y.at(value));
  line("axis", box.left, box.top, box.left, box.bottom);
  line("axis", box.left, box.bottom, box.right, box.bottom);
  for (const at of panel.rules) line("rule", x.at(at), box.top, x.at(at), box.bottom);
  if (chart.zeros && !view.zoom) drawFloor(frame, chart, box, y, parts.left);
  if (parts.titleX) frame.append(drawn("text", { class: "title x-title", x: (parts.height ? view.width : box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, fitted(panel.x.label, view.width - 20)));
  const middle = parts.height ? height / 2 : (box.top + box.bottom) / 2;
  if (parts.titleY) frame.append(drawn("text", { class: "title y-title", transform: `translate(13 ${round(middle)}) rotate(-90)`, "text-anchor": "middle" }, fitted(panel.y.label, height - 20)));
  chart.svg.append(frame);
}

/** The floor of a log axis, below a break: values that are numerically zero. */
function drawFloor(frame, { panel, view }, box, y, named) {
  const at = y.at(view.floor);
  frame.append(drawn("rect", { class: "floor", x: box.left, y: at - 7, width: box.right - box.left, height: Math.max(0, box.bottom - at + 7) }));
  if (named) frame.append(drawn("text", { class: "tick floor-note", x: box.left + 5, y: at - 11 }, `zero, or below ${tick(panel.zero, true)}`));
}

/** One series: its band, its line or its single runs, markers, crosses, and the chosen point. */
function seriesGroup(chart, entry, x, y) {
  const { panel } = chart;
  const { one, line, style, runs } = entry;
  const group = drawn("g", { class: `series ${colourClass(one.solver)}`, "data-place": entry.place });
  const { categories } = panel.x;
  if (line.low && !runs.length) group.append(categories ? bars(line, x, y) : drawn("path", { class: "band", d: bandOf(line, panel.stepped, x, y) }));
  if (runs.length) for (const run of runs) group.append(...pathsOf(run, false, x, y, false).map((d, low) => drawn("path", { class: low ? "line run floored" : "line run", d, "stroke-dasharray": low ? undefined : style.dash || undefined })));
  else if (!categories) {
    const [above, below] = pathsOf(line, panel.stepped, x, y);
    group.append(drawn("path", { class: "line", d: above, "stroke-dasharray": style.dash || undefined }));
    if (below) group.append(drawn("path", { class: "line floored", d: below }));
  }
  if (one.solver >= 0) group.append(...markersOf(entry, x, y, categories));
  for (const [at, up] of entry.crosses) group.append(drawn("path", { class: "cross", d: "M-4-4L4 4M4-4L-4 4", transform: shifted(at === null ? x.begin : x.at(at), y.at(up)) }));
  const end = line.there.at(-1);
  if (one.ended && end !== undefined && !runs.length) group.append(drawn("path", { class: "ended", d: "M0-7V7", transform: shifted(x.at(line.atX[end]), y.at(line.atY[end])) }));
  if (entry.picked) group.append(...pathsOf(entry.picked, false, x, y).map((d, low) => drawn("path", { class: low ? "line chosen-run floored" : "line chosen-run", d })));
  return group;
}

function markersOf({ line, runs, one, phase, style }, x, y, categories) {
  const places = runs.length
    ? runs.filter((run) => run.there.length).map((run) => [run, run.there.at(-1)])
    : (categories ? line.there : marked(line, phase, x)).map((i) => [line, i]);
  const found = places.map(([of, i]) => drawn("path", { class: of.floored[i] ? "marker at-floor" : "marker", d: style.shape, transform: shifted(x.at(of.atX[i]), y.at(of.atY[i])) }));
  if (one.chosen !== undefined && line.there.includes(one.chosen)) {
    found.push(drawn("circle", { class: "chosen", r: 8.5, cx: x.at(line.atX[one.chosen]), cy: y.at(line.atY[one.chosen]) }));
  }
  return found;
}

function shifted(x, y) {
  return `translate(${round(x)} ${round(y)})`;
}

function bars(line, x, y) {
  const ends = line.there.filter((i) => line.atLow[i] !== null && line.atHigh[i] !== null);
  const parts = ends.map((i) => `M${round(x.at(line.atX[i]))},${round(y.at(line.atLow[i]))}V${round(y.at(line.atHigh[i]))}`);
  return drawn("path", { class: "bar", d: parts.join("") });
}

/** The run that the reader chose, if it is one of this series. */
function pickedRun(one, panel, pool, view) {
  const pair = view.run?.solver === one.solver ? one.runs?.[view.run.number] : undefined;
  return pair ? placedLine({ x: pool[pair[0]], y: pool[pair[1]] }, panel, view) : null;
}

/** A rule where all lines end before their budget for one reason at one place. */
function noteEnds({ lines, panel, svg, view }, box, x) {
  const ended = lines.filter(({ one, line }) => one.ended && line.there.length);
  if (!ended.length || view.zoom) return;
  const last = (line) => line.atX[line.there.at(-1)];
  const places = ended.map(({ line }) => x.at(last(line)));
  if (new Set(ended.map(({ one }) => one.ended)).size > 1 || Math.max(...places) - Math.min(...places) > 1.5) return;
  const text = `${ended[0].one.ended} at ${formatted(last(ended[0].line))}`;
  svg.append(
    drawn("path", { class: "rule", d: `M${round(places[0])},${box.top}V${box.bottom}` }),
    drawn("text", { class: "tick end-note", x: places[0] - 6, y: box.top + 11, "text-anchor": "end" }, text),
  );
}
