// Charts by dygraphs. What draws is registered, so that all can be drawn anew when colours or widths change.

const can_draw = typeof Dygraph !== "undefined";
const drawn = []; // { graph, recolor }

/// A figure: heading, key, what the pointer is on, and a canvas. `draw(box, readout)` gives the dygraph.
function figure(title, description, keys, size, draw) {
  const readout = h("div", { class: "readout", "aria-live": "polite" });
  const box = h("div", { class: `chart ${size}`, role: "img", tabindex: "0", "aria-label": `${title}. ${description}` });
  const element = h("figure", {}, h("figcaption", {}, h("b", {}, title), keys, readout), box);
  element.draw = () => {
    const graph = draw(box, readout);
    drawn.push(graph);
    return graph;
  };
  return element;
}

const without_touch = () => { // a finger on a chart scrolls the page; buttons zoom
  const { mousedown, dblclick } = Dygraph.defaultInteractionModel;
  return { mousedown, dblclick, willDestroyContextMyself: true };
};

const dashed = (paint, width = 2) => ({ color: color(paint), strokePattern: [7, 4], strokeWidth: width });

/// What all charts have in common.
function options(more) {
  return {
    legend: "never", axisLineColor: color("line"), gridLineColor: color("grid"), strokeWidth: 1.6, highlightCircleSize: 3,
    interactionModel: without_touch(), rightGap: 12, xRangePad: 0, axisLabelFontSize: 12, labelsDiv: document.createElement("div"),
    animatedZooms: false, ...more,
  };
}

/// Decades with their text, for axes of log10(value).
function decades(write, steps = [1, 2, 5]) {
  return (low, high) => {
    const fine = high - low < 2.2 ? steps : [1];
    const ticks = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); ++power)
      for (const step of fine) {
        const v = power + Math.log10(step);
        if (v >= low - 1e-9 && v <= high + 1e-9) ticks.push({ v, label: write(step * 10 ** power) });
      }
    return ticks;
  };
}

/// Ticks for a linear x axis, about one in 92 pixels and at least two. `write(value, digits)`: so many decimals tell them apart.
function even_ticks(write) {
  return (low, high, pixels) => {
    const most = Math.max(2, Math.floor(pixels / 92)), range = high - low;
    const multiples = (step) => {
      const ticks = [];
      for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * range; ++i) ticks.push(i * step);
      return ticks;
    };
    if (!(range > 0)) return [{ v: low, label: write(low, 3) }];
    let best = null;
    for (let power = Math.ceil(Math.log10(range)); ; --power)
      for (const part of [10, 5, 2]) { // from coarse to fine
        const places = multiples(part * 10 ** (power - 1)), digits = Math.max(0, part === 10 ? -power : 1 - power);
        if (best && places.length > most) return best;
        if (places.length >= 2) best = places.map((v) => ({ v, label: write(v, digits) }));
      }
  };
}

/// For a y axis with logscale: a tick and a text for each decade, or for 1, 2, 5 where there are few.
function log_ticks(write) {
  const ticks_of = decades(write);
  return (low, high) => ticks_of(Math.log10(Math.max(low, 1e-12)), Math.log10(high)).map((tick) => ({ v: 10 ** tick.v, label: tick.label }));
}

/// A line with its text across the area of a chart: at x or at y (canvas places).
function rule(context, area, { x, y, text, paint, dash = [4, 4], side = "left", up = true, low = false }) {
  context.save();
  context.strokeStyle = context.fillStyle = color(paint);
  context.setLineDash(dash);
  context.beginPath();
  if (y !== undefined) { context.moveTo(area.x, y); context.lineTo(area.x + area.w, y); }
  else { context.moveTo(x, area.y); context.lineTo(x, area.y + area.h); }
  context.stroke();
  if (text) {
    context.font = "12px system-ui, sans-serif";
    const width = context.measureText(text).width;
    let left = y !== undefined ? (side === "left" ? area.x + 6 : area.x + area.w - width - 6) : x + 5;
    if (y === undefined && left + width > area.x + area.w) left = x - width - 5;
    const base = y !== undefined ? y + (up ? -4 : 13) : low ? area.y + area.h - 8 : area.y + (up ? 13 : 28);
    context.globalAlpha = 0.85;
    context.fillStyle = color("paper");
    context.fillRect(left - 2, base - 11, width + 4, 14);
    context.globalAlpha = 1;
    context.fillStyle = color(paint);
    context.fillText(text, left, base);
  }
  context.restore();
}

