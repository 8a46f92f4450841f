// From a view (omkl/pages/document.py) to the traces and the layout that Plotly draws.

const DARK = {
  "#0072B2": "#56b4e9", "#D55E00": "#ff8a3d", "#009E73": "#35c79d", "#CC79A7": "#e39ac3", "#56B4E9": "#a6d8f7",
  "#000000": "#f2f2f2", "#8C510A": "#c99a5b", "#7A3E9D": "#b98bdb", "#404040": "#c4c4c4", "#6e6e6e": "#a2a2a2",
  "#8c8c8c": "#868686",
};
const MANY = 4; // lines up to which bands are shown at first

// Plotly reads some markup in texts: names are to be shown as they are.
const literal = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const colourOf = (look, dark) => (dark && DARK[look.colour]) || look.colour;
const faint = (colour) => colour + "26"; // 15 % of it

function shown(value, digits) {
  if (value === null || value === undefined) return "–";
  if (digits === 3 && value !== 0 && Math.abs(value) < 0.1) return value.toPrecision(3);
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function withSpread(mean, std, digits) {
  return std === null || std === undefined ? shown(mean, digits) : `${shown(mean, digits)} ± ${shown(std, digits)}`;
}

function lineTraces(view, figure, state, dark) {
  const traces = [];
  const ends = view.lines.flatMap((line) => line.x ?? []);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  for (const line of view.lines) {
    if (state.hidden.has(line.name)) continue;
    const look = figure.lines[line.name];
    const colour = colourOf(look, dark);
    const level = line.x === null;
    const repeat = (values) => (level ? [values[0], values[0]] : values);
    const x = level ? [least, most] : line.x;
    const mean = repeat(line.mean);
    const std = line.std ? repeat(line.std) : null;
    if (state.bands && std && look.dash === "solid") {
      const low = mean.map((value, i) => Math.max(value - (std[i] ?? 0), state.logY ? value / 2 : 0));
      const high = mean.map((value, i) => {
        const top = value + (std[i] ?? 0);
        return view.kind === "share" ? Math.min(top, 1) : top;
      });
      const edge = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
      traces.push({ ...edge, y: low }, { ...edge, y: high, fill: "tonexty", fillcolor: faint(colour) });
    }
    const few = x.length <= 12 || view.points;
    traces.push({
      x, y: mean, name: literal(line.name), showlegend: false,
      mode: few && !level ? "lines+markers" : look.symbol && !level ? "lines+markers" : "lines",
      line: { color: colour, width: 2, dash: look.dash },
      marker: { color: colour, size: 6, symbol: look.symbol || "circle", maxdisplayed: few ? 0 : 9 },
      customdata: mean.map((value, i) => withSpread(value, std?.[i], view.digits)),
      hovertemplate: "%{customdata}<extra>%{fullData.name}</extra>",
    });
    if (view.best && !level) {
      const costs = line.mean.map((value) => (value === null ? Infinity : view.best * value));
      const at = costs.indexOf(Math.min(...costs));
      traces.push({
        x: [x[at]], y: [mean[at]], mode: "markers", hoverinfo: "skip", showlegend: false,
        marker: { size: 15, symbol: "circle-open", color: colour, line: { width: 2 } },
      });
    }
  }
  return traces;
}

function dotTraces(view, figure, state, dark) {
  const rows = view.rows.filter((row) => !state.hidden.has(row.line));
  return rows.map((row) => {
    const look = figure.lines[row.line] ?? { colour: "#0072B2", symbol: "" };
    const colour = colourOf(look, dark);
    return {
      x: [row.mean], y: [literal(row.name)], name: literal(row.name), mode: "markers", showlegend: false,
      error_x: { type: "data", array: [row.std ?? 0], color: colour, thickness: 1.3, width: 3 },
      marker: { color: colour, size: 9, symbol: (look.symbol || "circle") + (row.marked || view.name === "seconds" ? "" : "-open") },
      customdata: [withSpread(row.mean, row.std, view.digits)],
      hovertemplate: "%{y}: %{customdata}<extra></extra>",
    };
  });
}

function heatTraces(view) {
  const text = view.mean.map((row) => row.map((value) => (value === null ? "" : value.toFixed(1))));
  const custom = view.mean.map((row, i) => row.map((value, j) => withSpread(value, view.std[i][j], view.digits)));
  const [columns, rows] = [view.columns.map(String), view.rows.map(String)];
  const cells = rows.length * columns.length;
  return [
    {
      type: "heatmap", x: columns, y: rows, z: view.mean, colorscale: "Cividis", reversescale: true, xgap: 1, ygap: 1,
      zmin: view.range[0], zmax: view.range[1],
      customdata: custom, hoverongaps: false, colorbar: { title: { text: view.label, side: "right", font: { size: 12 } }, thickness: 12 },
      hovertemplate: `${view.x} %{x}, ${view.y} %{y}: %{customdata}<extra></extra>`,
      ...(cells <= 120 && columns.length <= 14 ? { text, texttemplate: "%{text}" } : {}),
    },
  ];
}

// Colours follow share^GAMMA, so that a share of one percent is seen.
const GAMMA = 0.45;
const SHARES = [0, 1, 5, 20, 50, 100];
const BLUES = ["#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"].map((colour, i) => [i / 8, colour]);

function confusionTraces(view, narrow) {
  const names = view.classes.map(literal);
  const raised = (share) => (share === null ? null : (share / 100) ** GAMMA);
  const count = (value) => (value === 0 ? "" : value >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1));
  const bar = { title: { text: view.label, side: "right", font: { size: 12 } }, thickness: 12, tickvals: SHARES.map(raised), ticktext: SHARES.map(String) };
  return [
    {
      type: "heatmap", x: names, y: names, z: view.shares.map((row) => row.map(raised)), zmin: 0, zmax: 1, colorscale: BLUES,
      xgap: 1, ygap: 1, hoverongaps: false, colorbar: bar,
      customdata: view.shares.map((row, i) => row.map((share, j) => `${shown(share, 1)} % (${shown(view.counts[i][j], 1)} examples)`)),
      hovertemplate: "%{y} taken for %{x}: %{customdata}<extra></extra>",
      ...(names.length <= (narrow ? 6 : 14) ? { text: view.counts.map((row) => row.map(count)), texttemplate: "%{text}" } : {}),
    },
  ];
}

