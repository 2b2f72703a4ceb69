// Numbers and names as people read them.

/** So many significant digits; infinity is what a failed run counts as. */
function words(value, digits = 4) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "infinite (failed)" : "-infinite";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e7) {
    if (Number.isInteger(value) || size >= 10 ** digits) return Math.round(value).toLocaleString("en");
    return value.toPrecision(digits);
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${mantissa}e${Number(exponent)}`;
}

/** A number as a CSV file has it. */
function exact(value) {
  if (value === null || Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return String(value);
}

/** Rows of objects as CSV (RFC 4180); columns are all that any row has. */
function csv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const quoted = (field) => {
    const text = typeof field === "number" || field === null ? exact(field) : String(field ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((line) => line.map(quoted).join(",") + "\n").join("");
}

/** A file name from any text. */
function slug(...parts) {
  const text = parts.join(" ").toLowerCase().replace(/[^a-z0-9.]+/g, "-");
  return text.replace(/^[-.]+|[-.]+$/g, "").slice(0, 100) || "orthobench";
}

/** Have the browser save a text as a file. */
function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** An element with attributes and children; text never becomes markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** The sample of a solver's line and marker; of a reference's line where it is negative. */
function sample(solver) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "key");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#key-${solver < 0 ? `reference${solver}` : solver}`);
  svg.append(use);
  return svg;
}