const positive = (value) => typeof value === "number" && value > 0 ? value : null;
const band = (low, middle, high) => middle === null ? [null, null, null] : [low ?? middle, middle, high ?? middle];
const of_interface = (each) => [each.host, each.interface, each.direction].filter(Boolean).join(" ");

/// E(tau) or PtM(tau) of one interface: the band from lower to upper, estimate, prediction; the others thin behind.
function burst_figure(run, chosen, what) {
  const is_ptm = what === "ptm";
  const write = is_ptm ? (value) => significant(value) : format.bytes;
  const keys = [key("estimate, in the band from lower to upper", "c0", "box"), key("certified (lower)", "c0")];
  const points = chosen.burstiness ?? [];
  if (!points.some((each) => positive(each.e_lower_bytes))) return null;
  const column = is_ptm ? ["ptm_lower", "ptm_estimate", "ptm_upper"] : ["e_lower_bytes", "e_estimate_bytes", "e_upper_bytes"];
  const mean_bytes_per_second = (chosen.mean_bits_per_second ?? 0) / 8;
  const predicted = (each) => is_ptm ? positive(each.ptm_predicted) :
    positive(each.e_predicted_bytes ?? (each.ptm_predicted ?? 0) * each.tau_seconds * mean_bytes_per_second);
  const has_prediction = points.some((each) => predicted(each) !== null);
  if (has_prediction) keys.push(key("predicted", "c1", "dash"));
  const others = run.interfaces.filter((each) => each !== chosen && each.burstiness?.length === points.length);
  if (others.length) keys.push(key(`estimates of ${others.length} other counters`, "soft"));
  if (is_ptm) keys.push(explained(key("for orientation: 60 : 1 at 5 ms", "c5", "dash"), "measured of ResNet-50, see the glossary; not an expectation"));
  const title = is_ptm ? "PtM(τ), peak to mean" : "E(τ), most bytes in a window";
  const about = `${title} of ${of_interface(chosen)} over window lengths from ${format.seconds(points[0]?.tau_seconds ?? 0)} to ` +
    `${format.seconds(points.at(-1)?.tau_seconds ?? 0)}, both axes logarithmic. The table below has the numbers.`;
  return figure(title, about, keys, "", (box, readout) => {
    const rows = points.map((each, i) => [Math.log10(each.tau_seconds),
      band(...column.map((name) => positive(each[name]))), band(null, positive(each[column[0]])), band(null, predicted(each)),
      ...others.map((other) => band(null, positive(other.burstiness[i][column[1]])))]);
    const labels = ["tau", "estimate", "lower", "predicted", ...others.map((other, i) => `other ${i} ${of_interface(other)}`)];
    const values = rows.flatMap((row) => row.slice(1).flat()).filter((value) => value !== null);
    const low = Math.min(...values, is_ptm ? 1 : Infinity) * 0.8, high = Math.max(...values, is_ptm ? 60 : 0) * 1.5;
    const series = { estimate: { color: color("c0"), strokeWidth: 2.2, drawPoints: true, pointSize: 2.5 },
      lower: { color: color("c0"), strokeWidth: 1, strokePattern: [2, 3] }, predicted: dashed("c1", 2.2) };
    for (const label of labels.slice(4)) series[label] = { color: color("soft"), strokeWidth: 0.5 };
    const resolved_from = chosen.resolved_from_seconds;
    return new Dygraph(box, rows, options({
      labels, customBars: true, fillAlpha: 0.25, series, connectSeparatedPoints: true, logscale: true,
      valueRange: [low, high], dateWindow: [rows[0][0] - 0.1, rows.at(-1)[0] + 0.1], xlabel: "window length τ",
      ylabel: is_ptm ? "peak to mean, ratio" : "bytes in the window",
      axes: { x: { ticker: decades(format.seconds), axisLabelWidth: 60 }, y: { ticker: log_ticks(write), axisLabelWidth: 58 } },
      underlayCallback(context, area, graph) {
        const left = graph.toDomXCoord(Math.log10(resolved_from ?? 1e-12));
        if (resolved_from && left > area.x) {
          context.fillStyle = color("card");
          context.fillRect(area.x, area.y, Math.min(left - area.x, area.w), area.h);
          rule(context, area, { x: left, text: `resolved from ${format.seconds(resolved_from)} on`, paint: "soft", low: true });
        }
        if (!is_ptm) return;
        const x = graph.toDomXCoord(Math.log10(0.005)), y = graph.toDomYCoord(60);
        rule(context, area, { y, text: "60 : 1", paint: "c5", side: "right" });
        context.fillStyle = color("c5");
        context.beginPath(); context.arc(x, y, 4.5, 0, 7); context.fill();
        context.font = "12px system-ui, sans-serif";
        context.fillText("5 ms", x - 12, y + 18);
      },
      highlightCallback(event, x, at_point, row) {
        const each = points[row];
        const [lower, estimate, upper] = column.map((name) => each[name] ?? null);
        const said = predicted(each) === null ? "" : `, predicted ${write(predicted(each))}`;
        readout.textContent = `τ = ${format.seconds(each.tau_seconds)}: ` + (estimate === null ? "not resolved" :
          `at least ${write(lower)}, estimate ${write(estimate)}, at most ${write(upper)}`) + said;
      },
      unhighlightCallback() { readout.textContent = ""; },
    }));
  });
}

