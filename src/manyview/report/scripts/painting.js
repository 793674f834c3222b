/* Drawing points on a canvas: discs where few are in sight, else squares written as pixels. */
const SMOOTH = 15000;   // points in sight that are drawn as discs, at most
const FADED = 0.13;     // opacity of points that are not highlighted
const STRIDE = 309017003;  // a prime: multiples of it, modulo any smaller number, meet all points

/* Where a map lies on a canvas. */
function frameOf(map, width, height, margin, { scale, x, y }) {
  const fit = scale * Math.min(
    (width - 2 * margin) / (map.spanX || 1), (height - 2 * margin) / (map.spanY || 1),
  );
  return {
    fit, width, height,
    left: width / 2 + x - (map.spanX / 2) * fit,
    top: height / 2 + y - (map.spanY / 2) * fit,
  };
}

function countInSight(map, { fit, left, top, width, height }) {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const x = left + map.x[i] * fit;
    const y = top + map.y[i] * fit;
    if (x >= 0 && y >= 0 && x <= width && y <= height) found++;
  }
  return found;
}

function drawDiscs(context, map, { fit, left, top, width, height }, radius, active) {
  let tone = -1;
  for (const i of order) {
    if (isActive(i) !== active) continue;
    const x = left + map.x[i] * fit;
    const y = top + map.y[i] * fit;
    if (!(x >= -radius && y >= -radius && x <= width + radius && y <= height + radius)) continue;
    if (tones[i] !== tone) {
      if (tone >= 0) context.fill();
      tone = tones[i];
      context.fillStyle = css(palette[tone]);
      context.beginPath();
    }
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  if (tone >= 0) context.fill();
}

/* Every `step`-th point as a square. Points of clusters and categories come in a mixed order, or
   the last ones would cover all others. */
function drawSquares(context, map, { fit, left, top }, side, ratio, step) {
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const ink = (alpha) => palette.map(([r, g, b]) => ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0);
  const inSteps = state.color !== "cluster" && !columns[Number(state.color)].categories;
  for (const active of [false, true]) {
    if (!active && state.cluster === null && !selectedCount) continue;
    const inks = Uint32Array.from(ink(active ? 235 : Math.round(255 * FADED)));
    for (let k = 0; k < count; k += step) {
      const i = inSteps ? order[k] : (k * STRIDE) % count;
      if (isActive(i) !== active) continue;
      const x = Math.round((left + map.x[i] * fit) * ratio - side / 2);
      const y = Math.round((top + map.y[i] * fit) * ratio - side / 2);
      if (!(x >= 0 && y >= 0 && x + side <= width && y + side <= height)) continue;
      const color = inks[tones[i]];
      for (let row = y * width + x, end = row + side * width; row < end; row += width) {
        for (let at = row; at < row + side; at++) pixels[at] = color;
      }
    }
  }
  context.putImageData(image, 0, 0);
}

function paint(context, map, frame, radius, ratio, most = count) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  if (most < count || countInSight(map, frame) > SMOOTH) {
    const side = Math.max(1, Math.round(1.8 * radius * ratio));
    drawSquares(context, map, frame, side, ratio, Math.ceil(count / most));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (state.cluster !== null || selectedCount) {
    context.globalAlpha = FADED;
    drawDiscs(context, map, frame, radius, false);
  }
  context.globalAlpha = 0.9;
  drawDiscs(context, map, frame, radius, true);
  context.globalAlpha = 1;
}
