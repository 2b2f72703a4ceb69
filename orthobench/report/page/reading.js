// Reading a plot: the line in front, the values at a point, by pointer and by keyboard; zooming.

const NEAR = 36;
const DRAG = 8;

/** The series that the reader put in front in all plots, in this plot. */
function frontPlace(view) {
  return plots.focus === null ? null : (view.chart.lines.find(({ one }) => one.solver === plots.focus)?.place ?? null);
}

/** Put a series in front, the others in grey; null for none. */
function showFocus(view, place) {
  const { svg, lines } = view.chart;
  view.front = place;
  svg.classList.toggle("focused", place !== null);
  for (const part of svg.querySelectorAll("[data-place]")) part.classList.toggle("front", Number(part.dataset.place) === place);
  for (const label of svg.querySelectorAll(".label[role]")) label.setAttribute("aria-pressed", String(plots.focus !== null && Number(label.dataset.place) === frontPlace(view)));
  for (const row of view.legend.querySelectorAll("li[data-place]")) row.classList.toggle("front", Number(row.dataset.place) === place);
  const group = lines.find((entry) => entry.place === place)?.group;
  if (group && group.nextSibling) group.parentNode.append(group);
}

/** Keep a solver in front in all plots, or no longer. */
function pin(view, solver) {
  plots.focus = plots.focus === solver || solver < 0 ? null : solver;
  for (const one of plots.all) {
    const told = one.run !== null;
    one.run = null;
    if (!one.chart) continue;
    one.unpin.hidden = plots.focus === null;
    one.unpin.textContent = plots.focus === null ? "clear" : `clear ${plots.data.solvers[plots.focus].name}`;
    if (told) one.draw();
    showFocus(one, frontPlace(one));
    showRuns(one, one === view);
  }
  writeLink(view);
}

function watchPointer(view) {
  const { canvas } = view;
  let begin = null;
  const place = (event) => {
    const { left, top } = view.chart.svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  canvas.addEventListener("pointermove", (event) => {
    if (begin) return stretch(view, begin, place(event));
    if (!event.target.closest(".label")) hover(view, found(view, place(event)), event);
  });
  canvas.addEventListener("pointerover", (event) => {
    const label = event.target.closest(".label");
    if (label) showFocus(view, Number(label.dataset.place));
  });
  canvas.addEventListener("pointerleave", () => leave(view));
  canvas.addEventListener("pointerdown", (event) => {
    view.zoomed = false;
    if (event.button === 0 && event.pointerType === "mouse" && !event.target.closest(".label") && partAt(view, place(event))) begin = place(event);
  });
  window.addEventListener("pointerup", (event) => {
    if (!begin) return;
    const [from, to] = [begin, place(event)];
    begin = null;
    zoomTo(view, from, to);
  });
  canvas.addEventListener("click", (event) => {
    const label = event.target.closest(".label[role]");
    const hit = label ? { entry: entryOf(view, Number(label.dataset.place)) } : found(view, place(event));
    if (hit && !view.zoomed) press(view, hit);
  });
  canvas.addEventListener("dblclick", () => view.zoom && view.set({ zoom: null }));
  canvas.addEventListener("focusin", (event) => step(view, event.target, 0));
  canvas.addEventListener("focusout", () => setTimeout(() => leave(view)));
  canvas.addEventListener("keydown", (event) => key(view, event));
}

function entryOf(view, place) {
  return view.chart.lines.find((entry) => entry.place === place);
}

function partAt({ chart }, [x, y]) {
  return chart.parts.find(({ box }) => x >= box.left - 8 && x <= box.right + 8 && y >= box.top - 8 && y <= box.bottom + 8);
}

/** The point of a line that is nearest to a place, if any is near. */
function found(view, at) {
  const part = partAt(view, at);
  if (!part) return null;
  let best = { distance: NEAR };
  for (const entry of part.lines) {
    const lines = entry.runs.length ? entry.runs : [entry.line];
    lines.forEach((line, number) => {
      const [distance, i] = nearestOn(line, part.x, part.y, at, view.panel.stepped);
      if (distance < best.distance) best = { distance, entry, line, i, run: entry.runs.length ? number : null, part };
    });
    for (const [n, [x, y]] of entry.crosses.entries()) {
      const distance = Math.hypot((x === null ? part.x.begin : part.x.at(x)) - at[0], part.y.at(y) - at[1]);
      if (distance < 7) best = { distance, entry, cross: n, part };
    }
  }
  return best.entry ? best : null;
}

function hover(view, hit, event) {
  if (!hit) return leave(view);
  showFocus(view, hit.entry.place);
  showTip(view, hit, event.clientX, event.clientY);
  if (hit.line && !view.panel.x.categories && hit.run === null) showInLegend(view, hit.line.x[hit.i]);
}

function leave(view) {
  document.getElementById("tip").hidden = true;
  if (!view.chart) return;
  const held = view.canvas.contains(document.activeElement) ? document.activeElement.dataset.place : undefined;
  showFocus(view, held === undefined ? frontPlace(view) : Number(held));
  view.legend.querySelector(".at").textContent = "";
  for (const output of view.legend.querySelectorAll("output")) output.textContent = "";
}

/** A click on a line: its solver stays in front; on a single run, that run is told. */
function press(view, { entry, run }) {
  if (typeof run === "number") {
    plots.focus = null;
    pin(view, entry.one.solver);
    chooseRun(view, entry.one.solver, run);
  } else pin(view, entry.one.solver);
}

/** Keys on a name: arrows go along its line and to the other names, Enter keeps it in front. */
function key(view, event) {
  const label = event.target.closest(".label[role]");
  if (event.key === "Escape") {
    if (view.zoom) view.set({ zoom: null });
    else if (plots.focus !== null) pin(view, plots.focus);
    return;
  }
  if (!label) return;
  const names = [...view.chart.svg.querySelectorAll(".label[role]")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const to = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const along = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (event.key === "Enter" || event.key === " ") press(view, { entry: entryOf(view, Number(label.dataset.place)) });
  else if (to) names[names.indexOf(label) + to]?.focus();
  else if (along) step(view, label, along);
  else return;
  event.preventDefault();
}

/** Go along the line of a name, and show the values there. */
function step(view, target, by) {
  const label = target.closest(".label[role]");
  if (!label) return;
  const entry = entryOf(view, Number(label.dataset.place));
  showFocus(view, entry.place);
  const { there } = entry.line;
  const part = view.chart.parts.find(({ lines }) => lines.includes(entry));
  if (!there.length || !part) return;
  const from = view.step?.place === entry.place ? view.step.at : there.length - 1;
  const at = Math.min(there.length - 1, Math.max(0, from + by));
  view.step = { place: entry.place, at };
  if (!by) return;
  const { left, top } = view.chart.svg.getBoundingClientRect();
  const i = there[at];
  showTip(view, { entry, line: entry.line, i, run: null }, left + part.x.at(entry.line.atX[i]), top + part.y.at(entry.line.atY[i]));
}

/** Show the values at a point beside it. */
function showTip(view, hit, clientX, clientY) {
  const tip = document.getElementById("tip");
  const rows = valuesAt(view, hit).map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value)));
  tip.replaceChildren(element("p", {}, lineSample(hit.entry.one.solver), hit.entry.one.label), element("table", {}, ...rows));
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = clientX + 16 + width < innerWidth ? clientX + 16 : clientX - 16 - width;
  const top = Math.min(clientY + 14, innerHeight - height - 8);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function valuesAt(view, { entry, line, i, run, cross }) {
  const { panel, data } = view.chart;
  const { one } = entry;
  if (cross !== undefined) {
    const [x, y] = one.crosses.map((number) => data.pool[number][cross]);
    return [[panel.x.label, formatted(x)], [panel.y.label, formatted(y)], ["", "a failed run ended here"]];
  }
  const nameX = panel.x.categories ? panel.x.categories[line.x[i]] : formatted(line.x[i]);
  const found = [[panel.x.label, nameX], [panel.y.label, formatted(line.y[i])]];
  if (line.low && run === null) found.push([panel.band || "from, to", `${formatted(line.low[i], 3)} to ${formatted(line.high[i], 3)}`]);
  if (run !== null) found.push(["run", runName(view, one.solver, run)]);
  if (one.notes && run === null) found.push(["", one.notes[i]]);
  if (one.chosen === i && run === null) found.push(["", "chosen by tuning"]);
  if (one.ended && run === null && i === line.there.at(-1)) found.push(["ended", one.ended]);
  return found;
}

