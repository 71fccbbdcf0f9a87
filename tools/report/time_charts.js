// Charts over time that share one x axis: whoever zooms or pans one of them moves all.

class TimeGroup {
  constructor(from, to) {
    this.whole = [from, to];
    this.graphs = [];
    this.busy = false;
  }

  /// Options of a chart that belongs to the group; y stays as it is.
  options(more) {
    return options({
      dateWindow: this.whole, xlabel: null, ...more,
      drawCallback: (graph, initial) => { if (!initial) this.follow(graph); },
      axes: { ...more.axes, x: { ticker: even_ticks((value, digits) => `${value.toFixed(digits)} s`), axisLabelWidth: 78, ...more.axes?.x } },
    });
  }

  add(graph) { this.graphs.push(graph); return graph; }

  follow(leader) {
    if (this.busy) return;
    this.show(leader.xAxisRange(), leader);
  }

  show([from, to], leader = null) {
    const least = 0.002, [first, last] = this.whole;
    const width = Math.min(Math.max(to - from, least), last - first);
    from = Math.min(Math.max(from, first), last - width);
    this.busy = true;
    for (const graph of this.graphs) {
      const now = graph.xAxisRange();
      if (graph !== leader || now[0] !== from || now[1] !== from + width)
        graph.updateOptions({ dateWindow: [from, from + width] });
    }
    this.busy = false;
  }

  range() { return this.graphs[0]?.xAxisRange() ?? this.whole; }
  zoom(factor) {
    const [from, to] = this.range(), middle = (from + to) / 2, half = (to - from) / 2 * factor;
    this.show([middle - half, middle + half]);
  }
  pan(part) {
    const [from, to] = this.range(), by = (to - from) * part;
    this.show([from + by, to + by]);
  }

  /// Keys on a focused chart.
  listen(box) {
    box.addEventListener("keydown", (event) => {
      const action = { ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5),
        "-": () => this.zoom(2), "0": () => this.show(this.whole) }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }
}

/// A curve as steps { x, low, middle, high } over all of its time: bins, and in their place what is known in full. Null where
/// nothing is known.
function steps_of(curve) {
  const middle = curve.mean ?? curve.sum, steps = [];
  const bin = (i) => middle[i] === null || middle[i] === undefined ? null :
    { low: curve.least?.[i] ?? middle[i], middle: middle[i], high: curve.most?.[i] ?? middle[i], binned: curve.bin_s > curve.step_s };
  const push = (x, step) => steps.push({ x, ...(step ?? { low: null, middle: null, high: null }) });
  const fine = [...(curve.fine ?? [])].sort((a, b) => a.start_s - b.start_s);
  const end = curve.start_s + middle.length * curve.bin_s;
  const bins_between = (from, to) => {
    if (from >= to - 1e-9) return;
    for (let i = Math.max(0, Math.floor((from - curve.start_s) / curve.bin_s + 1e-9)); i < middle.length; ++i) {
      const x = curve.start_s + i * curve.bin_s;
      if (x >= to - 1e-9) return;
      push(Math.max(x, from), bin(i));
    }
  };
  let done = curve.start_s;
  for (const stretch of fine) {
    const first = stretch.values.findIndex((value) => value !== null);
    if (first < 0) continue;
    const values = stretch.values.slice(first, stretch.values.findLastIndex((value) => value !== null) + 1);
    const from = stretch.start_s + first * curve.step_s;
    bins_between(done, from);
    values.forEach((value, i) => push(from + i * curve.step_s, value === null ? null : { low: value, middle: value, high: value }));
    done = from + values.length * curve.step_s;
  }
  bins_between(done, end);
  push(end, null);
  return steps;
}

/// First step of sorted ones that is at or after x; the one before it covers x.
function first_at(steps, x) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].x < x) low = middle + 1; else high = middle;
  }
  return low;
}

function draw_gap(context, area, left, width, sign, zero) {
  context.save();
  context.globalAlpha = 0.8;
  context.fillStyle = color("line");
  context.fillRect(left, sign > 0 ? area.y : zero, width, sign > 0 ? zero - area.y : area.y + area.h - zero);
  context.restore();
}

