// Reading a plot: the line in front, the values at a point, and the runs behind a line, by pointer and by keyboard.

const NEAR = 36;
const tip = document.getElementById("tip");

/** Put a series in front, the others in grey; without a place that of the solver that is in front in all plots. */
function showFocus(view, place = view.chart.lines.find(({ one }) => one.solver === plots.focus)?.place) {
  const { svg, lines } = view.chart;
  svg.classList.toggle("focused", place !== undefined);
  for (const part of view.figure.querySelectorAll("[data-place]")) part.classList.toggle("front", Number(part.dataset.place) === place);
  for (const label of svg.querySelectorAll(".label[role]")) label.setAttribute("aria-pressed", String(lines[label.dataset.place].one.solver === plots.focus));
  const front = lines[place]?.group;
  if (front?.nextSibling) front.parentNode.append(front);
}

/** Keep a solver in front in all plots, or no longer. */
function pin(solver, at) {
  keep({ front: solver === plots.focus ? null : (plots.data.solvers[solver]?.name ?? null) }, at);
  redraw();
}

function watchPointer(view) {
  const { canvas } = view;
  const hitOf = ({ clientX, clientY }) => {
    const { left, top } = view.chart.svg.getBoundingClientRect();
    return found(view.chart, [clientX - left, clientY - top]);
  };
  const leave = () => {
    tip.hidden = true;
    showFocus(view, view.held() ?? undefined);
  };
  const pressed = (event) => {
    const label = event.target.closest(".label[role]");
    const entry = label ? view.chart.lines[label.dataset.place] : event.type === "click" && hitOf(event)?.entry;
    if (entry) pin(entry.one.solver, view.name);
  };
  canvas.addEventListener("pointermove", (event) => {
    const label = event.target.closest(".label");
    if (label) return showFocus(view, Number(label.dataset.place));
    const hit = hitOf(event);
    if (!hit) return leave();
    showFocus(view, hit.entry.place);
    showTip(view, hit, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("click", pressed);
  canvas.addEventListener("focusin", (event) => showFocus(view, Number(event.target.dataset.place)));
  canvas.addEventListener("focusout", () => setTimeout(leave));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && plots.focus !== undefined) pin(plots.focus, view.name);
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pressed(event);
  });
}

/** The point of a line that is nearest to a place, if any is near. */
function found({ parts }, [left, top]) {
  const part = parts.find(({ box }) => left >= box.left - 8 && left <= box.right + 8 && top >= box.top - 8 && top <= box.bottom + 8);
  const hits = (part?.lines ?? []).map((entry) => [entry, ...nearestOn(entry.line, part.x, part.y, [left, top])]);
  const [entry, distance, i] = hits.reduce((one, other) => (other[1] < one[1] ? other : one), [null, Infinity]);
  return distance < NEAR ? { entry, i } : null;
}

/** Show the values at a point beside the pointer. */
function showTip(view, { entry: { one, line }, i }, clientX, clientY) {
  const { x, y, band } = view.panel;
  const values = [[x.label, x.categories?.[Math.round(line.x[i])] ?? formatted(line.x[i])], [y.label, formatted(line.y[i])]];
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
function showRuns(view) {
  const { focus } = plots;
  const facts = view.plot.runs?.[focus];
  if (!facts) return view.runs.replaceChildren();
  const name = element("h4", {}, lineSample(focus), ` The ${facts.runs.length} runs of ${plots.data.solvers[focus].name} `, element("span", { class: "muted" }, facts.about));
  const head = element("div", { class: "run-head" }, name, element("button", { type: "button", onclick: () => pin(focus, view.name) }, "close"));
  const heads = ["seed", "% of the gap above the best", "final value", "time", "ended", "load of a core before, after"];
  view.runs.replaceChildren(head, tableOf("Runs", heads, facts.runs));
}
