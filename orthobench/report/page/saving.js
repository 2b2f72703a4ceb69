// What a plot shows as CSV, SVG and PNG, and as a table beside it.

const MOST_ROWS = 400;
const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-size", "font-family", "font-weight", "text-anchor", "display"];

function savingButtons(view) {
  const save = (kind, content, type) => download([view.plot.name, view.plot.kind, ...view.options], kind, content, type);
  return [
    button("CSV", "Save what is shown as CSV", () => save("csv", csv(rowsShown(view)), "text/csv")),
    button("SVG", "Save the picture as SVG", () => save("svg", pictureOf(view)[0], "image/svg+xml")),
    button("PNG", "Save the picture as PNG", async () => save("png", await pixelsOf(...pictureOf(view)), "image/png")),
  ];
}

/** The series that are shown as rows: the same as those of figures' CSV files. */
function rowsShown(view) {
  const { pool, solvers } = plots.data;
  const { panel, view: { off, runs } } = view.chart;
  const { x, y } = panel;
  const named = ({ categories }, at) => (categories ? categories[at] : at);
  return panel.series.filter((one) => !off.has(one.solver)).flatMap((one) => {
    const about = { solver: solvers[one.solver]?.name ?? "", label: one.label };
    if (runs && one.runs?.length) {
      return one.runs.flatMap(([xs, ys], run) => pool[xs].map((at, i) => ({ ...about, run: runName(view, one.solver, run), [x.key]: at, [y.key]: pool[ys][i] })));
    }
    const rows = pool[one.x].map((at, i) => ({
      ...about, [x.key]: named(x, at), [y.key]: named(y, pool[one.y][i]),
      ...(one.low === undefined ? {} : { low: pool[one.low][i], high: pool[one.high][i] }),
      ...(one.notes ? { note: one.notes[i] } : {}),
      ...(one.chosen === undefined ? {} : { chosen: i === one.chosen ? "True" : "False" }),
    }));
    return rows.filter((_, i) => pool[one.x][i] !== null);
  });
}

/** The plot as an SVG file that needs no style sheet, 900 pixels wide, with its title. */
function pictureOf(view) {
  const chart = chartOf(view.panel, view.view(900, 480), `${view.name}-saved`);
  const { svg } = chart;
  const holder = element("div", { class: "unseen" }, svg);
  document.body.append(holder);
  showFocus({ ...view, chart });
  for (const part of svg.querySelectorAll("*")) {
    const style = getComputedStyle(part);
    for (const name of PROPERTIES) part.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["tabindex", "role", "aria-pressed"]) part.removeAttribute(name);
  }
  const height = chart.height + 34;
  const { color, fontFamily, backgroundColor } = getComputedStyle(document.body);
  const page = drawn("rect", { width: 900, height, fill: backgroundColor });
  const title = drawn("text", { x: 14, y: 22, fill: color, "font-size": 15, "font-family": fontFamily, "font-weight": 600 }, view.plot.name);
  const inner = drawn("g", { transform: "translate(0 34)" }, ...svg.childNodes);
  holder.remove();
  const whole = drawn("svg", { width: 900, height, viewBox: `0 0 900 ${height}` }, page, title, inner);
  return [new XMLSerializer().serializeToString(whole), height];
}

/** A picture with twice its pixels, for sharp lines on paper and screens. */
async function pixelsOf(text, height) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = element("canvas", { width: 1800, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 1800, 2 * height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Fill the table behind a plot, when it is open. */
function fillTable(view) {
  if (!view.table.open || !view.panel) return;
  const rows = rowsShown(view);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const text = (value) => (typeof value === "number" ? formatted(value) : (value ?? ""));
  const table = tableOf(`Values of ${view.plot.name}`, columns.map((name) => name.replaceAll("_", " ")), rows.slice(0, MOST_ROWS).map((row) => ({ cells: columns.map((name) => text(row[name])) })));
  const more = element("p", { class: "about", hidden: rows.length <= MOST_ROWS }, `The first ${MOST_ROWS} of ${rows.length} rows; the CSV file has all.`);
  view.table.lastChild.replaceChildren(table, more);
}