function rankTraces(view, figure, dark, ink) {
  const traces = view.rows.map((row) => {
    const look = figure.lines[row.name];
    const each = Object.entries(row.each).map(([data, rank]) => `${literal(data)} ${rank}`);
    return {
      x: [row.rank], y: [literal(row.name)], mode: "markers+text", name: literal(row.name), showlegend: false,
      text: [row.rank.toFixed(2)], textposition: "middle right", textfont: { size: 11 },
      marker: { color: colourOf(look, dark), size: 10, symbol: look.symbol || "circle" },
      customdata: [wrapped(each)], hovertemplate: "%{y}: average rank %{x:.2f}<br>%{customdata}<extra></extra>",
    };
  });
  // A bar joins what does not differ significantly, one lane per bar at the right.
  view.groups.forEach(([first, last], lane) => {
    const names = view.rows.slice(first, last + 1).map((row) => literal(row.name));
    const x = laneOf(view, lane);
    traces.push({
      x: names.map(() => x), y: names, mode: "lines", line: { color: ink, width: 5 }, showlegend: false,
      hovertemplate: "not significantly different<extra></extra>",
    });
  });
  return traces;
}

function laneOf(view, lane) {
  const ranks = view.rows.map((row) => row.rank);
  return Math.max(...ranks) + 0.07 * (Math.max(...ranks) - Math.min(...ranks)) * (lane + 1.7);
}

function wrapped(parts) {
  const lines = [];
  for (let i = 0; i < parts.length; i += 4) lines.push(parts.slice(i, i + 4).join(", "));
  return lines.join("<br>");
}

