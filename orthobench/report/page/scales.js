// Scales of axes: from values to pixels, and ticks.

/** A scale; on a logarithmic one, low and high are logarithms to base 10. */
class Scale {
  constructor(log, [low, high], begin, end) {
    Object.assign(this, { log, low, high, begin, end });
  }

  at(value) {
    const place = this.log ? Math.log10(value) : value;
    return this.begin + ((place - this.low) / (this.high - this.low)) * (this.end - this.begin);
  }

  value(pixel) {
    const place = this.low + ((pixel - this.begin) / (this.end - this.begin)) * (this.high - this.low);
    return this.log ? 10 ** place : place;
  }

  moved(begin, end) {
    return new Scale(this.log, [this.low, this.high], begin, end);
  }
}

/** The range of an axis around its values, in logarithms where it is logarithmic. */
function rangeOf(values, log, margin, zero = false) {
  if (!log) return linearRange(values, margin, zero);
  const positive = values.filter((value) => value > 0);
  const [low, high] = [Math.log10(least(positive, 0.1)), Math.log10(greatest(positive, 1))];
  const pad = high > low ? Math.max(margin * (high - low), 0.02) : 0.5;
  return [low - pad, high + pad];
}

/** The range of a linear axis; from zero on if that takes little room, and not below without values there. */
function linearRange(values, margin, zero) {
  let [low, high] = [least(values, 0), greatest(values, 1)];
  if (zero && low > 0 && low < 0.4 * high) low = 0;
  const pad = high > low ? margin * (high - low) : Math.abs(high) || 1;
  return [zero && low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
}

function least(values, otherwise) {
  return values.length ? values.reduce((a, b) => Math.min(a, b)) : otherwise;
}

function greatest(values, otherwise = Infinity) {
  return values.length ? values.reduce((a, b) => Math.max(a, b)) : otherwise;
}

/** The ticks of an axis: values with their texts, and those between without; at most so many texts. */
function ticksOf(axis, scale, most) {
  if (axis.categories) return { texts: axis.categories.map((name, at) => [at, name]), between: [] };
  if (axis.ticks) return { texts: spaced(axis.ticks.map((value) => [value, tick(value, false)]), scale), between: [] };
  return scale.log ? logTicks(scale, most) : { texts: linearTicks(scale, most), between: [] };
}

/** Ticks without those whose texts would overlap the one before. */
function spaced(ticks, scale) {
  let free = -Infinity;
  return ticks.filter(([value, text]) => {
    const half = textWidth(text) / 2 + 4;
    if (scale.at(value) - half < free) return false;
    free = scale.at(value) + half;
    return true;
  });
}

function linearTicks(scale, most) {
  const span = scale.high - scale.low;
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(scale.low / step); at * step <= scale.high; at += 1) found.push(Number((at * step).toPrecision(12)));
  const far = greatest(found.map(Math.abs), 0) >= 1e6 || step < 1e-4;
  return found.map((value) => [value, tick(value, far)]);
}

/** Ticks of a log axis: powers of ten, and within a few decades also values between them. */
function logTicks(scale, most) {
  const decades = scale.high - scale.low;
  if (decades < 0.25) return { texts: linearTicks(new Scale(false, [10 ** scale.low, 10 ** scale.high]), most), between: [] };
  const choices = [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]];
  const inside = (steps) => multiples(scale.low, scale.high, steps);
  const steps = (decades > 2 ? choices.slice(3) : choices).find((one) => inside(one).length <= most) ?? [1];
  const every = steps.length > 1 ? 1 : Math.ceil(decades / most);
  const all = inside(steps);
  const some = all.filter((value) => every === 1 || Math.round(Math.log10(value)) % every === 0);
  const values = some.length < 2 && all.length > 1 ? [all[0], all.at(-1)] : some;
  const far = values.some((value) => value < 1e-3 || value >= 1e5);
  return { texts: values.map((value) => [value, tick(value, far)]), between: decades < 7 ? inside([2, 3, 4, 5, 6, 7, 8, 9]) : [] };
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
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (!far || (size >= 1 && size <= 100)) return value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const [mantissa, exponent] = value.toExponential().split("e");
  const raised = [...String(Number(exponent))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join("");
  return mantissa === "1" ? `10${raised}` : `${mantissa}·10${raised}`;
}
