/* The samples as typed arrays, and helpers of all parts.
   Ids and names come from the user's data: they are inserted as text, never as markup. */
const get = (id) => document.getElementById(id);
const data = JSON.parse(get("data").textContent);
const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const NO_VALUE = "–";
const NO_CODE = 65535;      // category of a sample without one
const NO_SHARE = -32768;    // unknown value in thousandths
const KINDS = { f4: Float32Array, f8: Float64Array, i2: Int16Array, u2: Uint16Array, u4: Uint32Array };

function unpack({ type, bytes }) {
  const text = atob(bytes);
  const raw = new Uint8Array(text.length);
  for (let i = 0; i < raw.length; i++) raw[i] = text.charCodeAt(i);
  return new KINDS[type](raw.buffer);
}

const clusterOf = unpack(data.cluster);
const count = clusterOf.length;
const numbers = Intl.NumberFormat("en");
const idOf = (i) => (data.ids ? data.ids[i] : String(i));

/* What is known per sample: numbers, with NaN where unknown, or codes of categories. */
const columns = data.columns.map((column) => {
  const values = unpack(column.values);
  if (column.values.type !== "i2") return { ...column, values };
  const shares = Float32Array.from(values, (value) => (value === NO_SHARE ? NaN : value / 1000));
  return { ...column, values: shares, isShare: true };
});

function textOf(column, i) {
  const value = column.values[i];
  if (column.categories) return value === NO_CODE ? NO_VALUE : column.categories[value];
  if (Number.isNaN(value)) return NO_VALUE;
  return column.isShare ? value.toFixed(3) : String(Number(value.toPrecision(6)));
}

/* A map: positions from 0 to 1. */
const maps = data.maps.map(({ name, x, y }) => {
  const unit = (values) => Float32Array.from(unpack(values), (value) => value / 65535);
  const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);
  const map = { name, x: unit(x), y: unit(y) };
  map.spanX = largest(map.x);
  map.spanY = largest(map.y);
  map.y.forEach((value, i) => (map.y[i] = map.spanY - value));  // screens count downwards
  return map;
});

function put(tag, text, parent, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}