function showInLegend(view, at) {
  const { panel, data, lines } = view.chart;
  view.legend.querySelector(".at").textContent = `${panel.x.key.replaceAll("_", " ")} ${formatted(at)}`;
  for (const output of view.legend.querySelectorAll("output")) {
    const entry = lines.find(({ place }) => place === Number(output.dataset.place));
    const value = entry ? valueAt(data.pool[entry.one.x], data.pool[entry.one.y], at, panel.stepped) : null;
    output.textContent = value === null ? "" : formatted(value, 3);
  }
}

/** The value of a line at x, interpolated linearly; in logarithms where all are positive. */
function valueAt(x, y, at, stepped) {
  if (!x.length || at < x[0] || at > x.at(-1)) return null;
  let i = 0;
  while (i < x.length - 1 && x[i + 1] <= at) i += 1;
  if (stepped || i === x.length - 1 || x[i] === at) return y[i];
  const [a, b] = [y[i], y[i + 1]];
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a;
  const logs = x[i] > 0 && a > 0 && b > 0;
  const weight = logs ? Math.log(at / x[i]) / Math.log(x[i + 1] / x[i]) : (at - x[i]) / (x[i + 1] - x[i]);
  return logs ? a ** (1 - weight) * b ** weight : a + weight * (b - a);
}

/** Show the part of the plot that the pointer is drawing a rectangle around. */
function stretch(view, from, to) {
  document.getElementById("tip").hidden = true;
  view.chart.svg.querySelector(".stretch")?.remove();
  const [x, y] = [Math.min(from[0], to[0]), Math.min(from[1], to[1])];
  view.chart.svg.append(drawn("rect", { class: "stretch", x, y, width: Math.abs(to[0] - from[0]), height: Math.abs(to[1] - from[1]) }));
}

/** Zoom to a rectangle, if it is one and not a click. */
function zoomTo(view, from, to) {
  view.chart.svg.querySelector(".stretch")?.remove();
  const part = partAt(view, from);
  if (!part || Math.abs(to[0] - from[0]) < DRAG || Math.abs(to[1] - from[1]) < DRAG) return;
  const range = (scale, ends) => ends.map((pixel) => (scale.log ? Math.log10(scale.value(pixel)) : scale.value(pixel))).sort((a, b) => a - b);
  view.zoomed = true;
  const digits = (values) => values.map((value) => Number(value.toPrecision(5)));
  view.set({ zoom: { x: digits(range(part.x, [from[0], to[0]])), y: digits(range(part.y, [from[1], to[1]])) } });
}
