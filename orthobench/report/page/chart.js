// One panel as an SVG drawing: axes, grid, the floor, series, single runs.

/** A drawing of a panel under the choices of the reader, with what is needed to point at it. */
function chartOf(panel, view, id) {
  const { pool, solvers, references } = plots.data;
  const shown = panel.series.filter((one) => !view.off.has(one.solver));
  const lines = shown.map((one, number) => ({
    one, place: panel.series.indexOf(one), phase: number / shown.length,
    style: solvers[one.solver] ?? { name: one.label, dash: references[-1 - one.solver] },
    runs: (one.runs ?? []).map(([x, y], run) => ({ x: pool[x], y: pool[y], picked: one.solver === view.focus && run === view.run })).filter(({ picked }) => view.runs || picked),
  }));
  view.floor = floorOf(panel, lines.flatMap(({ runs }) => runs));
  for (const entry of lines) {
    const { one } = entry;
    const [x, y, low, high, [acrossX, acrossY]] = [pool[one.x], pool[one.y], pool[one.low], pool[one.high], one.crosses ?? []];
    entry.line = lineOf({ x, y, low, high }, panel, view);
    entry.runs = entry.runs.map((run) => ({ ...lineOf(run, { ...panel, stepped: false }, view), picked: run.picked }));
    entry.single = view.runs && entry.runs.length > 0;
    entry.crosses = (pool[acrossX] ?? []).map((at, i) => [placed(at, view.logX), raised(pool[acrossY][i], panel, view)]).filter(([, at]) => at !== null);
  }
  const svg = drawn("svg", { class: "chart", width: view.width, role: "group" });
  const chart = { panel, view, id, lines, svg, parts: [] };
  Object.assign(chart, rangesOf(chart));
  if (view.mode === "apart" && lines.length > 1) drawApart(chart);
  else drawTogether(chart);
  filled(svg, { height: chart.height, viewBox: `0 0 ${view.width} ${round(chart.height)}` }, []);
  if (!lines.some(({ line }) => line.there.length)) svg.append(drawn("text", { class: "tick", x: view.width / 2, y: view.height / 2, "text-anchor": "middle" }, lines.length ? "no finite value" : "all solvers are hidden"));
  return chart;
}

/** The floor of a log axis: below all values that are shown, those of single runs included. */
function floorOf(panel, runs) {
  const lowest = runs.map(({ y }) => least(y.filter((value) => value > panel.zero), Infinity));
  return Math.min(panel.floor, least(lowest, Infinity) / 3);
}

/** The ranges of both axes: around all lines, and around bands unless they are far above. */
function rangesOf({ panel, lines, view }) {
  const all = lines.flatMap(({ line, runs, single }) => (single ? runs : [line, ...runs]));
  const places = (name, some = all) => some.flatMap((one) => one.there.map((i) => one[name][i]));
  const banded = lines.filter(({ line, single }) => line.low && !single).map(({ line }) => line);
  const crosses = lines.flatMap((entry) => entry.crosses);
  const ys = places("atY");
  const top = greatest(ys, 1);
  const most = view.logY ? 10 * top : top + 0.5 * (top - Math.min(least(ys, 0), 0));
  const around = [...places("atLow", banded), ...places("atHigh", banded), ...crosses.map(([, y]) => y)];
  const xs = [...panel.rules, ...places("atX"), ...crosses.map(([x]) => x).filter((x) => x !== null)];
  const { categories } = panel.x;
  return {
    rangeX: view.zoom?.x ?? (categories ? [-0.6, categories.length - 0.4] : rangeOf(xs, view.logX, 0.025)),
    rangeY: view.zoom?.y ?? rangeOf([...ys, ...around.filter((y) => y !== null && y <= most)], view.logY, 0.06, true),
    zeros: all.some((one) => one.floored.some(Boolean)),
  };
}

