// Plots: controls, legends, tooltips and downloads.

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false };
const TOUCH = window.matchMedia("(pointer: coarse)").matches;

/** All plots of the page, their data, and the solvers that are switched off in all of them. */
const plots = { data: null, off: new Set(), all: [] };

class PlotView {
  constructor(figure, plot) {
    Object.assign(this, { figure, plot, visible: false, dirty: true, built: false });
    this.places = plot.choices.map(() => 0);
    this.log = { x: null, y: null };
    this.runs = false;
    this.found = null;
  }

  get panel() {
    return this.plot.panels[this.places.join()];
  }

  /** Build the controls, the first time. */
  build() {
    if (this.built) return;
    this.built = true;
    this.chart = element("div", { class: "chart", role: "img" });
    this.legend = element("div", { class: "legend" });
    this.missing = element("p", { class: "waiting", hidden: true }, "This combination is left out to keep the page small.");
    const body = element("div", { class: "body" }, element("div", { class: "canvas" }, this.chart, this.missing), this.legend);
    this.figure.querySelector(".drawing").replaceChildren(this.toolbar(), body);
  }

  toolbar() {
    const id = this.figure.id;
    const bar = element("div", { class: "toolbar", role: "group", "aria-label": `What ${this.plot.name} shows` });
    this.plot.choices.forEach((choice, number) => {
      if (choice.options.length < 2) return;
      const options = choice.options.map((name, place) => element("option", { value: place }, name));
      const select = element("select", { "data-choice": choice.name, onchange: () => this.choose(number, Number(select.value)) }, ...options);
      bar.append(element("label", {}, `${choice.name} `, select));
    });
    this.toggles = {};
    for (const axis of ["x", "y"]) {
      const box = element("input", { type: "checkbox", "data-log": axis, onchange: () => this.set({ log: { ...this.log, [axis]: box.checked } }) });
      this.toggles[axis] = box;
      bar.append(element("label", { class: "tick" }, box, ` log ${axis}`));
    }
    if (Object.values(this.plot.panels).some((panel) => panel.series.some((one) => one.runs))) bar.append(this.modes(id));
    const alike = plots.all.filter((other) => other.plot.kind === this.plot.kind);
    const tools = element("span", { class: "tools" });
    if (alike.length > 1) {
      tools.append(element("button", { type: "button", class: "same", title: `Show all plots of ${this.plot.kind} in this way`, onclick: () => this.share(alike) }, "apply to all"));
    }
    tools.append(
      element("button", { type: "button", class: "csv", title: "Save what is shown as CSV", onclick: () => this.saveCsv() }, "CSV"),
      element("button", { type: "button", class: "svg", title: "Save the picture as SVG", onclick: () => this.saveSvg() }, "SVG"),
    );
    bar.append(tools);
    return bar;
  }

  modes(id) {
    const made = [["bands", false], ["single runs", true]].map(([name, runs]) => {
      const radio = element("input", { type: "radio", name: `${id}-mode`, value: name, checked: !runs, onchange: () => this.set({ runs }) });
      return element("label", { class: "tick" }, radio, ` ${name}`);
    });
    this.radios = made.map((label) => label.firstChild);
    return element("span", { class: "modes", role: "radiogroup", "aria-label": "Seeds" }, ...made);
  }

  choose(number, place) {
    this.places[number] = place;
    this.update();
  }

  set(changes) {
    Object.assign(this, changes);
    this.update();
  }

  /** Apply the choices of this plot to others of the same kind, where they have the same options. */
  share(others) {
    for (const other of others) {
      if (other === this) continue;
      this.plot.choices.forEach((choice, number) => {
        const theirs = other.plot.choices.findIndex((one) => one.name === choice.name);
        const place = other.plot.choices[theirs]?.options.indexOf(choice.options[this.places[number]]) ?? -1;
        if (place >= 0) other.places[theirs] = place;
      });
      Object.assign(other, { log: { ...this.log }, runs: this.runs, dirty: true });
    }
    redrawVisible();
  }

  /** Whether an axis must be linear: it has names, or most of its values are below zero. */
  linear(axis) {
    return Boolean(this.panel[axis].categories) || (axis === "y" && this.panel.floor === null);
  }

  /** The choices of the reader, completed by the defaults of the panel. */
  view() {
    const { x, y } = this.panel;
    return {
      logX: !this.linear("x") && (this.log.x ?? x.log),
      logY: !this.linear("y") && (this.log.y ?? y.log),
      runs: this.runs,
      off: plots.off,
      width: this.chart.clientWidth,
      height: this.chart.clientHeight,
    };
  }

