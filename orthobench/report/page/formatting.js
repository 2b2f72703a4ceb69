// Formatting of numbers, CSV and file names.

/** A number with so many significant digits; infinity is the value of a failed run. */
function formatted(value, digits = 4) {
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

/** A number in a CSV file. */
function csvNumber(value) {
  if (value === null || Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return String(value);
}

/** Rows of objects as CSV (RFC 4180), with the columns of all rows. */
function csv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const quoted = (field) => {
    const text = typeof field === "number" || field === null ? csvNumber(field) : String(field ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((line) => line.map(quoted).join(",") + "\n").join("");
}

/** A file name made of any text. */
function slug(...parts) {
  const text = parts.join(" ").toLowerCase().replace(/[^a-z0-9.]+/g, "-");
  return text.replace(/^[-.]+|[-.]+$/g, "").slice(0, 100) || "orthobench";
}
