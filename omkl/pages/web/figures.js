// Figures: which panel and view is shown, the legend, zoom, keys, and files.

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

function setUpFigure(box, figure, colours) {
  const plot = $(".plot", box);
  const tools = $(".tools", box);
  const legend = $(".legend", box);
  const touch = matchMedia("(pointer: coarse)").matches; // a drag scrolls the page there
  const state = { panel: 0, view: figure.panels[0]?.views[0]?.name, hidden: new Set(), bands: true, logX: false, logY: false, at: -1, touch };
  if (!figure.panels.length) return null;

  const panel = () => figure.panels[state.panel];
  const view = () => panel().views.find((one) => one.name === state.view) ?? panel().views[0];
  const narrow = () => plot.clientWidth < 560;
  const made = (printed = false) => drawing(figure, view(), state, colours(printed), narrow());
  const config = { displayModeBar: false, responsive: true, scrollZoom: false };

  async function draw() {
    const { traces, layout } = made();
    await Plotly.react(plot, traces, layout, config);
    plot.dataset.drawn = `${panel().name} · ${view().name}`;
    $("figcaption", box).dataset.shown = `${panel().name}: ${view().label}`; // on paper there are no controls
  }

  // ------------------------------------------------------------ controls
  const choice = (label, options, changed) => {
    const select = element("select", { "aria-label": label });
    options.forEach(([value, text]) => select.append(element("option", { value }, text)));
    select.addEventListener("input", () => changed(select.value));
    return select;
  };
  const tick = (label, name) => {
    const input = element("input", { type: "checkbox" });
    input.checked = state[name];
    input.addEventListener("input", () => {
      state[name] = input.checked;
      draw();
    });
    return element("label", { class: "tick" }, input, label);
  };
  const views = element("span");
  function fillViews() {
    const options = panel().views.map((one) => [one.name, one.label]);
    const select = choice("measure", options, (name) => {
      state.view = name;
      state.at = -1;
      fillTicks();
      fillLegend();
      draw();
    });
    select.value = view().name;
    views.replaceChildren(...(options.length > 1 ? [select] : []));
  }
  const ticks = element("span");
  const zooms = element("span", { class: "group" });
  const zoomKeys = [["+", 0.5, "zoom in"], ["−", 2, "zoom out"], ["reset", 0, "reset the zoom"]].map(
    ([text, factor, label]) => button(text, () => zoom(factor), { "aria-label": label }),
  );
  function fillTicks() {
    const kind = view().type;
    const own = [];
    if (kind === "lines" && view().lines.some((line) => line.std)) own.push(tick("bands", "bands"));
    if (kind === "lines") own.push(tick("log x", "logX"));
    if (kind === "lines" || kind === "dots") own.push(tick(kind === "lines" ? "log y" : "log", "logY"));
    ticks.replaceChildren(...own);
    zooms.replaceChildren(...(kind === "lines" || kind === "dots" ? zoomKeys : []));
  }
  const panels = choice("panel", figure.panels.map((one, i) => [i, one.name]), (i) => show(Number(i)));
  function show(i) {
    state.panel = i;
    state.at = -1;
    state.logX = Boolean(view().log);
    state.bands = (view().lines ?? []).length <= MANY + 3;
    panels.value = String(i);
    fillViews();
    fillTicks();
    fillLegend();
    return typeof Plotly === "undefined" ? null : draw();
  }
  if (figure.panels.length > 1) tools.append(panels);
  tools.append(views, ticks);
  tools.append(
    zooms,
    element("span", { class: "group" }, button("SVG", () => image("svg"), { title: "save as SVG" }), button("PNG", () => image("png"), { title: "save as PNG" })),
  );

  // ------------------------------------------------------------ legend
  function fillLegend() {
    const one = view();
    const names = new Set((one.lines ?? []).map((line) => line.name));
    $(".spoken", box).textContent = "";
    legend.replaceChildren();
    if (one.type !== "lines" || names.size < 2) return;
    for (const [name, look] of Object.entries(figure.lines)) {
      if (!names.has(name)) continue;
      const key = button("", (event) => toggle(name, event.shiftKey || event.altKey), {
        "aria-pressed": String(!state.hidden.has(name)), "data-name": name, title: "click: show or hide; double click or Shift: this one alone",
      });
      key.append(swatch(look), name);
      key.addEventListener("dblclick", () => toggle(name, true));
      legend.append(key);
    }
    legend.append(button("all", () => only([]), { class: "plain" }), button("none", () => only([...names]), { class: "plain" }));
  }
  function only(hidden) {
    state.hidden = new Set(hidden);
    fillLegend();
    draw();
  }
  function toggle(name, alone) {
    const names = $$("button[data-name]", legend).map((key) => key.dataset.name);
    if (alone) return only(names.filter((other) => other !== name));
    state.hidden.has(name) ? state.hidden.delete(name) : state.hidden.add(name);
    $$("button[data-name]", legend).forEach((key) => key.setAttribute("aria-pressed", String(!state.hidden.has(key.dataset.name))));
    return draw();
  }
  function swatch(look) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({ width: 26, height: 10, "aria-hidden": "true" })) svg.setAttribute(name, value);
    const dashes = look.dash === "solid" ? "none" : look.dash.replaceAll("px", "");
    const own = { x1: 0, x2: 26, y1: 5, y2: 5, stroke: colourOf(look, colours().dark), "stroke-width": 2.5, "stroke-dasharray": dashes };
    for (const [name, value] of Object.entries(own)) line.setAttribute(name, value);
    svg.append(line);
    return svg;
  }

  // ------------------------------------------------------------ zoom, keys, files
  function zoom(factor) {
    if (!factor) return draw(); // the layout has no ranges of a zoom
    const [low, high] = plot._fullLayout.xaxis.range;
    const [middle, half] = [(low + high) / 2, (factor * (high - low)) / 2];
    return Plotly.relayout(plot, { "xaxis.range": [middle - half, middle + half], "yaxis.autorange": true });
  }
  plot.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") zoom(0);
    else if (event.key in STEPS && view().type === "lines") read(STEPS[event.key]);
    else return;
    event.preventDefault();
  });
  function read(step) {
    const lines = view().lines.filter((line) => line.x !== null && !state.hidden.has(line.name));
    if (!lines.length) return;
    const all = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    state.at = Math.max(0, Math.min(all.length - 1, state.at < 0 ? (step > 0 ? 0 : all.length - 1) : state.at + step));
    const x = all[state.at];
    const there = lines.map((line) => [line, line.x.indexOf(x)]).filter(([, i]) => i >= 0);
    const texts = there.map(([line, i]) => `${line.name} ${withSpread(line.mean[i], line.std?.[i], view().digits)}`);
    $(".spoken", box).textContent = `${view().x} ${x.toLocaleString("en-US")}: ${texts.join("; ")}`;
    const traceOf = (line) => plot.data.findIndex((trace) => trace.name === literal(line.name));
    Plotly.Fx.hover(plot, there.map(([line, i]) => ({ curveNumber: traceOf(line), pointNumber: i })), "xy");
  }
  async function image(format) {
    const { traces, layout } = made(true);
    const several = traces.filter((trace) => trace.hoverinfo !== "skip").length > 1 && view().type === "lines";
    for (const trace of traces) trace.showlegend = several && trace.hoverinfo !== "skip";
    const title = `${figure.title}<br><sub>${literal(panel().name)}</sub>`;
    const whole = {
      ...layout, width: 900, height: layout.height + 120, showlegend: several, title: { text: literal(figure.title) + title.slice(figure.title.length), font: { size: 15 } },
      margin: { l: 60, r: 20, t: 70, b: 50 }, legend: { orientation: "h", y: -0.18, traceorder: "normal" },
    };
    const url = await Plotly.toImage({ data: traces, layout: whole }, { format, width: 900, height: whole.height, scale: 2 });
    save(`${figure.name}-${panel().name}-${view().name}.${format}`.replace(/[^\w.-]+/g, "-"), url);
  }

  show(0);
  const isDrawn = () => "drawn" in plot.dataset;
  return { draw, state, isDrawn, redress: () => (fillLegend(), isDrawn() && draw()) };
}
