/* The list of clusters: highlighting and naming them; the choice of colours. */
const sizes = [...get("sizes").querySelectorAll("button")];
const nameInput = get("cluster-name");
const STORE = `manyview names ${data.key}`;
const names = readNames();

/* Names that were given before, by cluster; browsers may refuse to keep any. */
function readNames() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
}

function showNames() {
  for (const element of document.querySelectorAll("[data-name-of]")) {
    element.textContent = names[element.dataset.nameOf] ?? "";
  }
}

/* Highlight one cluster, or none with null. */
function highlight(cluster) {
  state.cluster = cluster;
  for (const button of sizes) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.cluster) === cluster));
  }
  get("naming").hidden = cluster === null;
  get("naming-label").textContent = `Name of cluster ${cluster}`;
  nameInput.value = names[cluster] ?? "";
  if (state.point >= 0 && !isActive(state.point)) point(-1);
  showSelection();
  redraw();
  drawSmallMaps();
}

for (const button of sizes) {
  button.addEventListener("click", () => {
    const cluster = Number(button.dataset.cluster);
    highlight(cluster === state.cluster ? null : cluster);
  });
}

nameInput.addEventListener("input", () => {
  const name = nameInput.value.trim();
  if (name) names[state.cluster] = name;
  else delete names[state.cluster];
  try {
    localStorage.setItem(STORE, JSON.stringify(names));
  } catch {
    // The names stay on the page until it is closed.
  }
  showNames();
  showRows();
  redraw();
});

get("color").addEventListener("change", (event) => {
  state.color = event.target.value;
  repaint();
});