/// Draws steps as an area: filled to the largest, with a line at the mean. Steps narrower than a pixel are drawn as one.
function draw_steps(context, graph, { steps, paint, sign = 1, least_width = 1, show_gaps = false }) {
  const [from, to] = graph.xAxisRange(), area = graph.getArea(), zero = graph.toDomYCoord(0);
  const x_of = (x) => Math.min(Math.max(graph.toDomXCoord(x), area.x), area.x + area.w);
  const line = new Path2D();
  let column = null, open = false;
  context.save();
  context.fillStyle = context.strokeStyle = color(paint);
  const flush = () => {
    if (!column) return;
    const left = Math.round(column.left), width = Math.max(Math.round(column.right) - left, least_width);
    const top = graph.toDomYCoord(sign * column.high), mean = graph.toDomYCoord(sign * column.sum / column.weight);
    context.globalAlpha = least_width > 1 ? 0.75 : 0.4;
    if (column.high > 0) context.fillRect(left, Math.min(top, zero), width, Math.max(Math.abs(zero - top), 1));
    if (open) line.lineTo(left, mean); else line.moveTo(left, mean);
    line.lineTo(left + width, mean);
    open = true;
    column = null;
  };
  for (let i = Math.max(0, first_at(steps, from) - 1); i < steps.length && steps[i].x <= to; ++i) {
    const step = steps[i], left = x_of(step.x), right = x_of(steps[i + 1]?.x ?? step.x);
    if (step.middle === null) {
      if (column && right - column.left < 1) { column.right = right; continue; }
      flush();
      if (show_gaps && right - left >= 3 && i + 1 < steps.length) draw_gap(context, area, left, right - left, sign, zero);
      if (right - left >= 1) open = false;
      continue;
    }
    if (column && right - column.left > 1) flush();
    const weight = Math.max(right - left, 1e-9);
    column ??= { left, high: 0, sum: 0, weight: 0 };
    column.right = right;
    column.high = Math.max(column.high, step.high);
    column.sum += step.middle * weight;
    column.weight += weight;
  }
  flush();
  context.globalAlpha = 1;
  context.lineWidth = 1.3;
  context.stroke(line);
  context.restore();
}

const covering = (steps, x) => { const i = first_at(steps, x + 1e-12); return i > 0 ? steps[i - 1] : null; };
const written = (step, write) => !step || step.middle === null ? "not known" :
  step.binned && step.high !== step.low ? `mean ${write(step.middle)}, between ${write(step.low)} and ${write(step.high)}` : write(step.middle);

/// A chart of curves that share a unit. `lines`: { steps, paint, sign, name }.
function steps_chart(group, box, readout, lines, { range, write, y_ticks = null, rule_at = null, rule_text = "" }) {
  const [from, to] = group.whole;
  const inner = Array.from({ length: 1999 }, (_, i) => from + (i + 1) / 2000 * (to - from)); // what the pointer can be on
  const rows = [from, ...inner, to].map((x) => [x, 0]);
  const graph = new Dygraph(box, rows, group.options({
    labels: ["t", "all"], valueRange: range, drawHighlightPointCallback() {},
    plotter(event) { for (const line of lines) draw_steps(event.drawingContext, event.dygraph, line); },
    axes: { y: { axisLabelFormatter: (value) => write(Math.abs(value)), axisLabelWidth: 76, pixelsPerLabel: 26, ...(y_ticks ? { ticker: () => y_ticks } : {}) } },
    underlayCallback(context, area, self) {
      if (range[0] < 0) rule(context, area, { y: self.toDomYCoord(0), paint: "soft", dash: [] });
      for (const value of rule_at ?? []) rule(context, area, { y: self.toDomYCoord(value), paint: "c5", text: value > 0 ? rule_text : "", side: "right", up: false });
    },
  }));
  box.addEventListener("mousemove", (event) => {
    const x = graph.toDataXCoord(event.clientX - box.getBoundingClientRect().left);
    readout.textContent = `t = ${significant(x, 6)} s: ` + lines.map((line) => `${line.name} ${written(covering(line.steps, x), write)}`).join("; ");
  });
  box.addEventListener("mouseleave", () => { readout.textContent = ""; });
  group.listen(box);
  return group.add(graph);
}

const megabits = (value) => value === 0 ? "0" : format.bits_per_second(value * 1e6);

