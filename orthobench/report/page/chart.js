// One panel as an SVG drawing: axes, grid, the floor, and series.

/** A drawing of a panel, with the boxes and scales of its axes. */
function chartOf(panel, view, id) {
  const { pool, solvers, references } = plots.data;
  const lines = panel.series.map((one, place) => ({
    one, place,
    style: solvers[one.solver] ?? { name: one.label, dash: references[-1 - one.solver] },
    line: lineOf({ x: pool[one.x], y: pool[one.y], low: pool[one.low], high: pool[one.high] }, panel),
  }));
  const svg = drawn("svg", { class: "chart", width: view.width, role: "group" });
  const chart = { panel, view, id, lines, svg, parts: [] };
  if (view.apart) drawApart(chart);
  else drawTogether(chart);
  filled(svg, { height: chart.height, viewBox: `0 0 ${view.width} ${round(chart.height)}` }, []);
  if (!lines.some(({ line }) => line.there.length)) svg.append(drawn("text", { class: "tick", x: view.width / 2, y: view.height / 2, "text-anchor": "middle" }, "no finite value"));
  return chart;
}

/** All series in one pair of axes, with names at the ends of lines if these have room. */
function drawTogether(chart) {
  const { panel, view, lines } = chart;
  const ended = lines.filter(({ line }) => line.there.length);
  const names = view.width >= WIDE && ended.some(({ line }) => line.x.length > 1) && !panel.x.categories ? ended : [];
  const widest = Math.max(0, ...names.map(({ style }) => textWidth(style.name)));
  const box = outerBox(chart, names.length ? Math.min(0.3 * view.width, widest) + 26 : 14);
  chart.height = view.height;
  const part = drawPart(chart, box, lines);
  drawTitles(chart, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  if (names.length) endLabels(chart, names, part);
  chart.labelled = names.length > 0;
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
    svg.append(labelOf(chart, entry, left, top - 6, fitted(entry.style.name, width)));
  });
  drawTitles(chart, view.width / 2, chart.height / 2);
  chart.labelled = true;
}

/** One pair of axes with some series; the edges are those with texts. */
function drawPart(chart, box, lines, edges = { left: true, below: true }, behind = () => "") {
  const { svg, parts, panel } = chart;
  const part = { box, x: new Scale(panel.x, box.left, box.right), y: new Scale(panel.y, box.bottom, box.top), lines };
  drawFrame(chart, part, edges);
  const id = `${chart.id}-clip-${parts.length}`;
  const clip = { x: box.left - 6, y: box.top - 6, width: box.right - box.left + 12, height: box.bottom - box.top + 12 };
  const groups = lines.map((entry) => (entry.group = seriesGroup(panel, entry, part)));
  svg.append(drawn("clipPath", { id }, drawn("rect", clip)), drawn("g", { "clip-path": `url(#${id})` }, behind(part), ...groups));
  parts.push(part);
  return part;
}

/** The box of the axes, inside what ticks and titles need. */
function outerBox({ panel, view }, right) {
  const rough = new Scale(panel.y, view.height - 50, 10);
  const texts = ticksOf(panel.y, rough, Math.floor((view.height - 56) / 40)).map(([, text]) => textWidth(text));
  return { left: Math.max(10, ...texts) + 36, right: view.width - right, top: 12, bottom: view.height - 44 - categoryRoom(panel, view) };
}

/** The room below an axis for names that do not fit side by side. */
function categoryRoom(panel, view) {
  const names = panel.x.categories ?? [];
  const widest = Math.max(0, ...names.map(textWidth));
  return widest < (view.width - 80) / names.length - 8 ? 0 : Math.min(110, 0.6 * widest);
}

function drawTitles({ svg, panel, view, height }, x, y) {
  svg.append(
    drawn("text", { class: "x-title", x, y: height - 6, "text-anchor": "middle", "aria-hidden": "true" }, fitted(panel.x.label, view.width - 20)),
    drawn("text", { class: "y-title", transform: `translate(13 ${round(y)}) rotate(-90)`, "text-anchor": "middle", "aria-hidden": "true" }, fitted(panel.y.label, height - 20)),
  );
}

