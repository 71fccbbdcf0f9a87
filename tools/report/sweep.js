// A sweep: what each job lost at each offset.

/// Iteration time of each job against that of the job alone, by the offset that was asked for.
function sweep_figure(sweep, names) {
  const steps = sweep.steps.filter((step) => typeof step.offset_seconds.asked === "number");
  const factor = (step, name) => step.jobs.find((job) => job.name === name)?.interference ?? null;
  if (!steps.some((step) => names.some((name) => factor(step, name) !== null))) return null;
  return figure("Iteration time against the job alone", "By the offset of the shifted job; 1 is what the job takes alone.", names.map((name, i) => key(`job ${name}`, `c${i % 8}`)), "", (box, readout) =>
    new Dygraph(box, steps.map((step) => [step.offset_seconds.asked, ...names.map((name) => factor(step, name))]), options({
      labels: ["offset", ...names.map((name) => `job ${name}`)], colors: names.map((_, i) => color(`c${i % 8}`)), drawPoints: true, pointSize: 3.5, includeZero: true,
      xlabel: `offset of job ${sweep.shifted}`, ylabel: "iteration p50 / alone", xRangePad: 10,
      axes: { x: { ticker: even_ticks((value) => format.seconds(Math.abs(value) < 1e-12 ? 0 : value)), axisLabelWidth: 78 }, y: { axisLabelWidth: 44 } },
      underlayCallback(context, area, graph) { rule(context, area, { y: graph.toDomYCoord(1), text: "alone", paint: "c5" }); },
      highlightCallback(event, x, at_points, row) {
        const held = steps[row].offset_seconds.held;
        readout.textContent = `${format.seconds(x)}${held ? ` (held: ${format.seconds(held.median)}${steps[row].offset_seconds.was_held ? "" : ", NOT HELD"})` : ""}: ` + at_points.map((point) => `${point.name} ${point.yval.toFixed(3)}`).join(", ");
      },
      unhighlightCallback() { readout.textContent = ""; },
    })));
}

function sweep_table(sweep, names) {
  const measured = sweep.steps.some((step) => step.backlog?.of === "switch_queue");
  const limit = format.share(sweep.offset_error_limit);
  const heads = ["step", ["offset", "asked"], ["held", "start of counted iterations of the shifted job after the nearest ones of the reference, modulo T, median"], ["drift", `of that, last less first; NOT HELD: it drifted, or was on the median, more than ${limit} of T away`],
    ...names.flatMap((name) => [[`${name} p50`, "of an iteration, measured while all jobs ran"], ["× alone", "p50 against that of the job alone"]]),
    ["PtM(5 ms)", "of the interface that carried the most"], measured ? ["switch queue", "the longest, read at the switch's ports"] : ["B_max", "the largest queue that an interface's traffic would have made on a link of 90 % of the line rate"], "drops", "retransmits", "status"];
  const rows = sweep.steps.map((step, i) => {
    const p = `sweep.steps.${i}`, alone = step.alone !== null, at_offset = (path, write) => alone ? "" : number(`${p}.offset_seconds.${path}`, write);
    const jobs = names.flatMap((name) => {
      const k = step.jobs.findIndex((job) => job.name === name);
      return k < 0 ? ["", ""] : [number(`${p}.jobs.${k}.iterations.p50_seconds`, format.seconds), alone ? "" : number(`${p}.jobs.${k}.interference`, (value) => value.toFixed(3))];
    });
    const status = step.status !== "complete" ? `${step.status.toUpperCase()}${step.error ? `: ${step.error}` : ""}` : step.cut_off_after_seconds !== null ? `cut off after ${format.seconds(step.cut_off_after_seconds)}` : "complete";
    return [h("th", { scope: "row", class: "text" }, step.directory), alone ? "alone" : at_offset("asked", format.seconds), at_offset("held.median", format.seconds),
      [at_offset("held.drift", format.seconds), step.offset_seconds.was_held === false ? h("b", {}, " NOT HELD") : null], ...jobs,
      number(`${p}.ptm.estimate`, format.ratio), number(`${p}.backlog.estimate_bytes`, format.bytes), number(`${p}.drops`, format.count), number(`${p}.retransmits`, format.count), status];
  });
  const nested = rows.map((row) => row.map((cell) => Array.isArray(cell) ? h("span", {}, cell) : cell));
  return table("Steps of the sweep", heads, nested, [0, heads.length - 1]);
}

function sweep_section() {
  const sweep = report.sweep, names = [...new Set(sweep.steps.flatMap((step) => step.jobs.map((job) => job.name)))];
  const chart = can_draw ? sweep_figure(sweep, names) : null;
  if (chart) chart.dataset.chart = "sweep";
  const end = sweep.status === "complete" ? null : h("div", { class: "verdict not_measured" }, h("strong", {}, sweep.status.toUpperCase()), sweep.error ?? "");
  return h("section", { id: "sweep" }, h("p", { class: "brand" }, `gradburst report · ${report.created_at ?? ""}`), h("h1", {}, `Job ${sweep.shifted} shifted against job ${sweep.reference}`),
    h("p", {}, "T = ", number("sweep.period_seconds", format.seconds), sweep.period_origin ? ` (${sweep.period_origin})` : "", `; ${sweep.steps.length} of ${sweep.planned_steps} steps.`), end,
    can_draw ? chart : absent_charts(), sweep_table(sweep, names), h("p", { class: "about" }, "Each step is a launch in a folder of its own; gradburst-report reads each job's folder in it."),
    sweep.command ? h("details", {}, h("summary", {}, "Command"), h("pre", {}, sweep.command)) : null);
}
