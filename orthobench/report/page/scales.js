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

  moved(by) {
    return new Scale(this.log, [this.low, this.high], this.begin + by, this.end + by);
  }
}

/** The range of an axis around its values, in logarithms if it is logarithmic; a linear one from zero on if that takes little room. */
function rangeOf(values, log, margin, zero = false) {
  const places = log ? values.filter((value) => value > 0).map(Math.log10) : values;
  let [low, high] = [least(places, log ? -1 : 0), greatest(places, log ? 0 : 1)];
  if (!log && zero && low > 0 && low < 0.4 * high) low = 0;
  const pad = high > low ? Math.max(margin * (high - low), log ? 0.02 : 0) : log ? 0.5 : Math.abs(high) || 1;
  return [!log && zero && low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
}

function least(values, otherwise) {
  return values.length ? values.reduce((a, b) => Math.min(a, b)) : otherwise;
}

function greatest(values, otherwise) {
  return values.length ? values.reduce((a, b) => Math.max(a, b)) : otherwise;
}

/** The ticks of an axis, at most so many: values with their texts. */
function ticksOf(axis, scale, most) {
  if (axis.categories) return axis.categories.map((name, at) => [at, name]);
  if (axis.ticks) return spaced(axis.ticks.map((value) => [value, tick(value, false)]), scale);
  return scale.log ? logTicks(scale, most) : linearTicks(scale, most);
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

function linearTicks({ low, high }, most) {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((size) => size >= rough);
  const first = Math.ceil(low / step);
  const values = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  const far = step < 1e-4 || values.some((value) => Math.abs(value) >= 1e6);
  return values.map((value) => [value, tick(value, far)]);
}

/** Ticks of a log axis: powers of ten, and within a few decades also values between them. */
function logTicks(scale, most) {
  const { low, high } = scale;
  const decades = high - low;
  if (decades < 0.25) return linearTicks({ low: 10 ** low, high: 10 ** high }, most);
  const powers = Array.from({ length: Math.ceil(decades) + 1 }, (_, i) => Math.floor(low) + i);
  const inside = (steps) => powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`))).filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
  const choices = decades > 2 ? [] : [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3]].map(inside);
  const tens = inside([1]).filter((_, i, all) => i % Math.ceil(all.length / most) === 0);
  const values = choices.find((one) => one.length <= most) ?? tens;
  const far = values.some((value) => value < 1e-3 || value >= 1e5);
  return values.map((value) => [value, tick(value, far)]);
}

/** A tick as text: 0.01, 1, 2,000; on axes that reach far, 10⁻², 1, 2·10³. */
function tick(value, far) {
  const size = Math.abs(value);
  if (!far || value === 0 || (size >= 1 && size <= 100)) return value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const [mantissa, exponent] = value.toExponential().split("e");
  const raised = [...String(Number(exponent))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join("");
  return mantissa === "1" ? `10${raised}` : `${mantissa}·10${raised}`;
}
