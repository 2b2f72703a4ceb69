// Lines as they are drawn: their places on the axes, the paths of line, band and floor, and markers.

const MARKERS = 6;

/** A line with its arrays and its places on the axes, null for what these do not have. Steps get corners, each with the number of the point before it. */
function lineOf(arrays, panel) {
  const corners = arrays.x.flatMap((_, i) => (panel.stepped && i ? [[i, i - 1], [i, i]] : [[i, i]]));
  const [x, y, low, high] = ["x", "y", "low", "high"].map((name) => arrays[name] && corners.map(([at, number]) => arrays[name][name === "x" ? at : number]));
  const line = { x, y, low, high, numbers: corners.map(([, number]) => number), atX: x.map((at) => placed(at, panel.x.log)) };
  [line.atY, line.atLow, line.atHigh] = [y, low, high].map((values) => values?.map((value) => raised(value, panel)));
  line.floored = y.map((value) => panel.y.log && value !== null && value <= panel.zero);
  line.there = x.map((_, i) => i).filter((i) => line.atX[i] !== null && line.atY[i] !== null);
  return line;
}

function placed(value, log) {
  return value === null || !Number.isFinite(value) || (log && value <= 0) ? null : value;
}

/** A value as drawn; on a log axis nothing is below its floor, where values are that are numerically zero. */
function raised(value, panel) {
  if (value === null || !Number.isFinite(value)) return null;
  return panel.y.log ? Math.max(value > panel.zero ? value : 0, panel.floor) : value;
}

/** The line as a path, without the points at the floor, and these as a path of their own: no line leads there. */
function pathsOf(line, x, y) {
  const [above, below] = [[], []];
  let before = null;
  line.atX.forEach((at, i) => {
    if (at === null || line.atY[i] === null) before = null;
    else {
      const point = [round(x.at(at)), round(y.at(line.atY[i]))];
      const joined = before !== null && line.floored[before] === line.floored[i];
      if (line.floored[i]) below.push(joined ? `L${point}` : `M${point[0] - 2},${point[1]}h4`);
      else above.push(joined ? `L${point}` : `M${point}`);
      before = i;
    }
  });
  return [above.join(""), below.join("")];
}

/** The band over the seeds, with gaps where an end is infinite. */
function bandOf(line, x, y) {
  const pieces = [[]];
  line.atX.forEach((at, i) => {
    if (at === null || line.atLow[i] === null || line.atHigh[i] === null) pieces.push([]);
    else pieces.at(-1).push([x.at(at), y.at(line.atLow[i]), y.at(line.atHigh[i])].map(round));
  });
  const outline = (piece) => [...piece.map(([at, low]) => [at, low]), ...piece.map(([at, , high]) => [at, high]).reverse()];
  return pieces.filter((piece) => piece.length > 1).map((piece) => `M${outline(piece).join("L")}Z`).join("");
}

/** The points that have markers: some evenly along a long line, shifted by the phase, and the last. */
function marked({ there }, phase) {
  if (there.length <= 2 * MARKERS) return there;
  const some = Array.from({ length: MARKERS }, (_, k) => there[Math.floor(((k + phase) / MARKERS) * (there.length - 1))]);
  return [...some, there.at(-1)];
}

/** How near a line comes to a place of a drawing, and the nearer end of the part that does. */
function nearestOn(line, x, y, place) {
  let [best, found, before] = [Infinity, -1, null];
  for (const i of line.there) {
    const point = [x.at(line.atX[i]), y.at(line.atY[i])];
    const from = before?.i === i - 1 ? before.point : point;
    const [dx, dy] = [point[0] - from[0], point[1] - from[1]];
    const part = dx || dy ? Math.min(Math.max(((place[0] - from[0]) * dx + (place[1] - from[1]) * dy) / (dx * dx + dy * dy), 0), 1) : 1;
    const distance = Math.hypot(place[0] - from[0] - part * dx, place[1] - from[1] - part * dy);
    if (distance < best) [best, found] = [distance, part < 0.5 ? before.i : i];
    before = { i, point };
  }
  return [best, found];
}
