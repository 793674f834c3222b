/* One small map per view; a click shows it large. */
const SMALL = 20000;    // points on a small map, at most
const smallMaps = maps.length < 2 ? [] : maps.map((map, number) => {
  const button = put("button", "", get("small-maps"));
  button.type = "button";
  const context = put("canvas", "", button).getContext("2d");
  put("span", map.name, button);
  button.addEventListener("click", () => showMap(number));
  return { map, button, context };
});

function showMap(number) {
  state.map = number;
  smallMaps.forEach(({ button }, k) => button.setAttribute("aria-pressed", String(k === number)));
  zoom(0);
}

function drawSmallMaps() {
  for (const { map, context } of smallMaps) {
    const { clientWidth, clientHeight } = context.canvas;
    const ratio = pixelRatio();
    context.canvas.width = Math.round(clientWidth * ratio);
    context.canvas.height = Math.round(clientHeight * ratio);
    const frame = frameOf(map, clientWidth, clientHeight, 8, { scale: 1, x: 0, y: 0 });
    paint(context, map, frame, Math.max(0.6, radiusOf() / 3), ratio, Math.min(count - 1, SMALL));
  }
}