/// Buffers that the whole switch shares; one port gets a part of it.
const switch_buffers = [
  { bytes: 9e6, name: "Trident+", source: "Broadcom BCM56840, port-buffers.forwardingplane.net" },
  { bytes: 16e6, name: "AG9032v1", source: "32 x 100GbE, Delta AG9032 manual" },
  { bytes: 42e6, name: "Tomahawk 2", source: "Broadcom BCM56970, port-buffers.forwardingplane.net" },
];

/// B_max(r) of one interface.
function backlog_figure(run, chosen, byte_scale) {
  const line_rate = run.on?.line_rate_bits_per_second ?? null;
  const points = [...(chosen.backlog ?? [])].sort((a, b) => a.rate_bits_per_second - b.rate_bits_per_second);
  if (!points.some((each) => positive(each.estimate_bytes) || positive(each.lower_bytes))) return null;
  const keys = [key("estimate", "c0"), key("at least, at most", "c0", "dash"), key("predicted", "c1", "dash"), key("shared buffers of switches", "c2", "dash")];
  const title = "B_max(r), largest queue in front of a link of rate r";
  return figure(title, `${of_interface(chosen)}; the table below has the numbers.`, keys, "", (box, readout) => {
    const rows = points.map((each) => [each.rate_bits_per_second, positive(each.estimate_bytes), positive(each.lower_bytes), positive(each.upper_bytes), positive(each.predicted_bytes)]);
    const values = rows.flatMap((row) => row.slice(1)).filter((value) => value !== null);
    const buffers = switch_buffers.map((each) => ({ ...each, bytes: each.bytes * byte_scale }));
    const low = Math.min(...values, ...buffers.map((each) => each.bytes)) * 0.6;
    const high = Math.max(...values, ...buffers.map((each) => each.bytes)) * 1.8;
    return new Dygraph(box, rows, options({
      labels: ["rate", "estimate", "at least", "at most", "predicted"], logscale: true, valueRange: [low, high], connectSeparatedPoints: true,
      dateWindow: [0, 1.12 * Math.max(line_rate ?? 0, rows.at(-1)[0])], drawPoints: true, pointSize: 3, xlabel: "link rate r", ylabel: "queue, bytes",
      series: { estimate: { color: color("c0"), strokeWidth: 2.2 }, "at least": dashed("c0", 1.2), "at most": dashed("c0", 1.2), predicted: dashed("c1", 2.2) },
      axes: { x: { axisLabelFormatter: (value) => value === 0 ? "0" : format.bits_per_second(value), axisLabelWidth: 84, pixelsPerLabel: 96 },
        y: { ticker: log_ticks(format.bytes), axisLabelWidth: 58 } },
      underlayCallback(context, area, graph) {
        for (const each of buffers)
          rule(context, area, { y: graph.toDomYCoord(each.bytes), paint: "c2", side: "right",
            text: `${each.name} ${format.bytes(each.bytes / byte_scale)}${byte_scale === 1 ? "" : ` × ${byte_scale}`}` });
        if (line_rate) rule(context, area, { x: graph.toDomXCoord(line_rate), text: "link rate", paint: "c5", up: false });
      },
      highlightCallback(event, x, at_point, row) {
        const each = points[row];
        readout.textContent = `r = ${format.bits_per_second(x)}: at least ${format.bytes(each.lower_bytes)}, estimate ${format.bytes(each.estimate_bytes)}` +
          (typeof each.upper_bytes === "number" ? `, at most ${format.bytes(each.upper_bytes)}` : "") +
          (typeof each.predicted_bytes === "number" ? `, predicted ${format.bytes(each.predicted_bytes)}` : "");
      },
      unhighlightCallback() { readout.textContent = ""; },
    }));
  });
}

