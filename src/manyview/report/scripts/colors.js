/* Colours of the points: by cluster, or by a column, with its scale or legend. */
const STEPS = 32;       // shades of a scale
// From low values, close to the colour of the page, to high ones.
const RAMPS = {
  light: [[196, 208, 222], [140, 182, 218], [63, 130, 190], [96, 60, 160], [92, 12, 84]],
  dark: [[76, 92, 114], [66, 114, 168], [56, 160, 166], [150, 208, 116], [252, 232, 106]],
};
const UNKNOWN = { light: [195, 202, 211], dark: [74, 85, 99] };

const state = {
  color: "cluster", cluster: null, point: -1, map: 0, printing: false, lasso: null, selecting: false,
  moving: false,
};
const selected = new Uint8Array(count);
let selectedCount = 0;

// The colour of each point as its place in the palette, and the points in the order of colours.
const tones = new Uint32Array(count);
const order = new Uint32Array(count);
let palette = [];

const scheme = () => (darkScheme.matches && !state.printing ? "dark" : "light");
const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const css = (color) => `rgb(${color.join(" ")})`;
const isActive = (i) => (
  (state.cluster === null || clusterOf[i] === state.cluster) && (!selectedCount || selected[i] === 1)
);

function shade(share) {
  const ramp = RAMPS[scheme()];
  const at = share * (ramp.length - 1);
  const before = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[before].map((part, k) => Math.round(part + (at - before) * (ramp[before + 1][k] - part)));
}

/* Put the points into the order of their colours: the strongest are drawn last. */
function sortByTone() {
  const starts = new Uint32Array(palette.length + 1);
  for (let i = 0; i < count; i++) starts[tones[i] + 1]++;
  for (let tone = 0; tone < palette.length; tone++) starts[tone + 1] += starts[tone];
  for (let i = 0; i < count; i++) order[starts[tones[i]]++] = i;
}

function colorByNumber({ values, low, high, reversed }) {
  palette = [UNKNOWN[scheme()], ...Array.from({ length: STEPS + 1 }, (_, k) => shade(k / STEPS))];
  for (let i = 0; i < count; i++) {
    const share = (values[i] - low) / (high - low || 1);
    tones[i] = Number.isNaN(share) ? 0 : 1 + Math.round((reversed ? 1 - share : share) * STEPS);
  }
  const stops = Array.from({ length: 9 }, (_, k) => css(shade(reversed ? 1 - k / 8 : k / 8)));
  get("ramp").style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const end = (value) => (value === null ? NO_VALUE : String(Number(value.toPrecision(3))));
  get("scale-low").textContent = end(low);
  get("scale-high").textContent = end(high);
}

/* Rare categories share the colour of unknown ones. */
function colorByCategory({ values, categories }) {
  const colors = data.categoryColors[scheme()].slice(0, categories.length).map(parts);
  palette = [UNKNOWN[scheme()], ...colors];
  for (let i = 0; i < count; i++) tones[i] = values[i] < colors.length ? values[i] + 1 : 0;
  const legend = get("legend");
  legend.replaceChildren();
  const add = (name, color) => {
    const item = put("span", "", legend);
    put("i", "", item, "swatch").style.background = css(color);
    put("span", name, item);
  };
  colors.forEach((color, k) => add(categories[k], color));
  const more = categories.length - colors.length;
  if (more > 0 || values.includes(NO_CODE)) {
    add(more > 0 ? `${numbers.format(more)} others, unknown` : "unknown", palette[0]);
  }
}

function recolor() {
  const column = state.color === "cluster" ? null : columns[Number(state.color)];
  if (!column) {
    palette = data.colors[scheme()].map(parts);
    tones.set(clusterOf);
  } else if (column.categories) {
    colorByCategory(column);
  } else {
    colorByNumber(column);
  }
  sortByTone();
  get("scale").hidden = !column || Boolean(column.categories);
  get("legend").hidden = !column?.categories;
  get("clusters").classList.toggle("by-value", Boolean(column));
}
