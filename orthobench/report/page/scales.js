// Scales of axes: from values to pixels, and ticks.

/** From values to pixels. */
class Scale {
  constructor({ log, range }, begin, end) {
    const [low, high] = log ? range.map(Math.log10) : range;
    Object.assign(this, { log, low, high, begin, end });
  }

  at(value) {
    const place = this.log ? Math.log10(value) : value;
    return this.begin + ((place - this.low) / (this.high - this.low)) * (this.end - this.begin);
  }
}

/** The ticks of an axis with a maximum number of them: values with their texts. */
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
function logTicks({ low, high }, most) {
  if (high - low < 0.25) return linearTicks({ low: 10 ** low, high: 10 ** high }, most);
  const powers = Array.from({ length: Math.ceil(high - low) + 1 }, (_, i) => Math.floor(low) + i);
  const inside = (steps) => powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`))).filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
  const choices = high - low > 2 ? [] : [[1, 2, 3, 5], [1, 3]].map(inside);
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