function drawFrame({ panel, view, svg }, { box, x, y }, edges) {
  const tilted = categoryRoom(panel, view) > 0;
  const across = ticksOf(panel.x, x, Math.max(2, Math.floor((box.right - box.left) / 75)));
  const up = ticksOf(panel.y, y, Math.max(2, Math.floor((box.bottom - box.top) / 40)));
  const frame = drawn("g", { "aria-hidden": "true" });
  const line = (name, x1, y1, x2, y2) => frame.append(drawn("path", { class: name, d: `M${round(x1)},${round(y1)}L${round(x2)},${round(y2)}` }));
  for (const [value, text] of across) {
    const at = x.at(value);
    if (!panel.x.categories) line("grid", at, box.top, at, box.bottom);
    line("axis", at, box.bottom, at, box.bottom + 4);
    const turned = tilted ? { transform: `translate(${round(at + 3)} ${round(box.bottom + 16)}) rotate(-35)`, "text-anchor": "end" } : { x: at, y: box.bottom + 17, "text-anchor": "middle" };
    if (edges.below) frame.append(drawn("text", { class: "tick x-tick", ...turned }, tilted ? fitted(text, 150) : text));
  }
  for (const [value, text] of up) {
    const at = y.at(value);
    line("grid", box.left, at, box.right, at);
    if (edges.left) frame.append(drawn("text", { class: "tick y-tick", x: box.left - 7, y: at + 4, "text-anchor": "end" }, text));
  }
  line("axis", box.left, box.top, box.left, box.bottom);
  line("axis", box.left, box.bottom, box.right, box.bottom);
  for (const at of panel.rules) line("rule", x.at(at), box.top, x.at(at), box.bottom);
  if (panel.floor !== null) {
    const at = y.at(panel.floor);
    frame.append(drawn("rect", { class: "floor", x: box.left, y: at - 7, width: box.right - box.left, height: Math.max(0, box.bottom - at + 7) }));
    if (edges.left) frame.append(drawn("text", { class: "tick", x: box.left + 5, y: at - 11 }, `zero, or below ${tick(panel.zero, true)}`));
  }
  svg.append(frame);
}

/** One series: its band, its line, markers, crosses, and the chosen point. */
function seriesGroup(panel, { one, line, style, place }, { x, y }) {
  const group = drawn("g", { class: `series ${colourClass(one.solver)}`, "data-place": place });
  const moved = (at, value) => `translate(${round(x.at(at))} ${round(y.at(value))})`;
  const add = (tag, attributes) => group.append(drawn(tag, attributes));
  if (line.low && panel.x.categories) add("path", { class: "bar", d: bars(line, x, y) });
  else if (line.low) add("path", { class: "band", d: bandOf(line, x, y) });
  const [above, below] = panel.x.categories ? [] : pathsOf(line, x, y);
  if (above !== undefined) add("path", { class: "line", d: above, "stroke-dasharray": style.dash || undefined });
  if (below) add("path", { class: "line floored", d: below });
  for (const i of one.solver < 0 ? [] : marked(line, panel)) add("path", { class: line.floored[i] ? "marker at-floor" : "marker", d: style.shape, transform: moved(line.x[i], line.atY[i]) });
  if (line.there.includes(one.chosen)) add("circle", { class: "chosen", r: 8.5, transform: moved(line.x[one.chosen], line.atY[one.chosen]) });
  for (const [at, value] of one.crosses) add("path", { class: "cross", d: "M-4-4L4 4M4-4L-4 4", transform: moved(at, raised(value, panel)) });
  return group;
}

function bars(line, x, y) {
  const ends = line.there.filter((i) => line.atLow[i] !== null && line.atHigh[i] !== null);
  return ends.map((i) => `M${round(x.at(line.x[i]))},${round(y.at(line.atLow[i]))}V${round(y.at(line.atHigh[i]))}`).join("");
}
