/* Copying and printing; starts everything. */
const copy = get("copy");
if (copy) {
  copy.hidden = false;
  let back;
  const confirm = (text) => {
    copy.textContent = text;
    clearTimeout(back);
    back = setTimeout(() => (copy.textContent = "Copy"), 2500);
  };
  const select = () => {
    getSelection().selectAllChildren(get("command"));
    confirm("Selected: copy with Ctrl+C");
  };
  copy.addEventListener("click", () => {
    if (!navigator.clipboard) return select();
    navigator.clipboard.writeText(get("command").textContent).then(() => confirm("Copied"), select);
  });
}

let closed = [];
function print(printing) {
  if (printing) closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((details) => (details.open = printing));
  state.printing = printing;
  recolor();
  resize();
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));

state.color = get("color").value;  // browsers keep it over a reload
recolor();
resize();
showMap(0);
showNames();
showSelection();
const first = heads.find((head) => head.hasAttribute("aria-sort"));
sortBy(heads.indexOf(first), first.getAttribute("aria-sort") === "ascending");
darkScheme.addEventListener("change", repaint);
new ResizeObserver(resize).observe(stage);