  update() {
    this.build();
    this.dirty = false;
    this.syncControls();
    const there = Boolean(this.panel);
    this.chart.hidden = !there;
    this.missing.hidden = there;
    if (!there) return undefined;
    const view = this.view();
    this.found = tracesOf(this.panel, plots.data, view);
    const layout = layoutOf(this.panel, view, this.found, this.size(view));
    this.chart.setAttribute("aria-label", this.summary(view));
    this.list();
    const drawing = Plotly.react(this.chart, this.found.traces, layout, CONFIG);
    if (!this.chart.dataset.watched) this.watch();
    return drawing;
  }

  size(view) {
    const fixed = TOUCH ? { dragmode: false } : { dragmode: "zoom" };
    return { ...fixed, autosize: true, uirevision: JSON.stringify([this.places, view.logX, view.logY]) };
  }

  summary(view) {
    const { x, y, series } = this.panel;
    const kinds = `${view.logY ? "log" : "linear"} ${y.label} against ${view.logX ? "log" : "linear"} ${x.label}`;
    const shown = series.filter((one) => !plots.off.has(one.solver)).length;
    return `${this.plot.kind}, ${this.plot.name}: ${kinds}; ${shown} of ${series.length} lines shown`;
  }

  syncControls() {
    const selects = this.figure.querySelectorAll("select[data-choice]");
    for (const select of selects) {
      const number = this.plot.choices.findIndex((choice) => choice.name === select.dataset.choice);
      select.value = this.places[number];
    }
    this.radios?.forEach((radio, place) => (radio.checked = Boolean(place) === this.runs));
    if (!this.panel) return;
    const view = this.view();
    for (const [axis, box] of Object.entries(this.toggles)) {
      box.checked = axis === "x" ? view.logX : view.logY;
      box.closest("label").hidden = this.linear(axis);
    }
  }

  /** Update the legend, whose boxes switch solvers on and off in all plots. */
  list() {
    const labels = this.panel.series.map((one) => `${one.solver} ${one.label}`).join("\n");
    if (this.labels !== labels) this.relist(labels);
    for (const box of this.legend.querySelectorAll("input")) box.checked = !plots.off.has(Number(box.value));
  }

  relist(labels) {
    this.labels = labels;
    const rows = this.panel.series.map((one, place) => {
      const name = element("span", { class: "name" }, one.label);
      const value = element("output", { "data-place": place });
      if (one.solver < 0) return element("li", { class: "reference" }, lineSample(one.solver), name, value);
      const box = element("input", { type: "checkbox", value: one.solver, onchange: () => switchSolvers([one.solver], box.checked) });
      return element("li", {}, element("label", {}, box, lineSample(one.solver), name), value);
    });
    const everyone = this.panel.series.map((one) => one.solver);
    const all = element("button", { type: "button", onclick: () => switchSolvers(everyone, true) }, "all");
    const none = element("button", { type: "button", onclick: () => switchSolvers(everyone, false) }, "none");
    const head = element("p", { class: "legend-head" }, element("span", { class: "at" }, "solvers"), all, none);
    this.legend.replaceChildren(head, element("ul", {}, ...rows));
  }

  watch() {
    this.chart.dataset.watched = "yes";
    this.chart.on("plotly_hover", (event) => this.showValues(event));
    this.chart.on("plotly_unhover", () => this.hideValues());
    this.chart.on("plotly_relayout", (changes) => this.retick(changes));
  }

  /** Give log axes new ticks after zooming. */
  retick(changes) {
    const ticks = {};
    for (const name of ["xaxis", "yaxis"]) {
      const { type, range } = this.chart.layout[name];
      if (type !== "log" || this.panel[name[0]].ticks || !(`${name}.range[0]` in changes || `${name}.range` in changes || `${name}.autorange` in changes)) continue;
      const fresh = { tickvals: null, ticktext: null, minor: null, ...logTicks(...range) };
      for (const [key, value] of Object.entries(fresh)) ticks[`${name}.${key}`] = value;
    }
    if (Object.keys(ticks).length) Plotly.relayout(this.chart, ticks);
  }

  /** Show the values at the pointer in a tooltip, and those of all solvers in the legend. */
  showValues(event) {
    const point = event.points[0];
    const source = this.found.sources[point.curveNumber];
    if (!source) return;
    const { x, y, band } = this.panel;
    const { one, line } = source;
    const i = point.pointNumber;
    const nameX = x.categories ? x.categories[line.x[i]] : formatted(line.x[i]);
    const lines = [[x.label, nameX], [y.label, formatted(line.y[i])]];
    if (line.low && !this.runs) lines.push([band || "from, to", `${formatted(line.low[i], 3)} to ${formatted(line.high[i], 3)}`]);
    if (line.run) lines.push(["run", `${line.run[i] + 1} of ${one.runs.length}`]);
    if (line.failed) lines.push(["", "a failed run ended here"]);
    if (one.notes && !line.failed) lines.push(["", one.notes[i]]);
    if (one.chosen === i && !line.failed) lines.push(["", "chosen by tuning"]);
    showTip(one, lines, event.event);
    if (!x.categories && !this.runs) this.showInLegend(line.x[i]);
  }

