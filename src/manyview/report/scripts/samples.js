/* The table of samples: the first ones by any column, or those whose id was searched for. */
const ROWS = 200;
const MANY = 50000;     // more ids are compared letter by letter: collating would take seconds
const table = get("samples");
const heads = [...table.tHead.rows[0].cells];
const filter = get("filter");
const collate = new Intl.Collator(undefined, { numeric: true }).compare;
const plainly = (a, b) => (a < b ? -1 : Number(a > b));
const compareText = count > MANY ? plainly : collate;
let sorted = null;      // all samples in the order of the table
let found = null;       // those with the searched id, in that order

/* What a column of the table sorts by: the id, the cluster, or the values of a data column. */
function keysOf(number) {
  if (number === 0) return { key: idOf, isText: true };
  if (number === 1) return { key: (i) => clusterOf[i] };
  const column = columns[number - 2];
  if (column.categories) return { key: (i) => textOf(column, i), isText: true };
  return { key: (i) => column.values[i] };
}

function sortBy(number, ascending) {
  const { key, isText } = keysOf(number);
  const sign = ascending ? 1 : -1;
  const compare = (a, b) => {
    if (isText) return compareText(key(a), key(b)) * sign;
    const [x, y] = [key(a), key(b)];
    // Unknown values come last in both orders.
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return (x - y) * sign;
  };
  sorted = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => compare(a, b) || a - b);
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[number].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  search();
}

function search() {
  const wanted = filter.value.trim().toLowerCase();
  found = sorted;
  if (wanted) {
    const matching = [...sorted.filter((i) => idOf(i).toLowerCase().includes(wanted))];
    const isOther = (i) => Number(idOf(i).toLowerCase() !== wanted);
    found = matching.sort((a, b) => isOther(a) - isOther(b));  // the very id first
  }
  const shown = Math.min(ROWS, found.length);
  const list = shown < found.length ? `The first ${shown} of ${numbers.format(found.length)}` : numbers.format(shown);
  get("found").textContent = `${list} ${found.length === 1 ? "sample" : "samples"}${wanted ? " found" : ""}`;
  get("select-found").hidden = !wanted || !found.length;
  showRows();
}

function rowOf(i) {
  const row = document.createElement("tr");
  const cell = (text, label) => {
    const made = put("td", text, row);
    made.dataset.label = label;
    return made;
  };
  const link = put("button", idOf(i), cell("", "Id"), "link");
  row.cells[0].classList.add("wrap");
  link.type = "button";
  link.dataset.point = i;
  const name = names[clusterOf[i]];
  cell(name ? `${clusterOf[i]} ${name}` : clusterOf[i], "Cluster");
  for (const column of columns) {
    const named = column.group ? `${column.group}: ${column.name}` : column.name;
    const label = named[0].toUpperCase() + named.slice(1);
    const made = cell(textOf(column, i), label);
    if (!column.heated) continue;
    const value = column.values[i];
    made.className = Number.isNaN(value) ? "unknown" : "heated";
    if (Number.isNaN(value)) made.title = "The sample is missing from this view, or has no neighbours in it.";
    else made.style.setProperty("--share", value);
  }
  return row;
}

function showRows() {
  table.tBodies[0].replaceChildren(...Array.from(found.slice(0, ROWS), rowOf));
}

heads.forEach((head, number) => {
  head.querySelector("button").addEventListener("click", () => {
    const now = head.getAttribute("aria-sort");
    sortBy(number, now ? now === "descending" : Boolean(keysOf(number).isText));
  });
});
filter.addEventListener("input", search);
get("select-found").addEventListener("click", () => {
  highlight(null);
  selectOnly(found);
  stage.scrollIntoView({ block: "center" });
});
table.tBodies[0].addEventListener("click", (event) => {
  const link = event.target.closest("[data-point]");
  if (link) showOnMap(Number(link.dataset.point));
});
