// What a plot shows as CSV, SVG and PNG, and as a table beside it.

const MOST_ROWS = 400;
const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "fill-opacity", "font-size", "font-family", "font-weight", "text-anchor", "display"];

/** The rows of what is shown. */
function rowsShown(view) {
  const { x, y, series } = view.panel;
  return series.filter((one) => !plots.off.has(one.solver)).flatMap((one) => rowsOf(view, one, x, y));
}

/** One series as rows. */
function rowsOf(view, one, x, y) {
  const { pool, solvers } = plots.data;
  const solver = solvers[one.solver]?.name ?? "";
  const named = ({ categories }, at) => (categories ? categories[at] : at);
  if (view.chart.view.mode === "runs" && one.runs?.length) {
    return one.runs.flatMap(([xs, ys], run) =>
      pool[xs].map((at, i) => ({ solver, label: one.label, run: runName(view, one.solver, run), [x.key]: named(x, at), [y.key]: pool[ys][i] })),
    );
  }
  return pool[one.x].flatMap((at, i) => {
    if (at === null) return [];
    const row = { solver, label: one.label, [x.key]: named(x, at), [y.key]: named(y, pool[one.y][i]) };
    if (one.low !== undefined) Object.assign(row, { low: pool[one.low][i], high: pool[one.high][i] });
    if (one.notes) row.note = one.notes[i];
    if (one.chosen !== undefined) row.chosen = i === one.chosen ? "True" : "False";
    return row;
  });
}

function fileName(view, kind) {
  return `${slug(view.plot.name, view.plot.kind, ...view.options())}.${kind}`;
}

function saveCsv(view) {
  download(fileName(view, "csv"), csv(rowsShown(view)), "text/csv");
}

function saveSvg(view) {
  download(fileName(view, "svg"), pictureOf(view)[0], "image/svg+xml");
}

/** Save the picture with twice its pixels, for sharp lines on paper and screens. */
async function savePng(view) {
  const [text, width, height] = pictureOf(view);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = element("canvas", { width: 2 * width, height: 2 * height });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(image.src);
  download(fileName(view, "png"), await new Promise((done) => canvas.toBlob(done, "image/png")), "image/png");
}

/** The plot as an SVG file that needs no style sheet, 900 pixels wide, with its title. */
function pictureOf(view) {
  const chart = chartOf(view.panel, plots.data, view.view(900, 480), `${view.name}-saved`);
  const holder = element("div", { class: "unseen" }, chart.svg);
  document.body.append(holder);
  const front = frontPlace(view);
  if (front !== null) for (const part of chart.svg.querySelectorAll(`[data-place="${front}"]`)) part.classList.add("front");
  if (front !== null) chart.svg.classList.add("focused");
  for (const part of chart.svg.querySelectorAll("*")) inlineStyle(part);
  const height = Number(chart.svg.getAttribute("height")) + 34;
  const body = getComputedStyle(document.body);
  const title = drawn("text", { x: 14, y: 22, fill: body.color, "font-size": 15, "font-family": body.fontFamily, "font-weight": 600 }, view.plot.name);
  const page = drawn("rect", { width: 900, height, fill: body.backgroundColor });
  const inner = drawn("g", { transform: "translate(0 34)" }, ...chart.svg.childNodes);
  holder.remove();
  const whole = drawn("svg", { width: 900, height, viewBox: `0 0 900 ${height}` }, page, title, inner);
  for (const part of whole.querySelectorAll("[tabindex]")) for (const name of ["tabindex", "role", "aria-pressed"]) part.removeAttribute(name);
  return [new XMLSerializer().serializeToString(whole), 900, height];
}

function inlineStyle(part) {
  const style = getComputedStyle(part);
  for (const name of PROPERTIES) {
    const value = style.getPropertyValue(name);
    if (value && value !== "normal") part.setAttribute(name, value);
  }
}

/** Fill the table behind a plot, when it is open. */
function fillTable(view) {
  if (!view.table.open || !view.panel) return;
  const rows = rowsShown(view);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const text = (value) => (typeof value === "number" ? formatted(value) : String(value ?? ""));
  const body = rows.slice(0, MOST_ROWS).map((row) => element("tr", {}, ...columns.map((name) => element("td", {}, text(row[name])))));
  const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name.replaceAll("_", " "))));
  const table = element("table", { class: "listing" }, element("thead", {}, head), element("tbody", {}, ...body));
  const more = rows.length > MOST_ROWS ? [element("p", { class: "about" }, `The first ${MOST_ROWS} of ${rows.length} rows; the CSV file has all.`)] : [];
  view.table.lastChild.replaceChildren(element("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Values of ${view.plot.name}` }, table), ...more);
}