  showInLegend(at) {
    this.legend.querySelector(".at").textContent = `${this.panel.x.key.replaceAll("_", " ")} ${formatted(at)}`;
    for (const output of this.legend.querySelectorAll("output")) {
      const one = this.panel.series[Number(output.dataset.place)];
      const [x, y] = [plots.data.pool[one.x], plots.data.pool[one.y]];
      const value = plots.off.has(one.solver) ? null : valueAt(x, y, at, this.panel.stepped);
      output.textContent = value === null ? "" : formatted(value, 3);
    }
  }

  hideValues() {
    document.getElementById("tip").hidden = true;
    this.legend.querySelector(".at").textContent = "solvers";
    for (const output of this.legend.querySelectorAll("output")) output.textContent = "";
  }

  options() {
    return this.plot.choices.map((choice, number) => choice.options[this.places[number]]);
  }

  rows() {
    const { x, y, series } = this.panel;
    return series.filter((one) => !plots.off.has(one.solver)).flatMap((one) => rowsOf(one, x, y, this.runs));
  }

  saveCsv() {
    download(`${slug(this.plot.name, this.plot.kind, ...this.options())}.csv`, csv(this.rows()), "text/csv");
  }

  async saveSvg() {
    const view = { ...this.view(), width: 900, height: 480 };
    const found = tracesOf(this.panel, plots.data, view);
    const title = { text: plain(this.plot.name), x: 0.02, font: { size: 15 } };
    const legend = { showlegend: true, legend: { orientation: "h", y: -0.18, yanchor: "top" }, title, margin: { l: 10, r: 14, t: 44, b: 10 } };
    const picture = { data: found.traces.map(withMarkers), layout: layoutOf(this.panel, view, found, legend) };
    const url = await Plotly.toImage(picture, { format: "svg", width: 900, height: 560 });
    const text = decodeURIComponent(url.slice(url.indexOf(",") + 1));
    download(`${slug(this.plot.name, this.plot.kind, ...this.options())}.svg`, text, "image/svg+xml");
  }
}

/** A line with its markers, which the legend that plotly draws needs. */
function withMarkers(trace) {
  return trace.mode === "lines" ? { ...trace, mode: "lines+markers", marker: { ...trace.marker, maxdisplayed: 1 } } : trace;
}

/** One series as the rows of a CSV file. */
function rowsOf(one, x, y, runs) {
  const solver = plots.data.solvers[one.solver]?.name ?? "";
  const named = (at) => (x.categories ? x.categories[at] : at);
  const { pool } = plots.data;
  if (runs && one.runs?.length) {
    return one.runs.flatMap(([xs, ys], run) =>
      pool[xs].map((at, i) => ({ solver, label: one.label, run: run + 1, [x.key]: named(at), [y.key]: pool[ys][i] })),
    );
  }
  return pool[one.x].map((at, i) => {
    const row = { solver, label: one.label, [x.key]: named(at), [y.key]: pool[one.y][i] };
    if (one.low !== undefined) Object.assign(row, { low: pool[one.low][i], high: pool[one.high][i] });
    if (one.notes) row.note = one.notes[i];
    if (one.chosen !== undefined) row.chosen = i === one.chosen ? "True" : "False";
    return row;
  });
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

function showTip(one, lines, pointer) {
  const tip = document.getElementById("tip");
  const rows = lines.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value)));
  tip.replaceChildren(element("p", {}, lineSample(one.solver), one.label), element("table", {}, ...rows));
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = pointer.clientX + 16 + width < innerWidth ? pointer.clientX + 16 : pointer.clientX - 16 - width;
  const top = Math.min(pointer.clientY + 14, innerHeight - height - 8);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

/** Switch solvers on or off in all plots of the page. */
function switchSolvers(solvers, on) {
  for (const solver of solvers) {
    if (solver < 0) continue;
    if (on) plots.off.delete(solver);
    else plots.off.add(solver);
  }
  for (const one of plots.all) one.dirty = true;
  redrawVisible();
}

function redrawVisible() {
  for (const one of plots.all) if (one.visible && one.dirty) one.update();
}

/** Draw plots as they come into view. */
function watchPlots(data) {
  plots.data = data;
  const figures = [...document.querySelectorAll("figure[data-plot]")];
  plots.all = figures.map((figure) => new PlotView(figure, data.plots[Number(figure.dataset.plot)]));
  const views = new Map(plots.all.map((one) => [one.figure, one]));
  const observer = new IntersectionObserver(
    (changes) => {
      for (const change of changes) {
        const one = views.get(change.target);
        one.visible = change.isIntersecting;
      }
      redrawVisible();
    },
    { rootMargin: "400px 0px" },
  );
  for (const one of plots.all) observer.observe(one.figure);
}