/// One strip per interface: what it sends above the line, what it receives below.
function rate_figures(group, curves, run) {
  const rates = curves.filter((curve) => curve.kind === "rate");
  const names = [...new Set(rates.map((curve) => `${curve.host} ${curve.interface}`))];
  const line_rate = (run.on?.line_rate_bits_per_second ?? 0) / 1e6;
  const largest = Math.max(...rates.map((curve) => curve.largest), 1e-6);
  const top = Math.max(largest, largest > 0.3 * line_rate ? line_rate : 0) * 1.12;
  const full = line_rate && line_rate <= top && line_rate > 0.3 * top ? line_rate : Number(top.toPrecision(1)) <= top ? Number(top.toPrecision(1)) : Number(top.toPrecision(1)) / 2;
  const ticks = [-1, -0.5, 0, 0.5, 1].map((part) => ({ v: part * full, label: megabits(Math.abs(part * full)) }));
  return names.map((name) => {
    const own = rates.filter((curve) => `${curve.host} ${curve.interface}` === name);
    const one_way = own[0].switch_port;
    const lines = own.map((curve) => ({ steps: steps_of(curve), show_gaps: true, name: curve.name, paint: curve.name === "tx" ? "c0" : "c1", sign: curve.name === "tx" ? 1 : -1 }));
    const side_of = { tx: one_way ? "leaves the port" : "tx, above", rx: "rx, below" };
    const keys = [...lines.map((line) => key(side_of[line.name], line.paint, "box")), key("no samples", "line", "box")];
    const title = `${name}${own[0].switch_port ? " (switch port)" : ""}`;
    const figure_of = figure(title, "Rate over time: the area reaches to the largest value, the line is the mean.", keys, "strip",
      (box, readout) => steps_chart(group, box, readout, lines, { range: [one_way ? 0 : -top, top], write: megabits, y_ticks: ticks,
        rule_at: line_rate && line_rate <= top ? [line_rate, -line_rate] : null, rule_text: "link rate" }));
    figure_of.dataset.chart = "rate";
    return figure_of;
  });
}

/// Levels and counts that have a kind in common, all in one chart.
function level_figure(group, curves, kind, title, description, write, least_width = 1) {
  const own = curves.filter((curve) => curve.kind === kind);
  if (own.length === 0) return null;
  const most = 8, least_shown = own.map((curve) => curve.largest).sort((a, b) => b - a)[Math.min(most, own.length) - 1];
  const shown = own.filter((curve) => curve.largest >= least_shown).slice(0, most);
  const paint_of = (curve, i) => `c${Number(/^rank (\d+)$/.exec(curve.name)?.[1] ?? i) % 8}`; // a rank keeps its colour
  const lines = shown.map((curve, i) => ({ steps: steps_of(curve), least_width, paint: paint_of(curve, i), name: [curve.host, curve.interface, curve.name].filter(Boolean).join(" ") }));
  const top = Math.max(...lines.flatMap((line) => line.steps.map((step) => step.high ?? 0)), 1e-6) * 1.12;
  const keys = lines.map((line) => key(line.name, line.paint, "box"));
  if (own.length > most) keys.push(h("span", {}, `the ${most} largest of ${own.length}`));
  const figure_of = figure(title, description, keys, "low", (box, readout) => steps_chart(group, box, readout, lines, { range: [0, top], write }));
  figure_of.dataset.chart = kind;
  return figure_of;
}

/// "drops (rx) of a eth0 and b eth0, rtt of rank 3": what was sampled, and stayed 0 all the time. Where that holds for all that is like
/// it, places are left out.
function zero_text(zero, curves) {
  const words = { rate: "rate", drops: "drops", backlog: "backlog", resent: "segments sent again", rtt: "round-trip time", cwnd: "congestion window" };
  const what = (each) => /^rank \d/.test(each.name) ? words[each.kind] : words[each.kind] ? `${words[each.kind]} (${each.name})` : each.name;
  const where = (each) => [each.host, each.interface].filter(Boolean).join(" ") || /^rank \d+$/.exec(each.name)?.[0] || ""; // nobody told whose a bare trace is
  const not_zero = new Set(curves.map(what)), places = new Map(), most = 8;
  for (const each of zero) places.set(what(each), [...places.get(what(each)) ?? [], where(each)]);
  return [...places].map(([name, all]) => (!not_zero.has(name) && all.length > 1) || all.includes("") ? name :
    `${name} of ${all.slice(0, most).join(" and ")}${all.length > most ? ` and ${all.length - most} more` : ""}`).join(", ");
}

