/* The interactive parts of the page about a clustering: map, table, copy button.
   Ids and names come from the user's data: they are inserted as text, never as markup. */
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const data = JSON.parse(get("data").textContent);
  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const NO_VALUE = "–";

  // ---- The map -------------------------------------------------------------------------------

  const points = data.points;
  const count = points.id.length;
  const stage = get("stage");
  const canvas = get("canvas");
  const context = canvas.getContext("2d");
  const tip = get("tip");

  const MARGIN = 26;      // pixels around the points
  const CELL = 24;        // pixels of a cell in which points are looked up
  const REACH = 12;       // how far from a point the pointer may be; a finger twice as far
  const STEPS = 32;       // shades of a scale
  const LABELLED = 40;    // clusters that get their number on the map, at most
  const MOST_ZOOM = 40;
  // From low values, close to the colour of the page, to high ones.
  const RAMPS = {
    light: [[196, 208, 222], [140, 182, 218], [63, 130, 190], [96, 60, 160], [92, 12, 84]],
    dark: [[76, 92, 114], [66, 114, 168], [56, 160, 166], [150, 208, 116], [252, 232, 106]],
  };
  const UNKNOWN = { light: "#c3cad3", dark: "#4a5563" };

  const view = { scale: 1, x: 0, y: 0 };    // zoom, and offset in pixels
  const state = { color: "cluster", cluster: null, point: -1, printing: false };
  const screenX = new Float32Array(count);
  const screenY = new Float32Array(count);
  let width = 0;
  let height = 0;
  let groups = [];        // points of one colour, in the order of drawing
  let cells = new Map();
  let queued = false;

  const scheme = () => (darkScheme.matches && !state.printing ? "dark" : "light");
  const largest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const smallest = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const known = (values) => values.filter((value) => value !== null);
  const spanX = largest(points.x) || 0;
  const spanY = largest(points.y) || 0;

  /* The sample nearest to the median of each cluster, where its number is drawn. */
  function middles() {
    const members = new Map();
    points.cluster.forEach((c, i) => (members.has(c) ? members.get(c).push(i) : members.set(c, [i])));
    const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    return [...members].map(([cluster, own]) => {
      const x = median(own.map((i) => points.x[i]));
      const y = median(own.map((i) => points.y[i]));
      const far = (i) => Math.hypot(points.x[i] - x, points.y[i] - y);
      return { cluster, point: own.reduce((a, b) => (far(b) < far(a) ? b : a)) };
    });
  }
  const labels = data.colors.light.length <= LABELLED ? middles() : [];

  /* The values that colour the points, with their range; reversed where low values are to be seen. */
  function scaleOf(color) {
    if (color === "confidence" || color === "stability") {
      const values = points[color];
      const all = known(values);
      return { values, low: smallest(all), high: largest(all), reversed: true };
    }
    // One range for all views, so that they can be compared.
    const all = known(points.disagreement.flat());
    return { values: points.disagreement[color], low: smallest(all), high: largest(all) };
  }

  function shade(share) {
    const ramp = RAMPS[scheme()];
    const at = share * (ramp.length - 1);
    const before = Math.min(Math.floor(at), ramp.length - 2);
    const mixed = ramp[before].map((part, k) => part + (at - before) * (ramp[before + 1][k] - part));
    return `rgb(${mixed.map(Math.round).join(" ")})`;
  }

  function group() {
    const byValue = state.color !== "cluster";
    const bins = new Map();
    const add = (key, i) => (bins.has(key) ? bins.get(key).push(i) : bins.set(key, [i]));
    if (!byValue) {
      points.cluster.forEach((c, i) => add(c, i));
      groups = [...bins].map(([c, own]) => ({ color: data.colors[scheme()][c], own }));
    } else {
      const { values, low, high, reversed } = scaleOf(state.color);
      values.forEach((value, i) => {
        const share = (value - low) / (high - low || 1);
        const step = Math.round((reversed ? 1 - share : share) * STEPS);
        add(value === null ? -1 : step, i);
      });
      const ordered = [...bins].sort(([a], [b]) => a - b);  // the strongest colours on top
      groups = ordered.map(([step, own]) => (
        { color: step < 0 ? UNKNOWN[scheme()] : shade(step / STEPS), own }
      ));
      const stops = Array.from({ length: 9 }, (_, k) => shade(reversed ? 1 - k / 8 : k / 8));
      get("ramp").style.background = `linear-gradient(to right, ${stops.join(", ")})`;
      get("scale-low").textContent = Number.isFinite(low) ? low.toFixed(2) : NO_VALUE;
      get("scale-high").textContent = Number.isFinite(high) ? high.toFixed(2) : NO_VALUE;
    }
    get("scale").hidden = !byValue;
    get("clusters").classList.toggle("by-value", byValue);
  }

  function place() {
    const fit = Math.min(
      (width - 2 * MARGIN) / (spanX || 1), (height - 2 * MARGIN) / (spanY || 1),
    ) * view.scale;
    const left = width / 2 + view.x - (spanX / 2) * fit;
    const top = height / 2 + view.y - (spanY / 2) * fit;
    cells = new Map();
    for (let i = 0; i < count; i++) {
      screenX[i] = left + points.x[i] * fit;
      screenY[i] = top + (spanY - points.y[i]) * fit;
      const key = cellAt(screenX[i], screenY[i]);
      if (cells.has(key)) cells.get(key).push(i);
      else cells.set(key, [i]);
    }
  }

  const cellAt = (x, y) => `${Math.floor(x / CELL)},${Math.floor(y / CELL)}`;

  function nearest(x, y, reach) {
    let best = -1;
    let closest = reach;
    for (let dx = -CELL; dx <= CELL; dx += CELL) {
      for (let dy = -CELL; dy <= CELL; dy += CELL) {
        for (const i of cells.get(cellAt(x + dx, y + dy)) || []) {
          const distance = Math.hypot(screenX[i] - x, screenY[i] - y);
          if (distance <= closest && isActive(i)) [best, closest] = [i, distance];
        }
      }
    }
    return best;
  }

  const isActive = (i) => state.cluster === null || points.cluster[i] === state.cluster;

  function dots(own, radius) {
    context.beginPath();
    for (const i of own) {
      context.moveTo(screenX[i] + radius, screenY[i]);
      context.arc(screenX[i], screenY[i], radius, 0, 2 * Math.PI);
    }
    context.fill();
  }

  function draw() {
    queued = false;
    const ratio = state.printing ? 2 : devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const crowd = Math.sqrt(Math.max(count, 60) / (width * height));
    const radius = Math.min(6, Math.max(2.1, 0.13 / crowd)) * Math.min(2, view.scale ** 0.35);
    if (state.cluster !== null) {
      context.globalAlpha = 0.13;
      for (const { color, own } of groups) {
        context.fillStyle = color;
        dots(own.filter((i) => !isActive(i)), radius);
      }
    }
    context.globalAlpha = 0.9;
    for (const { color, own } of groups) {
      context.fillStyle = color;
      dots(own.filter(isActive), radius);
    }
    context.globalAlpha = 1;
    const style = getComputedStyle(document.documentElement);
    const ink = state.printing ? "#1b2430" : style.getPropertyValue("--ink");
    drawLabels(ink, state.printing ? "#ffffff" : style.getPropertyValue("--card"));
    if (state.point >= 0) {
      context.strokeStyle = ink;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(screenX[state.point], screenY[state.point], radius + 3, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  function drawLabels(ink, paper) {
    context.font = "600 13px system-ui, 'Segoe UI', Roboto, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = paper;
    context.fillStyle = ink;
    for (const { cluster, point } of labels) {
      if (state.cluster !== null && cluster !== state.cluster) continue;
      const y = screenY[point] - 13;  // above: the number would hide a small cluster
      context.strokeText(cluster, screenX[point], y);
      context.fillText(cluster, screenX[point], y);
    }
  }

  /* Draw once per frame, however often this is called. */
  function redraw() {
    if (!queued) requestAnimationFrame(draw);
    queued = true;
  }

  function resize() {
    const ratio = state.printing ? 2 : devicePixelRatio || 1;
    width = stage.clientWidth;
    height = stage.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    place();
    point(state.point);
    draw();  // at once: resizing has wiped the canvas
  }

  function repaint() {
    group();
    redraw();
  }

  // ---- One sample ----------------------------------------------------------------------------

  function put(tag, text, parent, className) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    parent.append(made);
    return made;
  }

  const shown = (value) => (value === null ? NO_VALUE : value.toFixed(3));

  function facts(i) {
    const rows = [["cluster", String(points.cluster[i])], ["confidence", shown(points.confidence[i])]];
    if (points.stability) rows.push(["stability", shown(points.stability[i])]);
    return [rows, data.views.map((name, v) => [name, shown(points.disagreement[v][i])])];
  }

  function fillTip(i) {
    tip.replaceChildren();
    put("strong", points.id[i], tip);
    const list = put("dl", "", tip);
    const [own, byView] = facts(i);
    const add = ([name, value]) => {
      put("dt", name, list);
      put("dd", value, list);
    };
    own.forEach(add);
    if (byView.length) put("dt", "disagreement", list, "over");
    byView.forEach(add);
  }

  function placeTip(i) {
    const right = screenX[i] + 16 + tip.offsetWidth > width;
    const x = right ? screenX[i] - 16 - tip.offsetWidth : screenX[i] + 16;
    const y = screenY[i] - tip.offsetHeight / 2;
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

  function announce(i) {
    const words = facts(i).flat().map((pair) => pair.join(" ")).join(", ");
    get("spoken").textContent = `${points.id[i]}: ${words}`;
  }

  /* The nearest sample in the direction of an arrow key; distance to the side counts double. */
  function neighbour(from, dx, dy) {
    let best = from;
    let least = Infinity;
    for (let i = 0; i < count; i++) {
      const ahead = (screenX[i] - screenX[from]) * dx + (screenY[i] - screenY[from]) * dy;
      const aside = Math.abs((screenX[i] - screenX[from]) * dy) + Math.abs((screenY[i] - screenY[from]) * dx);
      const cost = ahead + 2 * aside;
      if (i !== from && isActive(i) && ahead > 0 && cost < least) [best, least] = [i, cost];
    }
    return best;
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      point(-1);
      highlight(null);
    }
    if (!(event.key in ARROWS) || !count) return;
    event.preventDefault();
    const first = state.point < 0 ? points.cluster.findIndex((_, i) => isActive(i)) : -1;
    const next = first >= 0 ? first : neighbour(state.point, ...ARROWS[event.key]);
    if (next < 0) return;
    point(next);
    announce(next);
  });

  // ---- Pointing, zooming, moving -------------------------------------------------------------

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const reach = (event) => (event.pointerType === "touch" ? 2 : 1) * REACH;
  let drag = null;

  function moved() {
    const zoomed = view.scale !== 1 || view.x !== 0 || view.y !== 0;
    canvas.classList.toggle("zoomed", zoomed);
    get("reset").disabled = !zoomed;
    place();
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
    if (view.scale > 1) {
      drag = { x: x - view.x, y: y - view.y };
      canvas.setPointerCapture(event.pointerId);
    }
    point(nearest(x, y, reach(event)));
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag) {
      [view.x, view.y] = [x - drag.x, y - drag.y];
      moved();
    } else {
      point(nearest(x, y, reach(event)));
    }
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (drag = null));
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

  // ---- Colours and clusters ------------------------------------------------------------------

  const sizes = [...get("sizes").querySelectorAll("button")];

  /* Highlight one cluster, or none with null. */
  function highlight(cluster) {
    state.cluster = cluster;
    for (const button of sizes) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.cluster) === cluster));
    }
    if (state.point >= 0 && !isActive(state.point)) point(-1);
    redraw();
  }

  for (const button of sizes) {
    button.addEventListener("click", () => {
      const cluster = Number(button.dataset.cluster);
      highlight(cluster === state.cluster ? null : cluster);
    });
  }
  get("color").addEventListener("change", (event) => {
    state.color = event.target.value;
    repaint();
  });
  state.color = get("color").value;  // browsers keep it over a reload
  darkScheme.addEventListener("change", repaint);
  new ResizeObserver(resize).observe(stage);
  group();
  resize();

  // ---- The table -----------------------------------------------------------------------------

  const table = get("samples");
  if (table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const inOrder = new Intl.Collator(undefined, { numeric: true }).compare;

    const sort = (column, ascending) => {
      const isText = heads[column].dataset.kind === "text";
      const key = (row) => {
        const cell = row.cells[column];
        return isText ? cell.textContent : Number(cell.dataset.value ?? NaN);
      };
      const compare = (a, b) => {
        if (isText) return inOrder(a.key, b.key) * (ascending ? 1 : -1);
        // Unknown values come last in both orders.
        if (Number.isNaN(a.key) || Number.isNaN(b.key)) return Number.isNaN(a.key) - Number.isNaN(b.key);
        return (a.key - b.key) * (ascending ? 1 : -1);
      };
      const rows = [...body.rows].map((row) => ({ row, key: key(row) })).sort(compare);
      body.append(...rows.map(({ row }) => row));
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      heads[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
    };
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        sort(column, now ? now === "descending" : head.dataset.kind === "text");
      });
    });

    const filter = get("filter");
    const found = get("found");
    const all = found.textContent;
    const search = () => {
      const wanted = filter.value.trim().toLowerCase();
      let matches = 0;
      for (const row of body.rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
        matches += !row.hidden;
      }
      found.textContent = wanted ? `${matches} of ${body.rows.length} listed samples` : all;
    };
    filter.addEventListener("input", search);
    search();

    body.addEventListener("click", (event) => {
      const link = event.target.closest("[data-point]");
      if (!link) return;
      highlight(null);
      zoom(0);
      stage.scrollIntoView({ block: "center" });
      canvas.focus({ preventScroll: true });
      point(Number(link.dataset.point));
    });
  }

  // ---- Copying and printing ------------------------------------------------------------------

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
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => (details.open = true));
    state.printing = true;
    group();
    resize();
  });
  addEventListener("afterprint", () => {
    closed.forEach((details) => (details.open = false));
    state.printing = false;
    group();
    resize();
  });
})();
