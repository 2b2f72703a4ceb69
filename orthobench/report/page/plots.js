// Plots: what the reader chose to see of each, its menu and its drawing.

/** All plots of the page, their data, and the numbers of solvers by their names. */
const plots = {
  data: null,
  numbers: null,
  all: [],

  /** The solver that is in front in all plots, if any is. */
  get focus() {
    return this.numbers.get(state.get("front"));
  },
};

const MANY = 6;
const WIDE = 520;
const CURVES = ["convergence", "profile"];

class PlotView {
  constructor(figure) {
    Object.assign(this, { figure, name: figure.id, plot: plots.data.plots[Number(figure.dataset.plot)], visible: false, dirty: true, chart: null });
  }

  /** What the reader chose by a name; null as it is at first. */
  chosen(name) {
    return state.get(`${this.name}.${name}`);
  }

  choose(name, value) {
    keep({ [`${this.name}.${name}`]: value }, this.name);
    this.update();
  }

  get places() {
    return this.plot.choices.map(({ name, options }) => Math.max(0, options.indexOf(this.chosen(name))));
  }

  get panel() {
    return this.plot.panels[this.places.join()];
  }

  get options() {
    return this.places.map((place, number) => this.plot.choices[number].options[place]);
  }

  /** Whether each solver has axes of its own at first. */
  get many() {
    return this.plot.kind === "convergence" && this.panel.series.length > MANY;
  }

  get apart() {
    return CURVES.includes(this.plot.kind) && ({ apart: true, together: false }[this.chosen("lines")] ?? this.many);
  }

  /** Build the menu and the places of drawing, legend, runs and table. */
  build() {
    const { plot } = this;
    this.selects = plot.choices.map(({ name, options }) => {
      const chosen = () => this.choose(name, Number(select.value) ? options[select.value] : null);
      const select = element("select", { onchange: chosen }, ...options.map((option, place) => element("option", { value: place }, option)));
      return select;
    });
    this.box = element("input", { type: "checkbox", onchange: () => this.choose("lines", this.box.checked === this.many ? null : this.box.checked ? "apart" : "together") });
    const choices = this.selects.map((select, number) => element("label", { hidden: select.length < 2 }, `${plot.choices[number].name} `, select));
    this.summary = element("summary", {});
    const menu = element("details", { class: "menu" }, this.summary, element("div", {}, ...choices, element("label", { hidden: !CURVES.includes(plot.kind) }, this.box, " axes for each solver")));
    this.canvas = element("div", { class: "canvas" });
    this.missing = element("p", { class: "waiting" }, "This combination is left out to keep the page small.");
    this.legend = element("ul", { class: "legend" });
    this.runs = element("div", { class: "runs", "aria-live": "polite" });
    this.table = element("details", { class: "more", ontoggle: () => fillTable(this) }, element("summary", {}, "the same as a table"), element("div"));
    this.figure.querySelector(".drawing").replaceChildren(menu, this.canvas, this.missing, this.legend, this.runs, this.table);
    watchPointer(this);
    new ResizeObserver(() => {
      if (this.chart && Math.abs(this.canvas.clientWidth - this.chart.view.width) > 1) this.update();
    }).observe(this.canvas);
  }

  update(...size) {
    if (!this.canvas) this.build();
    this.dirty = false;
    const { panel } = this;
    this.canvas.hidden = !panel;
    this.missing.hidden = Boolean(panel);
    this.selects.forEach((select, number) => (select.value = this.places[number]));
    this.summary.textContent = `${this.options.filter((_, number) => this.selects[number].length > 1).join(", ")} ⋯`;
    if (panel) this.draw(...size);
  }

  draw(width = Math.max(280, this.canvas.clientWidth || 680), height = width < WIDE ? 320 : 416) {
    const held = this.held();
    this.box.checked = this.apart;
    this.chart = chartOf(this.panel, { width, height, apart: this.apart, focus: plots.focus }, this.name);
    const { svg, panel } = this.chart;
    const words = ({ log, label }) => `${log ? "log" : "linear"} ${label}`;
    svg.setAttribute("aria-label", `${this.plot.kind}, ${this.plot.name}: ${words(panel.y)} against ${words(panel.x)}; ${panel.series.length} lines`);
    this.canvas.replaceChildren(svg);
    listSeries(this);
    showFocus(this);
    showRuns(this);
    fillTable(this);
    if (held !== null) this.canvas.querySelector(`.label[data-place="${held}"]`)?.focus();
  }

  /** The place of the line whose name has the focus of the keyboard, or null. */
  held() {
    const { activeElement } = document;
    return this.canvas.contains(activeElement) ? Number(activeElement.dataset.place) : null;
  }
}

/** Name the series below a drawing that has no names. */
function listSeries({ panel, legend, chart }) {
  const names = chart.labelled ? [] : panel.series;
  legend.replaceChildren(...names.map((one, place) => element("li", { class: one.solver < 0 ? "reference" : "", "data-place": place }, lineSample(one.solver), one.label)));
}

/** Fill the table behind a plot, when it is open: the points of all series. */
function fillTable(view) {
  if (!view.table.open || !view.panel) return;
  const { pool } = plots.data;
  const { x, y, band, series } = view.panel;
  const rows = series.flatMap((one) =>
    pool[one.x].map((at, i) => [
      one.label, x.categories?.[at] ?? formatted(at), formatted(pool[one.y][i]),
      ...(band ? [one.low === undefined ? "" : `${formatted(pool[one.low][i])} to ${formatted(pool[one.high][i])}`] : []),
      one.notes?.[i] ?? "",
    ]),
  );
  view.table.lastChild.replaceChildren(tableOf(`Values of ${view.plot.name}`, ["line", x.label, y.label, ...(band ? [band] : []), ""], rows));
}

/** Draw all plots anew that are in view, and the others as they come into view. */
function redraw() {
  for (const one of plots.all) one.dirty = true;
  for (const one of plots.all) if (one.visible) one.update();
}

/** Draw the plots of the page as they come into view, and all of them as wide as paper before printing. */
async function startPlots() {
  if (!("DecompressionStream" in window)) throw new Error("this browser cannot unpack the plots, a newer one can");
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (letter) => letter.charCodeAt(0));
  plots.data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  plots.numbers = new Map(plots.data.solvers.map(({ name }, number) => [name, number]));
  plots.all = [...document.querySelectorAll("figure[data-plot]")].map((figure) => new PlotView(figure));
  const views = new Map(plots.all.map((one) => [one.figure, one]));
  const changed = (changes) => {
    for (const { target, isIntersecting } of changes) {
      const view = views.get(target);
      view.visible = isIntersecting;
      if (view.visible && view.dirty) view.update();
    }
  };
  const observer = new IntersectionObserver(changed, { rootMargin: "400px 0px" });
  for (const one of plots.all) observer.observe(one.figure);
  const drawAll = (...size) => plots.all.forEach((one) => one.update(...size));
  window.addEventListener("beforeprint", () => drawAll(680, 380));
  window.addEventListener("afterprint", () => drawAll());
}
