// Conversion of panels to plotly's traces and layout.

const WIDTH = 1.8;
const GREY = "#6b7280";
const INK = "#1c2127";
const MUTED = "#59636e";
const GRID = "#e7eaee";
const MARKERS = 6;
const FAMILY =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';

/** Text that plotly does not read as markup. */
function plain(text) {
  return String(text).replace(/[&<>"'%$]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** The traces of a panel under the choices of the reader, with their sources and values. */
function tracesOf(panel, data, view) {
  const found = { traces: [], sources: [], xs: [], ys: [], high: [], zeros: false };
  const shown = panel.series.filter((one) => !view.off.has(one.solver));
  shown.forEach((one, place) => {
    const line = lineOf(one, panel, data, view, found);
    const style = styleOf(one, data);
    const phase = place / shown.length;
    if (view.runs && one.runs?.length) addRuns(one, style, panel, data, view, found);
    else addMedian(one, style, line, phase, panel, view, found);
  });
  for (const one of shown) if (one.crosses) addCrosses(one, panel, data, view, found);
  return found;
}

function styleOf(one, data) {
  return data.solvers[one.solver] ?? { colour: GREY, dash: data.references[-1 - one.solver], symbol: "" };
}

/** The arrays of a series, as measured and as drawn. */
function lineOf(one, panel, data, view, found) {
  const [x, y] = [data.pool[one.x], data.pool[one.y]];
  const line = { x, y, atX: x.map((at) => placed(at, view.logX)) };
  line.atY = y.map((value) => raised(value, panel, view.logY, found));
  if (one.low !== undefined) {
    [line.low, line.high] = [data.pool[one.low], data.pool[one.high]];
    line.atLow = line.low.map((value) => raised(value, panel, view.logY, found));
    line.atHigh = line.high.map((value) => raised(value, panel, view.logY, found));
  }
  return line;
}

function placed(value, log) {
  return value === null || !Number.isFinite(value) || (log && value <= 0) ? null : value;
}

/** A value as drawn; on a log axis, values that are numerically zero are at its floor. */
function raised(value, panel, log, found) {
  if (value === null || !Number.isFinite(value)) return null;
  if (!log || value > panel.zero) return value;
  found.zeros = true;
  return panel.floor;
}

function addMedian(one, style, line, phase, panel, view, found) {
  const categories = panel.x.categories || panel.y.categories;
  const at = line.atX.map((x, i) => i).filter((i) => line.atX[i] !== null && line.atY[i] !== null);
  for (const i of at) {
    found.xs.push(line.atX[i]);
    found.ys.push(line.atY[i]);
  }
  if (line.low && !categories) addBand(style, line, panel, found);
  const trace = {
    type: "scatter", x: line.atX, y: line.atY, mode: categories ? "markers" : "lines",
    name: plain(one.label), hoverinfo: "none", connectgaps: false,
    line: { color: style.colour, width: WIDTH, dash: style.dash || "solid", shape: panel.stepped ? "hv" : "linear" },
    marker: markerOf(style, 10),
  };
  if (categories && line.low) trace.error_y = barOf(line, style, found);
  found.traces.push(trace);
  found.sources.push({ one, line });
  if (!categories) addMarkers(one, style, line, at, phase, view, found);
}

function markerOf(style, size) {
  const scale = { star: 1.35, cross: 1.1, diamond: 1.0 }[style.symbol] ?? 1;
  return { color: style.colour, symbol: style.symbol || "circle", size: size * scale, line: { color: "#fff", width: 0.8 } };
}

function barOf(line, style, found) {
  const up = line.y.map((y, i) => (line.atHigh[i] === null ? 0 : line.atHigh[i] - y));
  const down = line.y.map((y, i) => (line.atLow[i] === null ? 0 : y - line.atLow[i]));
  found.high.push(...line.atHigh.filter((y) => y !== null), ...line.atLow.filter((y) => y !== null));
  return { type: "data", symmetric: false, array: up, arrayminus: down, color: style.colour, thickness: 1.6, width: 5 };
}

/** The band over the seeds, with gaps where an end is infinite. */
function addBand(style, line, panel, found) {
  const [x, y] = [[], []];
  let piece = [];
  const close = () => {
    if (piece.length > 1) {
      const lows = stairs(piece.map((i) => [line.atX[i], line.atLow[i]]), panel.stepped);
      const highs = stairs(piece.map((i) => [line.atX[i], line.atHigh[i]]), panel.stepped);
      for (const [at, value] of [...lows, ...highs.reverse(), lows[0]]) {
        x.push(at);
        y.push(value);
      }
      x.push(null);
      y.push(null);
    }
    piece = [];
  };
  line.atX.forEach((at, i) => {
    if (at === null || line.atLow[i] === null || line.atHigh[i] === null) return close();
    found.ys.push(line.atLow[i]);
    found.high.push(line.atHigh[i]);
    piece.push(i);
  });
  close();
  if (!x.length) return;
  found.traces.push({
    type: "scatter", x, y, mode: "none", fill: "toself", hoverinfo: "skip",
    fillcolor: `${style.colour}24`, showlegend: false,
  });
  found.sources.push(null);
}

function stairs(points, stepped) {
  if (!stepped) return points;
  return points.flatMap(([x, y], i) => (i ? [[x, points[i - 1][1]], [x, y]] : [[x, y]]));
}

/** A few markers along a line, so that lines differ without their colours; the chosen point. */
function addMarkers(one, style, line, at, phase, view, found) {
  const points = at.length <= 12 ? at : marked(at, line.atX, phase, view.logX);
  if (!points.length || one.solver < 0) return;
  found.traces.push({
    type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false,
    x: points.map((i) => line.atX[i]), y: points.map((i) => line.atY[i]),
    marker: markerOf(style, 8), cliponaxis: false,
  });
  found.sources.push(null);
  if (one.chosen === undefined || !at.includes(one.chosen)) return;
  found.traces.push({
    type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false,
    x: [line.atX[one.chosen]], y: [line.atY[one.chosen]],
    cliponaxis: false,
    marker: { symbol: "circle-open", size: 17, color: INK, line: { color: INK, width: 1.8 } },
  });
  found.sources.push(null);
}

/** The points that have markers: evenly along the axis, shifted by the phase, and the last. */
function marked(at, xs, phase, log) {
  if (!at.length) return [];
  const measure = (x) => (log ? Math.log(x) : x);
  const [first, last] = [measure(xs[at[0]]), measure(xs[at.at(-1)])];
  const found = new Set([at.at(-1)]);
  let next = 0;
  for (let k = 0; k < MARKERS; k += 1) {
    const wanted = first + ((last - first) * (k + phase)) / MARKERS;
    while (next < at.length - 1 && measure(xs[at[next]]) < wanted) next += 1;
    found.add(at[next]);
  }
  return [...found];
}

/** The single runs of a solver, as one trace with gaps between the runs. */
function addRuns(one, style, panel, data, view, found) {
  const line = { x: [], y: [], atX: [], atY: [], run: [] };
  const ends = { x: [], y: [] };
  one.runs.forEach(([xs, ys], run) => {
    const [x, y] = [data.pool[xs], data.pool[ys]];
    let end = null;
    for (let i = 0; i < x.length; i += 1) {
      const [atX, atY] = [placed(x[i], view.logX), raised(y[i], panel, view.logY, found)];
      line.x.push(x[i]);
      line.y.push(y[i]);
      line.run.push(run);
      line.atX.push(atX);
      line.atY.push(atX === null ? null : atY);
      if (atX !== null && atY !== null) {
        found.xs.push(atX);
        found.ys.push(atY);
        end = [atX, atY];
      }
    }
    for (const part of [line.x, line.y, line.run, line.atX, line.atY]) part.push(null);
    if (end) {
      ends.x.push(end[0]);
      ends.y.push(end[1]);
    }
  });
  found.traces.push(
    { type: "scatter", x: line.atX, y: line.atY, mode: "lines", name: plain(one.label), hoverinfo: "none",
      connectgaps: false, opacity: 0.75, line: { color: style.colour, width: 1.1, dash: style.dash || "solid" } },
    { type: "scatter", ...ends, mode: "markers", hoverinfo: "skip", showlegend: false, marker: markerOf(style, 7) },
  );
  found.sources.push({ one, line }, null);
}

/** Crosses where failed runs ended; on the left edge where a log axis has no such place. */
function addCrosses(one, panel, data, view, found) {
  const style = styleOf(one, data);
  const [x, y] = one.crosses.map((number) => data.pool[number]);
  const line = { x, y, failed: true };
  const edge = found.xs.length ? least(found.xs) : null;
  line.atX = x.map((at) => placed(at, view.logX) ?? edge);
  line.atY = y.map((value) => raised(value, panel, view.logY, found));
  found.high.push(...line.atY.filter((value) => value !== null));
  found.traces.push({
    type: "scatter", x: line.atX, y: line.atY, mode: "markers", hoverinfo: "none", showlegend: false,
    cliponaxis: false,
    marker: { symbol: "x-thin", size: 9, color: style.colour, line: { color: style.colour, width: 2.2 } },
  });
  found.sources.push({ one, line });
}

/** The layout around the traces: axes with ranges, the floor, vertical rules. */
function layoutOf(panel, view, found, more = {}) {
  const ys = found.ys.filter((y) => y !== null);
  const top = greatest(ys);
  const most = view.logY ? 10 * top : top + 0.5 * (top - Math.min(least(ys, 0), 0));
  const heights = [...found.ys, ...found.high.filter((y) => y <= most)];
  const shapes = panel.rules.map((x) => ({
    type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, layer: "below",
    line: { color: MUTED, width: 1, dash: "2px,3px" },
  }));
  const annotations = [];
  if (view.logY && found.zeros) {
    shapes.push({
      type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: panel.floor, y1: panel.floor, layer: "below",
      line: { color: MUTED, width: 1, dash: "2px,3px" },
    });
    annotations.push({
      xref: "paper", yref: "y", x: 0, y: Math.log10(panel.floor), xanchor: "left", yanchor: "bottom",
      xshift: 4, showarrow: false, text: plain(`0, or below ${tick(panel.zero, true)}`),
      font: { size: 11, color: MUTED },
    });
  }
  return {
    xaxis: axisOf(panel.x, view.logX, found.xs, 0.025, view.width / 7.5, false),
    yaxis: axisOf(panel.y, view.logY, heights, 0.06, view.height / 8, true),
    shapes, annotations,
    font: { family: FAMILY, size: 12.5, color: INK },
    margin: { l: 10, r: 14, t: 10, b: 10 },
    paper_bgcolor: "#fff", plot_bgcolor: "#fff",
    hovermode: "closest", hoverdistance: 24, showlegend: false, ...more,
  };
}

function axisOf(axis, log, values, margin, letters, zero) {
  const shared = {
    title: { text: wrapped(axis.label, letters), standoff: 8, font: { size: 13 } },
    automargin: true, zeroline: false, gridcolor: GRID, linecolor: "#8c959f", showline: true,
    ticks: "outside", ticklen: 4, tickcolor: "#8c959f", tickfont: { color: MUTED },
  };
  if (axis.categories) {
    const places = axis.categories.map((_, i) => i);
    const range = [-0.6, places.length - 0.4];
    return { ...shared, type: "linear", tickvals: places, ticktext: axis.categories.map(plain), range, showgrid: false };
  }
  if (axis.ticks) Object.assign(shared, { tickvals: axis.ticks, ticktext: axis.ticks.map((value) => tick(value, false)) });
  if (!log) return { ...shared, type: "linear", range: linearRange(values, margin, zero), separatethousands: true, exponentformat: "power" };
  const positive = values.filter((value) => value > 0);
  let [low, high] = [Math.log10(least(positive, 0.1)), Math.log10(greatest(positive, 1))];
  const pad = high > low ? Math.max(margin * (high - low), 0.02) : 0.5;
  [low, high] = [low - pad, high + pad];
  return { ...shared, type: "log", range: [low, high], ...(axis.ticks ? {} : logTicks(low, high)) };
}

/** Ticks of a log axis: powers of ten, and within a few decades also values between them. */
function logTicks(low, high) {
  const decades = high - low;
  const steps = decades > 2.2 ? [1] : decades > 0.9 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
  const every = decades > 2.2 ? Math.ceil(decades / 8) : 1;
  const tickvals = multiples(low, high, steps).filter((value) => Math.round(Math.log10(value)) % every === 0 || every === 1);
  if (tickvals.length < 2) return { nticks: 6, tickformat: ",.6~g" };
  const minor = decades > 0.9 && decades < 7 ? multiples(low, high, [2, 3, 4, 5, 6, 7, 8, 9]) : [];
  const far = tickvals.some((value) => value < 1e-3 || value >= 1e5);
  return { tickvals, ticktext: tickvals.map((value) => tick(value, far)), minor: { tickvals: minor, ticks: "outside", ticklen: 2, tickcolor: "#8c959f" } };
}

function multiples(low, high, steps) {
  const found = [];
  for (let power = Math.floor(low); power <= high; power += 1) {
    for (const step of steps) found.push(Number(`${step}e${power}`));
  }
  return found.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
}

/** A tick as text: 0.01, 1, 2,000; on axes that reach far, 10⁻², 1, 2·10³. */
function tick(value, far) {
  if (!far || (value >= 1 && value <= 100)) return value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const [mantissa, exponent] = value.toExponential().split("e");
  const raised = [...String(Number(exponent))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join("");
  return mantissa === "1" ? `10${raised}` : `${mantissa}·10${raised}`;
}

/** Text in lines of at most so many letters. */
function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line && line.length + word.length >= most) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.map(plain).join("<br>");
}

/** The range of a linear axis; from zero on if that takes little room. */
function linearRange(values, margin, zero) {
  let [low, high] = [least(values, 0), greatest(values, 1)];
  if (zero && low > 0 && low < 0.4 * high) low = 0;
  const pad = high > low ? margin * (high - low) : Math.abs(high) || 1;
  return [zero && low === 0 ? -0.3 * pad : low - pad, high + pad];
}

function least(values, otherwise) {
  return values.length ? values.reduce((a, b) => Math.min(a, b)) : otherwise;
}

function greatest(values, otherwise = Infinity) {
  return values.length ? values.reduce((a, b) => Math.max(a, b)) : otherwise;
}
