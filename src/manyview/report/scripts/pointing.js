/* Pointing, zooming, moving and drawing a line around points; arrow keys. */
const SHORT = 4;        // pixels: a shorter line is a click

const at = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
const reachOf = (event) => (event.pointerType === "touch" ? 2 : 1) * REACH;
const REST = 150;       // milliseconds after which the map stands still
let drag = null;
let resting;

function moved() {
  state.moving = true;
  clearTimeout(resting);
  resting = setTimeout(() => {
    state.moving = false;
    if (count > MOVING) redraw();
  }, REST);
  const zoomed = view.scale !== 1 || view.x !== 0 || view.y !== 0;
  canvas.classList.toggle("zoomed", zoomed);
  get("reset").disabled = !zoomed;
  if (state.point >= 0) placeTip(state.point);
  redraw();
}

/* Zoom around (x, y). */
function zoom(factor, x = width / 2, y = height / 2) {
  const scale = Math.min(MOST_ZOOM, Math.max(1, view.scale * factor));
  const by = scale / view.scale;
  view.x = scale === 1 ? 0 : x - width / 2 - (x - width / 2 - view.x) * by;
  view.y = scale === 1 ? 0 : y - height / 2 - (y - height / 2 - view.y) * by;
  view.scale = scale;
  moved();
}

canvas.addEventListener("pointerdown", (event) => {
  const [x, y] = at(event);
  if (state.selecting) {
    state.lasso = [[x, y]];
  } else if (view.scale > 1) {
    drag = { x: x - view.x, y: y - view.y };
  }
  if (state.selecting || drag) canvas.setPointerCapture(event.pointerId);
  if (!state.selecting) point(nearest(x, y, reachOf(event)));
});
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = at(event);
  if (state.lasso) {
    const [lastX, lastY] = state.lasso.at(-1);
    if (Math.hypot(x - lastX, y - lastY) < SHORT) return;
    point(-1);
    state.lasso.push([x, y]);
    redraw();
  } else if (drag) {
    [view.x, view.y] = [x - drag.x, y - drag.y];
    moved();
  } else {
    point(nearest(x, y, reachOf(event)));
  }
});
canvas.addEventListener("pointerup", (event) => {
  if (state.lasso?.length > 2) {
    selectInside(state.lasso, event.shiftKey);
  } else if (state.lasso) {
    const found = nearest(...state.lasso[0], reachOf(event));
    if (found >= 0) toggle(found);
  }
  [drag, state.lasso] = [null, null];
  redraw();
});
canvas.addEventListener("pointercancel", () => {
  [drag, state.lasso] = [null, null];
  redraw();
});
canvas.addEventListener("pointerleave", (event) => {
  if (event.pointerType !== "touch") point(-1);
});
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;  // scroll the page
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 250), ...at(event));
}, { passive: false });
get("zoom-in").addEventListener("click", () => zoom(1.6));
get("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
get("reset").addEventListener("click", () => zoom(0));

/* The nearest sample in the direction of an arrow key; distance to the side counts double. */
function neighbour(from, dx, dy) {
  const { x, y } = shownMap();
  let best = from;
  let least = Infinity;
  for (let i = 0; i < count; i++) {
    const ahead = (x[i] - x[from]) * dx + (y[i] - y[from]) * dy;
    const aside = Math.abs((x[i] - x[from]) * dy) + Math.abs((y[i] - y[from]) * dx);
    const cost = ahead + 2 * aside;
    if (i !== from && isActive(i) && ahead > 0 && cost < least) [best, least] = [i, cost];
  }
  return best;
}

function announce(i) {
  const words = factsOf(i).map(([name, value]) => `${name} ${value}`).join(", ");
  get("spoken").textContent = `${idOf(i)}: ${words}`;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

canvas.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    point(-1);
    clearSelection();
    highlight(null);
  }
  if (event.key === " " && state.point >= 0) {
    event.preventDefault();
    toggle(state.point);
  }
  if (!(event.key in ARROWS) || !count) return;
  event.preventDefault();
  const first = state.point < 0 ? clusterOf.findIndex((_, i) => isActive(i)) : -1;
  const next = first >= 0 ? first : neighbour(state.point, ...ARROWS[event.key]);
  if (next < 0) return;
  point(next);
  announce(next);
});
