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

class PlotView {
  constructor(figure) {
    Object.assign(this, { figure, name: figure.id, plot: plots.data.plots[Number(figure.dataset.plot)], visible: false, dirty: true });
  }

  /** The places of the chosen options. */
  get places() {
    return this.plot.choices.map(({ name, options }) => Math.max(0, options.indexOf(state.get(`${this.name}.${name}`))));
  }

  get panel() {
    return this.plot.panels[this.places.join()];
  }

  /** Build the menu and the places of drawing, legend and runs. */
  build() {
    this.selects = this.plot.choices.map(({ name, options }) => {
      const choose = () => {
        keep({ [`${this.name}.${name}`]: Number(select.value) ? options[select.value] : null }, this.name);
        this.update();
      };
      const select = element("select", { onchange: choose }, ...options.map((option, place) => element("option", { value: place }, option)));
      return select;
    });
    const choices = this.selects.map((select, number) => element("label", { hidden: select.length < 2 }, `${this.plot.choices[number].name} `, select));
    this.summary = element("summary", {});
    const menu = element("details", { class: "menu" }, this.summary, element("div", {}, ...choices));
    this.canvas = element("div", { class: "canvas" });
    this.legend = element("ul", { class: "legend" });
    this.runs = element("div", { class: "runs", "aria-live": "polite" });
    this.figure.querySelector(".drawing").replaceChildren(menu, this.canvas, this.legend, this.runs);
    watchPointer(this);
    new ResizeObserver(() => {
      if (Math.abs(this.canvas.clientWidth - this.chart.view.width) > 1) this.update();
    }).observe(this.canvas);
  }

  update(width) {
    if (!this.canvas) this.build();
    this.dirty = false;
    const { panel, places, plot } = this;
    this.selects.forEach((select, number) => (select.value = places[number]));
    const shown = places.map((place, number) => plot.choices[number].options[place]);
    this.summary.textContent = `${shown.filter((_, number) => this.selects[number].length > 1).join(", ")} ⋯`;
    this.draw(panel, width ?? Math.max(280, this.canvas.clientWidth || 680));
  }

  draw(panel, width) {
    const held = this.held();
    const apart = this.plot.kind === "convergence" && panel.series.length > MANY;
    this.chart = chartOf(panel, { width, height: width < WIDE ? 320 : 416, apart }, this.name);
    const words = ({ log, label }) => `${log ? "log" : "linear"} ${label}`;
    this.chart.svg.setAttribute("aria-label", `${this.plot.kind}, ${this.plot.name}: ${words(panel.y)} against ${words(panel.x)}; ${panel.series.length} lines`);
    this.canvas.replaceChildren(this.chart.svg);
    const names = this.chart.labelled ? [] : panel.series;
    this.legend.replaceChildren(...names.map((one, place) => element("li", { class: colourClass(one.solver), "data-place": place }, lineSample(one.solver), one.label)));
    showFocus(this);
    showRuns(this);
    if (held !== null) this.canvas.querySelector(`.label[data-place="${held}"]`)?.focus();
  }

  /** The place of the line whose name has the focus of the keyboard, or null. */
  held() {
    const { activeElement } = document;
    return this.canvas.contains(activeElement) ? Number(activeElement.dataset.place) : null;
  }
}

/** Draw all plots anew that are in view, and the others as they come into view. */
function redraw() {
  for (const one of plots.all) one.dirty = true;
  for (const one of plots.all) if (one.visible) one.update();
}

/** Draw the plots of the page as they come into view, and everything before printing. */
async function startPlots() {
  if (!("DecompressionStream" in window)) throw new Error("this browser cannot unpack the plots, a newer one can");
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (letter) => letter.charCodeAt(0));
  plots.data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  plots.numbers = new Map(plots.data.solvers.map(({ name }, number) => [name, number]));
  plots.all = [...document.querySelectorAll("figure[data-plot]")].map((figure) => new PlotView(figure));
  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const view = plots.all.find(({ figure }) => figure === target);
      view.visible = isIntersecting;
      if (view.visible && view.dirty) view.update();
    }
  }, { rootMargin: "400px 0px" });
  for (const one of plots.all) observer.observe(one.figure);
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:is(.problem, .part)")) one.open = true;
    for (const one of plots.all) one.update(680);
  });
  window.addEventListener("afterprint", redraw);
}