/// Shares of values at or below x; curves: { name, values (sorted) }. `marks`: { x, text } as upright lines.
function ecdf_figure(title, description, curves, { logarithmic = false, marks = [] } = {}) {
  const known = curves.map((curve) => ({ ...curve, values: curve.values.map((value) => logarithmic ? Math.log10(Math.max(value, 1e-9)) : value) }))
    .filter((curve) => curve.values.length > 0);
  if (known.length === 0) return null;
  const keys = known.length > 1 ? known.map((curve, i) => key(curve.name, `c${i % 8}`)) : [];
  return figure(title, description, keys, "low", (box, readout) => {
    const places = [...new Set(known.flatMap((curve) => curve.values))].sort((a, b) => a - b);
    const marked = marks.map((mark) => mark.x);
    const low = Math.min(...places, ...marked), high = Math.max(...places, ...marked);
    const pad = Math.max((high - low) * 0.06, Math.abs(high) * 0.002, 1e-9);
    const share = (values, x) => values.filter((value) => value <= x + 1e-12).length / values.length * 100;
    const rows = [low - pad, ...places, high + pad].map((x) => [x, ...known.map((curve) => share(curve.values, x))]);
    return new Dygraph(box, rows, options({
      labels: ["x", ...known.map((curve, i) => `${i} ${curve.name}`)], stepPlot: true, strokeWidth: 2, valueRange: [0, 104],
      colors: known.map((_, i) => color(`c${i % 8}`)), dateWindow: [low - pad, high + pad], ylabel: "share at or below, %",
      axes: { x: logarithmic ? { ticker: decades(format.seconds), axisLabelWidth: 60 } :
          { ticker: even_ticks((value) => format.seconds(Math.abs(value) < 1e-12 ? 0 : value)), axisLabelWidth: 78 },
        y: { axisLabelWidth: 40, axisLabelFormatter: (value) => value > 100 ? "" : String(value) } },
      underlayCallback(context, area, graph) {
        for (const mark of marks) rule(context, area, { x: graph.toDomXCoord(mark.x), text: mark.text, paint: "c1" });
      },
      highlightCallback(event, x, at_points) {
        readout.textContent = `${format.seconds(logarithmic ? 10 ** x : x)}: ` +
          at_points.map((point, i) => `${known.length > 1 ? `${known[i].name} ` : ""}${significant(point.yval, 3)} %`).join(", ");
      },
      unhighlightCallback() { readout.textContent = ""; },
    }));
  });
}

/// p50, p99 and the largest of each rank's skew.
function skew_figure(skews) {
  const shown = [["p50", "c2"], ["p99", "c0"], ["max", "c1"]];
  const known = skews.filter((each) => each.start_skew_seconds);
  if (known.length === 0) return null;
  return figure("Start skew by rank", "How long after the median rank each rank started its buckets. The table below has the numbers.",
    shown.map(([name, paint]) => key(name, paint)), "low", (box, readout) => {
      const rows = known.map((each) => [each.rank, ...shown.map(([name]) => each.start_skew_seconds[name] ?? null)]);
      return new Dygraph(box, rows, options({
        labels: ["rank", ...shown.map(([name]) => name)], colors: shown.map(([, paint]) => color(paint)), strokeWidth: 0, drawPoints: true, pointSize: 4.5,
        dateWindow: [rows[0][0] - 0.5, rows.at(-1)[0] + 0.5], includeZero: true, xlabel: "rank",
        axes: { x: { axisLabelFormatter: (value) => Number.isInteger(value) ? String(value) : "", pixelsPerLabel: 40 },
          y: { axisLabelFormatter: (value) => format.seconds(Math.abs(value) < 1e-12 ? 0 : value), axisLabelWidth: 62 } },
        highlightCallback(event, x, at_points) {
          readout.textContent = `rank ${x}: ` + at_points.map((point) => `${point.name} ${format.seconds(point.yval)}`).join(", ");
        },
        unhighlightCallback() { readout.textContent = ""; },
      }));
    });
}
