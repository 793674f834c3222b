/* The map: drawing, looking up points, the sample that is pointed at. */
const stage = get("stage");
const canvas = get("canvas");
const context = canvas.getContext("2d");
const tip = get("tip");

const MARGIN = 26;      // pixels around the points
const REACH = 12;       // how far from a point the pointer may be; a finger twice as far
const LABELLED = 40;    // clusters that get their number on the map, at most
const PER_LABEL = 2000; // points of a cluster that decide where its number stands
const MOST_ZOOM = 40;
const MOVING = 60000;   // points drawn while the map moves, at most; all follow when it rests
const IN_TIP = 14;      // columns listed for a sample

const view = { scale: 1, x: 0, y: 0 };    // zoom, and offset in pixels
let width = 0;
let height = 0;
let queued = false;

const shownMap = () => maps[state.map];
const mapFrame = () => frameOf(shownMap(), width, height, MARGIN, view);
const pixelRatio = () => (state.printing ? 2 : devicePixelRatio || 1);

function screenOf(i, frame = mapFrame()) {
  const map = shownMap();
  return [frame.left + map.x[i] * frame.fit, frame.top + map.y[i] * frame.fit];
}

/* The active point nearest to a place on the screen, or -1. */
function nearest(x, y, reach) {
  const { x: xs, y: ys } = shownMap();
  const { fit, left, top } = mapFrame();
  let best = -1;
  let closest = reach;
  for (let i = 0; i < count; i++) {
    const aside = Math.abs(left + xs[i] * fit - x);
    const above = Math.abs(top + ys[i] * fit - y);
    if (aside > closest || above > closest || !isActive(i)) continue;
    const distance = Math.hypot(aside, above);
    if (distance <= closest) [best, closest] = [i, distance];
  }
  return best;
}

/* The sample nearest to the median of each cluster, where its number is drawn. */
function middlesOf(map) {
  if (map.middles) return map.middles;
  const members = data.colors.light.map(() => []);
  for (let i = 0; i < count; i++) members[clusterOf[i]].push(i);
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  map.middles = members.flatMap((all, cluster) => {
    const step = Math.ceil(all.length / PER_LABEL);
    const own = all.filter((_, k) => k % step === 0);
    if (!own.length) return [];  // none of them is shown
    const x = median(own.map((i) => map.x[i]));
    const y = median(own.map((i) => map.y[i]));
    const far = (i) => Math.hypot(map.x[i] - x, map.y[i] - y);
    return [{ cluster, point: own.reduce((a, b) => (far(b) < far(a) ? b : a)) }];
  });
  return map.middles;
}

function radiusOf() {
  const crowd = Math.sqrt(Math.max(count, 60) / (width * height));
  const least = count > SMOOTH ? 0.7 : 2.1;
  return Math.min(6, Math.max(least, 0.13 / crowd)) * Math.min(2.5, view.scale ** 0.35);
}

function draw() {
  queued = false;
  const radius = radiusOf();
  const most = state.moving ? Math.min(count, MOVING) : count;
  paint(context, shownMap(), mapFrame(), radius, pixelRatio(), most);
  const style = getComputedStyle(document.documentElement);
  const ink = state.printing ? "#1b2430" : style.getPropertyValue("--ink");
  drawLabels(ink, state.printing ? "#ffffff" : style.getPropertyValue("--card"));
  context.strokeStyle = ink;
  context.lineWidth = 2;
  if (state.point >= 0) {
    context.beginPath();
    context.arc(...screenOf(state.point), radius + 3, 0, 2 * Math.PI);
    context.stroke();
  }
  if (state.lasso) {
    context.setLineDash([5, 4]);
    context.beginPath();
    for (const [x, y] of state.lasso) context.lineTo(x, y);
    context.stroke();
    context.setLineDash([]);
  }
}

function drawLabels(ink, paper) {
  if (data.colors.light.length > LABELLED) return;
  context.font = "600 13px system-ui, 'Segoe UI', Roboto, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = paper;
  context.fillStyle = ink;
  for (const { cluster, point } of middlesOf(shownMap())) {
    if (state.cluster !== null && cluster !== state.cluster) continue;
    const [x, y] = screenOf(point);
    const text = names[cluster] || String(cluster);
    context.strokeText(text, x, y - 13);  // above: the number would hide a small cluster
    context.fillText(text, x, y - 13);
  }
}

/* Draw once per frame, however often this is called. */
function redraw() {
  if (!queued) requestAnimationFrame(draw);
  queued = true;
}

function resize() {
  width = stage.clientWidth;
  height = stage.clientHeight;
  canvas.width = Math.round(width * pixelRatio());
  canvas.height = Math.round(height * pixelRatio());
  point(state.point);
  draw();  // at once: resizing has wiped the canvas
  drawSmallMaps();
}

/* After a change of colours, highlight or selection. */
function repaint() {
  recolor();
  redraw();
  drawSmallMaps();
}

function factsOf(i) {
  const cluster = names[clusterOf[i]] ? `${clusterOf[i]} ${names[clusterOf[i]]}` : String(clusterOf[i]);
  const rows = columns.slice(0, IN_TIP).map((column) => [column.name, textOf(column, i), column.group]);
  return [["cluster", cluster, ""], ...rows];
}

function fillTip(i) {
  tip.replaceChildren();
  put("strong", idOf(i), tip);
  const list = put("dl", "", tip);
  let last = "";
  for (const [name, value, group] of factsOf(i)) {
    if (group !== last) put("dt", group, list, "over");
    last = group;
    put("dt", name, list);
    put("dd", value, list);
  }
}

function placeTip(i) {
  const [pointX, pointY] = screenOf(i);
  const right = pointX + 16 + tip.offsetWidth > width;
  const x = right ? pointX - 16 - tip.offsetWidth : pointX + 16;
  const y = pointY - tip.offsetHeight / 2;
  tip.style.left = `${Math.max(4, Math.min(x, width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(y, height - tip.offsetHeight - 4))}px`;
}

/* Show one sample, or none with -1. */
function point(i) {
  const changed = i !== state.point;
  state.point = i;
  tip.hidden = i < 0;
  if (i >= 0) {
    if (changed) fillTip(i);
    placeTip(i);
  }
  if (changed) redraw();
}

/* Show a sample on the whole map. */
function showOnMap(i) {
  if (!isActive(i)) {
    clearSelection();
    highlight(null);
  }
  zoom(0);
  stage.scrollIntoView({ block: "center" });
  canvas.focus({ preventScroll: true });
  point(i);
}