/// Buckets of all ranks as bars, one row per rank: computing light, buckets strong, the gating rank of an iteration marked.
function gantt_figure(group, timeline, gating) {
  const ranks = timeline.ranks, row_of = new Map(ranks.map((rank, i) => [rank, i]));
  const take = (flat, width) => Array.from({ length: flat.length / width }, (_, i) => flat.slice(i * width, i * width + width));
  const bars = take(timeline.bars, 5).map(([rank, iteration, bucket, start, end]) => ({ rank, iteration, bucket, x: start / 1e6, end: end / 1e6 }));
  const iterations = take(timeline.iterations, 4).map(([rank, iteration, start, end]) => ({ rank, iteration, x: start / 1e6, end: end / 1e6 }));
  const gates = new Map((gating ?? []).map((each) => [each.iteration, each]));
  const last_bucket = new Map(); // of a gated iteration, on the gating rank
  for (const bar of bars)
    if (gates.get(bar.iteration)?.rank === bar.rank && (last_bucket.get(bar.iteration)?.x ?? -Infinity) <= bar.x) last_bucket.set(bar.iteration, bar);
  const buckets = [...new Set(bars.map((bar) => bar.bucket))];
  const paint_of = (bucket) => `c${[0, 2, 3, 6, 7][bucket % 5]}`;
  const keys = [key("computing", "line", "box"), ...buckets.slice(0, 5).map((bucket) => key(`bucket ${bucket}${buckets.length > 5 ? ", …" : ""}`, paint_of(bucket), "box")).slice(0, buckets.length > 5 ? 1 : 5),
    gates.size ? h("span", { class: "key" }, h("span", { style: "color:var(--c5)" }, "▼"), "gating rank of the iteration") : null, h("span", {}, `shown: ${timeline.shown}`)].filter(Boolean);
  const row_height = ranks.length > 24 ? 11 : 22;
  const figure_of = figure("Buckets of all ranks", "A row per rank, a bar per bucket from its first operation to its last byte.", keys, "", (box, readout) => {
    box.style.height = `${ranks.length * row_height + 40}px`;
    const n = ranks.length, [from, to] = group.whole;
    const every = Math.ceil(n / 40);
    const graph = new Dygraph(box, [[from, 0], [to, 0]], group.options({
      labels: ["t", "buckets"], valueRange: [0, n],
      axes: { y: { axisLabelWidth: 76, drawGrid: false, ticker: () => ranks.map((rank, i) => ({ v: n - i - 0.5, label: i % every ? "" : `rank ${rank}` })) } },
      plotter(event) { draw_bars(event.drawingContext, event.dygraph); },
      drawHighlightPointCallback() {},
    }));
    function draw_bars(context, self) {
      const [low, high] = self.xAxisRange(), area = self.getArea();
      const place = (bar, pad) => {
        const left = Math.max(self.toDomXCoord(bar.x), area.x), right = Math.min(self.toDomXCoord(bar.end), area.x + area.w);
        const top = self.toDomYCoord(n - row_of.get(bar.rank)), height = area.h / n;
        return [left, top + pad * height, Math.max(right - left, 1), height * (1 - 2 * pad)];
      };
      context.save();
      for (const bar of iterations) {
        if (bar.end < low || bar.x > high) continue;
        const [left, top, width, height] = place(bar, 0.28);
        context.fillStyle = color("line");
        context.globalAlpha = bar.iteration < timeline.first_measured ? 0.45 : 1;
        context.fillRect(left, top, Math.max(width - 1, 1), height);
      }
      context.globalAlpha = 1;
      const paints = new Map(buckets.map((bucket) => [bucket, color(paint_of(bucket))]));
      context.font = "11px system-ui, sans-serif";
      for (const bar of bars) {
        if (bar.end < low || bar.x > high) continue;
        const [left, top, width, height] = place(bar, 0.12);
        context.fillStyle = paints.get(bar.bucket);
        context.fillRect(left, top, width, height);
        if (width > 30 && height > 13) {
          context.fillStyle = color("paper");
          context.fillText(String(bar.bucket), left + 4, top + height / 2 + 4);
        }
      }
      context.fillStyle = color("c5");
      for (const bar of last_bucket.values()) {
        if (bar.x < low || bar.x > high) continue;
        const x = self.toDomXCoord(bar.x), y = self.toDomYCoord(n - row_of.get(bar.rank)), size = Math.min(5, area.h / n / 3);
        context.beginPath(); context.moveTo(x - size, y); context.lineTo(x + size, y); context.lineTo(x, y + 1.6 * size); context.fill();
      }
      context.restore();
    }
    box.addEventListener("mousemove", (event) => {
      const place = box.getBoundingClientRect(), x = graph.toDataXCoord(event.clientX - place.left), y = graph.toDataYCoord(event.clientY - place.top);
      const rank = ranks[Math.floor(n - y)];
      const near = (graph.xAxisRange()[1] - graph.xAxisRange()[0]) / 600;
      const bar = bars.find((each) => each.rank === rank && each.x - near <= x && x <= each.end + near);
      const gate = bar && gates.get(bar.iteration);
      readout.textContent = bar ? `rank ${rank}, iteration ${bar.iteration}, bucket ${bar.bucket}: from ${significant(bar.x, 7)} s, took ${format.seconds(bar.end - bar.x)}` +
        (gate ? `; gated by rank ${gate.rank}, ${format.seconds(gate.seconds)} after the median rank` : "") : "";
    });
    box.addEventListener("mouseleave", () => { readout.textContent = ""; });
    group.listen(box);
    return group.add(graph);
  });
  figure_of.dataset.chart = "gantt";
  return figure_of;
}
