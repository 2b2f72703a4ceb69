// Lines as they are drawn: their places on the axes, and the paths of line, band and floor.

const MARKED = 12;

/** A line with its arrays and its places on the axes, null for values without a place. */
function lineOf({ x, y, low, high }, panel) {
  const [atY, atLow, atHigh] = [y, low, high].map((values) => values?.map((value) => raised(value, panel)));
  const there = x.map((_, i) => i).filter((i) => x[i] !== null && atY[i] !== null);
  const floored = y.map((value) => panel.y.log && value !== null && value <= panel.zero);
  return { x, y, low, high, atY, atLow, atHigh, there, floored };
}

/** A value as drawn: on a log axis, values that are numerically zero are at its floor. */
function raised(value, panel) {
  return value !== null && panel.y.log && value <= panel.zero ? panel.floor : value;
}

/** The line as a path, without the points at the floor, and these as a path of their own: no line leads there. */
function pathsOf(line, x, y) {
  const [above, below] = [[], []];
  let before = null;
  line.x.forEach((at, i) => {
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
  line.x.forEach((at, i) => {
    if (at === null || line.atLow[i] === null || line.atHigh[i] === null) pieces.push([]);
    else pieces.at(-1).push([x.at(at), y.at(line.atLow[i]), y.at(line.atHigh[i])].map(round));
  });
  const outline = (piece) => [...piece.map(([at, low]) => [at, low]), ...piece.map(([at, , high]) => [at, high]).reverse()];
  return pieces.filter((piece) => piece.length > 1).map((piece) => `M${outline(piece).join("L")}Z`).join("");
}

/** The points with markers: all of few, or the last. */
function marked({ there }, panel) {
  return panel.x.categories || (there.length <= MARKED && !panel.stepped) ? there : there.slice(-1);
}

/** The point of a line that is nearest to a place of a drawing, and its distance; a line is near to its left and right. */
function nearestOn(line, x, y, [left, top]) {
  const distances = line.there.map((i) => [Math.hypot((x.at(line.x[i]) - left) / 4, y.at(line.atY[i]) - top), i]);
  return distances.reduce((one, other) => (other[0] < one[0] ? other : one), [Infinity, -1]);
}