// The traces and layout of a view; colours: ink, grid, paper of the page.
function drawing(figure, view, state, colours, narrow) {
  const { ink, grid, paper, dark } = colours;
  const titled = (text) => ({ text: literal(text), font: { size: narrow ? 11 : 13 } });
  const axis = { gridcolor: grid, linecolor: grid, zeroline: false, automargin: true, ticks: "", color: ink };
  const layout = {
    paper_bgcolor: paper, plot_bgcolor: paper, font: { color: ink, size: narrow ? 11 : 13, family: "system-ui, sans-serif" },
    margin: { l: 10, r: 12, t: 12, b: 10 }, hovermode: "closest", dragmode: state.touch ? false : "zoom", height: narrow ? 340 : 440,
    legend: { traceorder: "normal" }, hoverlabel: { bgcolor: paper, bordercolor: grid, font: { color: ink, size: 12 }, namelength: -1 },
    xaxis: { ...axis, title: titled(view.x ?? view.label) }, yaxis: { ...axis, title: titled(view.label) },
  };
  const listed = (count, row) => {
    layout.height = 70 + row * count;
    layout.yaxis = { ...axis, type: "category", autorange: "reversed", title: { text: "" }, tickfont: { size: narrow ? 10 : 12 } };
  };
  const log = (axis, on) => (layout[axis].type = on ? "log" : "linear");
  if (view.type === "lines") {
    log("xaxis", state.logX);
    log("yaxis", state.logY);
    if (view.x === "examples") {
      Object.assign(layout.xaxis, { tickformat: ",", hoverformat: ",", nticks: narrow ? 5 : 9 });
      if (!state.logX) layout.xaxis.range = [0, Math.max(...view.lines.flatMap((line) => line.x))];
    }
    layout.hovermode = "x unified";
    if (view.kind === "share") layout.yaxis.range = state.logY ? undefined : [-0.02, 1.02];
    else if (!state.logY) layout.yaxis.rangemode = view.kind === "rate" ? "normal" : "tozero";
    if (view.kind === "rate" && view.x === "examples") layout.yaxis.range = rateRange(view, figure, state);
    return { traces: lineTraces(view, figure, state, dark), layout };
  }
  if (view.type === "dots") {
    listed(view.rows.filter((row) => !state.hidden.has(row.line)).length, 25);
    layout.xaxis.title.text = view.label;
    log("xaxis", state.logY);
    return { traces: dotTraces(view, figure, state, dark), layout };
  }
  if (view.type === "heat") {
    layout.height = Math.max(260, 110 + 34 * view.rows.length);
    Object.assign(layout.xaxis, { type: "category", title: titled(view.x) });
    Object.assign(layout.yaxis, { type: "category", title: titled(view.y) });
    const [row, column] = view.best;
    const frame = { x0: column - 0.5, x1: column + 0.5, y0: row - 0.5, y1: row + 0.5 };
    layout.shapes = [{ type: "rect", ...frame, line: { color: "#e00000", width: 3 } }];
    return { traces: heatTraces(view), layout };
  }
  if (view.type === "confusion") {
    layout.height = Math.min(760, Math.max(320, 130 + 34 * view.classes.length));
    Object.assign(layout.xaxis, { type: "category", title: titled("predicted class") });
    Object.assign(layout.yaxis, { type: "category", title: titled("true class"), autorange: "reversed" });
    return { traces: confusionTraces(view, narrow), layout };
  }
  listed(view.rows.length, 27);
  layout.xaxis.range = [0.8, laneOf(view, view.groups.length)];
  layout.xaxis.title.text = `average rank; bars join what does not differ significantly (critical difference ${view.cd.toFixed(2)})`;
  if (narrow) layout.xaxis.title.text = `average rank (critical difference ${view.cd.toFixed(2)})`;
  return { traces: rankTraces(view, figure, dark, ink), layout };
}

// All of the learners' curves but the first twentieth, where a rate over few examples says little, and the
// yardsticks that are not far above them.
function rateRange(view, figure, state) {
  const learners = [];
  const yardsticks = [];
  for (const line of view.lines) {
    if (state.hidden.has(line.name)) continue;
    const end = line.x[line.x.length - 1];
    const to = figure.lines[line.name].yardstick ? yardsticks : learners;
    line.mean.forEach((value, i) => {
      const std = (state.bands && line.std?.[i]) || 0;
      if (line.x[i] >= 0.05 * end && value !== null) to.push(Math.max(value - std, value / 2), value + std);
    });
  }
  const top = learners.length ? 3 * Math.max(...learners) - 2 * Math.min(...learners) : Infinity;
  const seen = [...learners, ...yardsticks.filter((value) => value <= top)];
  const [low, high] = [Math.min(...seen), Math.max(...seen)];
  if (!seen.length || low === high) return undefined;
  if (state.logY) return low > 0 ? [Math.log10(0.9 * low), Math.log10(1.1 * high)] : undefined;
  const room = 0.05 * (high - low);
  return [Math.max(0, low - room), high + room];
}
