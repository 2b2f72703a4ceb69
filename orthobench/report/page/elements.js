// Elements of the page and of drawings, and numbers as text.

/** A new element with attributes and children; text never becomes markup. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same in a drawing. */
function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(created, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") created.toggleAttribute(name, value);
    else if (value !== undefined) created.setAttribute(name, value);
  }
  created.append(...children);
  return created;
}

/** A table that scrolls, with rows of texts. */
function tableOf(label, heads, rows) {
  const head = element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map(([first, ...others]) => element("tr", {}, element("th", { scope: "row" }, first), ...others.map((one) => element("td", {}, one))));
  const table = element("table", { class: "listing" }, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": label }, table);
}

/** A sample of a solver's line and marker; of a reference's line if the number is negative. */
function lineSample(solver) {
  const use = drawn("use", { href: `#key-${solver < 0 ? `reference${solver}` : solver}` });
  return drawn("svg", { class: "key", "aria-hidden": "true" }, use);
}

/** A number with significant digits; null is the value of a failed run. */
function formatted(value, digits = 4) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(digits - 1).replace("e+", "e");
  if (Number.isInteger(value) || size >= 10 ** digits) return Math.round(value).toLocaleString("en");
  return value.toPrecision(digits);
}
