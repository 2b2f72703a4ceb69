// Reading a plot: the line in front, the values at a point, and the runs behind a line, by pointer and by keyboard.

const NEAR = 36;
const tip = document.getElementById("tip");

/** Put a series in front, the others in grey; without a place that of the solver that is in front in all plots. */
function showFocus({ chart: { root, lines } }, place = lines.find(({ one }) => one.solver === plots.focus)?.place) {
  root.classList.toggle("focused", place !== undefined);
  for (const part of root.querySelectorAll("[data-place]")) part.classList.toggle("front", Number(part.dataset.place) === place);
  for (const label of root.querySelectorAll("button")) label.setAttribute("aria-pressed", String(lines[label.dataset.place].one.solver === plots.focus));
  const front = lines[place]?.group;
  if (front?.nextSibling) front.parentNode.append(front);
}

/** Keep a solver in front in all plots, or no longer. */
function pin(solver, at) {
  keep({ front: solver === plots.focus ? null : (plots.data.solvers[solver]?.name ?? null) }, at);
  for (const one of drawnPlots()) one.show();
}

function watchPointer(view) {
  const { canvas } = view;
  const leave = () => {
    tip.hidden = true;
    showFocus(view);
  };
  canvas.addEventListener("pointermove", (event) => {
    const label = event.target.closest(".label");
    const hit = label ? null : found(view.chart, event);
    if (!label && !hit) return leave();
    showFocus(view, label ? Number(label.dataset.place) : hit.entry.place);
    if (hit) showTip(view.chart.panel, hit, event.clientX, event.clientY);
  });
  canvas.addEventListener("click", (event) => {
    const label = event.target.closest("button");
    const entry = label ? view.chart.lines[label.dataset.place] : found(view.chart, event)?.entry;
    if (entry) pin(entry.one.solver, view.name);
  });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("focusin", (event) => showFocus(view, Number(event.target.dataset.place)));
  canvas.addEventListener("focusout", leave);
  canvas.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && plots.focus !== undefined) pin(plots.focus, view.name);
  });
}

/** The point of a line that is nearest to the pointer, if any is near; a line is near to its left and right. */
function found({ parts }, { target, clientX, clientY }) {
  const part = parts.find(({ axes }) => axes.contains(target));
  if (!part) return null;
  const { left, top, width, height } = part.axes.getBoundingClientRect();
  const [x, y] = [(100 * (clientX - left)) / width, (100 * (clientY - top)) / height];
  const hits = part.lines.flatMap((entry) => entry.there.map((i) => [Math.hypot(((entry.left[i] - x) * width) / 400, ((entry.top[i] - y) * height) / 100), entry, i]));
  const [distance, entry, i] = hits.reduce((one, other) => (other[0] < one[0] ? other : one), [Infinity]);
  return distance < NEAR ? { entry, i } : null;
}

/** Show the values at a point beside the pointer. */
function showTip({ x, y, band }, { entry: { one, ...line }, i }, clientX, clientY) {
  const values = [[x.label, x.named ? x.ticks[Math.round(line.x[i])][1] : formatted(line.x[i])], [y.label, formatted(line.y[i])]];
  if (line.low) values.push([band, `${formatted(line.low[i], 3)} to ${formatted(line.high[i], 3)}`]);
  if (one.notes.length) values.push(["", one.notes[i]]);
  if (one.chosen === i) values.push(["", "chosen by tuning"]);
  const rows = values.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value)));
  tip.replaceChildren(element("p", {}, lineSample(one.solver), one.label), element("table", {}, ...rows));
  tip.hidden = false;
  tip.style.left = `${Math.max(4, Math.min(clientX + 16, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(clientY + 14, innerHeight - tip.offsetHeight - 8))}px`;
}

/** Show the runs of the solver in front, one row a seed. */
function showRuns({ plot, runs, name }) {
  const { focus } = plots;
  const facts = plot.runs?.[focus];
  if (!facts) return runs.replaceChildren();
  const title = element("h4", {}, lineSample(focus), ` The ${facts.runs.length} runs of ${plots.data.solvers[focus].name} `, element("span", { class: "muted" }, facts.about));
  const head = element("div", { class: "run-head" }, title, element("button", { type: "button", onclick: () => pin(focus, name) }, "close"));
  const heads = ["seed", "% of the gap above the best", "final value", "time", "ended"];
  runs.replaceChildren(head, tableOf("Runs", heads, facts.runs));
}
