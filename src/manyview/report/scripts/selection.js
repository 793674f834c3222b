/* Selecting samples, and saving them as CSV. */
const selectButton = get("select");
const saveButton = get("save");

function showSelection() {
  get("clear").hidden = !selectedCount;
  const active = selectedCount || state.cluster !== null;
  const chosen = active ? clusterOf.reduce((sum, _, i) => sum + (isActive(i) ? 1 : 0), 0) : count;
  saveButton.textContent = `Save ${active || count === 1 ? "" : "all "}${numbers.format(chosen)} as CSV`;
  saveButton.disabled = !chosen;
}

function selectionChanged() {
  selectedCount = selected.reduce((sum, value) => sum + value, 0);
  if (state.point >= 0 && !isActive(state.point)) point(-1);
  showSelection();
  redraw();
  drawSmallMaps();
}

function clearSelection() {
  if (!selectedCount) return;
  selected.fill(0);
  selectionChanged();
}

function toggle(i) {
  selected[i] = 1 - selected[i];
  selectionChanged();
}

function selectOnly(samples) {
  selected.fill(0);
  for (const i of samples) selected[i] = 1;
  selectionChanged();
}

/* Whether a ray from (x, y) to the right crosses the line an odd number of times. */
function isInside(line, x, y) {
  let inside = false;
  for (let k = 0, last = line.length - 1; k < line.length; last = k++) {
    const [ax, ay] = line[k];
    const [bx, by] = line[last];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
  }
  return inside;
}

/* Select the points inside a closed line, beside those that are selected if `more`. */
function selectInside(line, more) {
  const frame = mapFrame();
  const [xs, ys] = [line.map(([x]) => x), line.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  if (!more) selected.fill(0);
  for (let i = 0; i < count; i++) {
    const [x, y] = screenOf(i, frame);
    const near = x >= left && x <= right && y >= top && y <= bottom;
    if (near && (state.cluster === null || clusterOf[i] === state.cluster) && isInside(line, x, y)) {
      selected[i] = 1;
    }
  }
  selectionChanged();
}

function csvText() {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const known = (column, i) => {
    const text = textOf(column, i);
    return text === NO_VALUE ? "" : quoted(text);
  };
  const lines = [["id", "cluster", "name", ...columns.map((column) => column.csv)].map(quoted).join(",")];
  for (let i = 0; i < count; i++) {
    if (!isActive(i)) continue;
    const own = [quoted(idOf(i)), clusterOf[i], quoted(names[clusterOf[i]] ?? "")];
    lines.push([...own, ...columns.map((column) => known(column, i))].join(","));
  }
  return lines.join("\n") + "\n";
}

selectButton.addEventListener("click", () => {
  state.selecting = !state.selecting;
  selectButton.setAttribute("aria-pressed", String(state.selecting));
  canvas.classList.toggle("selecting", state.selecting);
});
get("clear").addEventListener("click", clearSelection);
saveButton.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csvText()], { type: "text/csv" }));
  link.download = "samples.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