/** All series in one pair of axes. */
function drawTogether(chart) {
  const { panel, view, lines } = chart;
  const { categories } = panel.x;
  const solvers = lines.filter(({ one }) => one.solver >= 0);
  const single = !categories && solvers.length > 0 && solvers.every(({ line }) => line.x.length <= 1);
  const names = view.labels && !categories && !single ? lines.filter(({ line }) => line.there.length) : [];
  const widest = greatest(names.map(({ style }) => textWidth(style.name, BOLD)), 0);
  const box = outerBox(chart, names.length ? Math.min(0.3 * view.width, widest) + 26 : 14);
  chart.height = view.height;
  const part = drawPart(chart, box, lines);
  drawTitles(chart, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  if (single) pointLabels(chart, part);
  else if (names.length) endLabels(chart, names, part);
  chart.labelled = Boolean(single || names.length || !lines.length);
  noteEnds(chart, part);
}

/** Small multiples: each series in front of all others, in axes of the same scales. */
function drawApart(chart) {
  const { view, lines, id, svg } = chart;
  const columns = Math.max(2, Math.min(4, Math.floor(view.width / 230)));
  const outer = outerBox(chart, 10);
  const [width, height] = [(outer.right - outer.left + 14) / columns - 14, Math.max(110, 0.55 * (view.width / columns))];
  chart.height = outer.top + Math.ceil(lines.length / columns) * (height + 24) + (view.height - outer.bottom);
  svg.classList.add("apart");
  lines.forEach((entry, number) => {
    const [across, down] = [(number % columns) * (width + 14), Math.floor(number / columns) * (height + 24)];
    const [left, top] = [outer.left + across, outer.top + 18 + down];
    const ghosts = ({ x, y }) => (number ? drawn("use", { href: `#${id}-ghosts`, x: across, y: down }) : drawn("g", { id: `${id}-ghosts` }, ...lines.map(({ line }) => drawn("path", { class: "ghost", d: pathsOf(line, x, y)[0] }))));
    const edges = { left: !across, below: number + columns >= lines.length };
    drawPart(chart, { left, right: left + width, top, bottom: top + height }, [entry], edges, ghosts);
    svg.append(labelOf(chart, entry, left, top - 6, fitted(entry.style.name, width, BOLD)));
  });
  drawTitles(chart, view.width / 2, chart.height / 2);
  chart.labelled = true;
}

/** One pair of axes with some series; the edges are those with texts. */
function drawPart(chart, box, lines, edges = { left: true, below: true }, behind = () => "") {
  const { view, svg, parts, panel } = chart;
  const [x, y] = [new Scale(view.logX, chart.rangeX, box.left, box.right), new Scale(view.logY, chart.rangeY, box.bottom, box.top)];
  const part = { box, x, y, lines };
  drawFrame(chart, part, edges);
  const id = `${chart.id}-clip-${parts.length}`;
  const clip = { x: box.left - 6, y: box.top - 6, width: box.right - box.left + 12, height: box.bottom - box.top + 12 };
  const used = panel.x.categories ? lines.flatMap(({ line }) => line.x) : [];
  const room = new Set(used).size < used.length ? (0.6 / lines.length) * (x.at(1) - x.at(0)) : 0;
  const groups = lines.map((entry, number) => (entry.group = seriesGroup(chart, entry, x.moved(room * (number - (lines.length - 1) / 2)), y)));
  svg.append(drawn("clipPath", { id }, drawn("rect", clip)), drawn("g", { "clip-path": `url(#${id})` }, behind(part), ...groups));
  parts.push(part);
  return part;
}

/** The box of the axes, inside what ticks and titles need. */
function outerBox({ panel, view, rangeY }, right) {
  const rough = new Scale(view.logY, rangeY, view.height - 50, 10);
  const texts = ticksOf(panel.y, rough, Math.floor((view.height - 56) / 40)).texts.map(([, text]) => textWidth(text, BOLD));
  return { left: greatest(texts, 10) + 34, right: view.width - right, top: 12, bottom: view.height - 44 - categoryRoom(panel, view) };
}

/** The room below an axis for names that do not fit side by side. */
function categoryRoom(panel, view) {
  const names = panel.x.categories ?? [];
  const widest = greatest(names.map((name) => textWidth(name)), 0);
  return widest < (view.width - 80) / names.length - 8 ? 0 : Math.min(110, 0.6 * widest);
}

function drawTitles({ svg, panel, view, height }, x, y) {
  svg.append(
    drawn("text", { class: "title x-title", x, y: height - 6, "text-anchor": "middle", "aria-hidden": "true" }, fitted(panel.x.label, view.width - 20)),
    drawn("text", { class: "title y-title", transform: `translate(13 ${round(y)}) rotate(-90)`, "text-anchor": "middle", "aria-hidden": "true" }, fitted(panel.y.label, height - 20)),
  );
}

function drawFrame({ panel, view, svg, zeros }, { box, x, y }, edges) {
  const tilted = categoryRoom(panel, view) > 0;
  const across = ticksOf(panel.x, x, Math.max(2, Math.floor((box.right - box.left) / 75)));
  const up = ticksOf(panel.y, y, Math.max(2, Math.floor((box.bottom - box.top) / 40)));
  const frame = drawn("g", { "aria-hidden": "true" });
  const line = (name, x1, y1, x2, y2) => frame.append(drawn("path", { class: name, d: `M${round(x1)},${round(y1)}L${round(x2)},${round(y2)}` }));
  for (const [value, text] of across.texts) {
    const at = x.at(value);
    if (!panel.x.categories) line("grid", at, box.top, at, box.bottom);
    line("axis", at, box.bottom, at, box.bottom + 4);
    if (!edges.below) continue;
    const turned = tilted ? { transform: `translate(${round(at + 3)} ${round(box.bottom + 16)}) rotate(-35)`, "text-anchor": "end" } : { x: at, y: box.bottom + 17, "text-anchor": "middle" };
    frame.append(drawn("text", { class: "tick x-tick", ...turned }, tilted ? fitted(text, 150) : text));
  }
  for (const [value, text] of up.texts) {
    const at = y.at(value);
    line("grid", box.left, at, box.right, at);
    if (edges.left) frame.append(drawn("text", { class: "tick y-tick", x: box.left - 7, y: at + 4, "text-anchor": "end" }, text));
  }
  for (const value of across.between) line("axis", x.at(value), box.bottom, x.at(value), box.bottom + 2);
  for (const value of up.between) line("axis", box.left - 2, y.at(value), box.left, y.at(value));
  line("axis", box.left, box.top, box.left, box.bottom);
  line("axis", box.left, box.bottom, box.right, box.bottom);
  for (const at of panel.rules) line("rule", x.at(at), box.top, x.at(at), box.bottom);
  if (zeros && !view.zoom) {
    const at = y.at(view.floor);
    frame.append(drawn("rect", { class: "floor", x: box.left, y: at - 7, width: box.right - box.left, height: Math.max(0, box.bottom - at + 7) }));
    if (edges.left) frame.append(drawn("text", { class: "tick floor-note", x: box.left + 5, y: at - 11 }, `zero, or below ${tick(panel.zero, true)}`));
  }
  svg.append(frame);
}

/** One series: its band, its line or its single runs, markers, crosses, and the chosen point. */
function seriesGroup({ panel }, { one, line, style, runs, single, place, phase, crosses }, x, y) {
  const { categories } = panel.x;
  const group = drawn("g", { class: `series ${colourClass(one.solver)}`, "data-place": place });
  const at = (from, i) => `translate(${round(x.at(from.atX[i]))} ${round(y.at(from.atY[i]))})`;
  const draw = (from, name, dash) => {
    const [above, below] = pathsOf(from, x, y);
    group.append(drawn("path", { class: name, d: above, "stroke-dasharray": dash || undefined }));
    if (below) group.append(drawn("path", { class: `${name} floored`, d: below }));
  };
  if (line.low && !single) group.append(categories ? bars(line, x, y) : drawn("path", { class: "band", d: bandOf(line, x, y) }));
  if (!single && !categories) draw(line, "line", style.dash);
  for (const run of runs) if (!run.picked) draw(run, "line run", style.dash);
  const ends = runs.filter((run) => run.there.length).map((run) => [run, run.there.at(-1)]);
  const markers = single ? ends : (categories ? line.there : marked(line, phase)).map((i) => [line, i]);
  if (one.solver >= 0) group.append(...markers.map(([from, i]) => drawn("path", { class: from.floored[i] ? "marker at-floor" : "marker", d: style.shape, transform: at(from, i) })));
  if (line.there.includes(one.chosen)) group.append(drawn("circle", { class: "chosen", r: 8.5, transform: at(line, one.chosen) }));
  for (const [left, height] of crosses) group.append(drawn("path", { class: "cross", d: "M-4-4L4 4M4-4L-4 4", transform: `translate(${round(left === null ? x.begin : x.at(left))} ${round(y.at(height))})` }));
  if (one.ended && line.there.length && !single) group.append(drawn("path", { class: "ended", d: "M0-7V7", transform: at(line, line.there.at(-1)) }));
  for (const run of runs) if (run.picked) draw(run, "line chosen-run");
  return group;
}

function bars(line, x, y) {
  const ends = line.there.filter((i) => line.atLow[i] !== null && line.atHigh[i] !== null);
  return drawn("path", { class: "bar", d: ends.map((i) => `M${round(x.at(line.atX[i]))},${round(y.at(line.atLow[i]))}V${round(y.at(line.atHigh[i]))}`).join("") });
}

/** A rule where all lines end before their budget, for one reason at one place. */
function noteEnds({ lines, svg, view }, { box, x }) {
  const ended = lines.filter(({ one, line }) => one.ended && line.there.length);
  const texts = new Set(ended.map(({ one, line }) => `${one.ended} at ${formatted(line.x.at(-1))}`));
  if (texts.size !== 1 || view.zoom) return;
  const at = x.at(ended[0].line.x.at(-1));
  svg.append(
    drawn("path", { class: "rule", d: `M${round(at)},${box.top}V${box.bottom}` }),
    drawn("text", { class: "tick end-note", x: at - 6, y: box.top + 11, "text-anchor": "end" }, [...texts][0]),
  );
}
