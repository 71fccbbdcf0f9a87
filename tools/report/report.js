// The page: what ran and what came of it, then charts, then tables.

const page = document.getElementById("page");

function verdict_box(verdict, id = "verdict") {
  const result = verdict?.result ?? "none", reasons = verdict?.reasons ?? [];
  const said = reasons.length ? h("ul", {}, reasons.map((reason) => h("li", {}, typeof reason === "string" ? reason : JSON.stringify(reason)))) :
    h("span", { class: "soft" }, result === "none" ? "Nothing was expected of this run, so nothing was judged (--expect, or expect in the profile)." : "");
  return h("div", { class: `verdict ${result}`, id }, h("strong", {}, { pass: "✓ ", fail: "✗ ", not_measured: "? ", none: "" }[result], result_word[result] ?? result), said);
}

/// "81.71 : 1" as a large number with a small unit.
function tile(p, i, each) {
  const absent = each.value === null || each.value === undefined;
  const unit = each.unit && each.unit !== "1" && /^[\d.,]+$/.test(each.text) ? ` ${each.unit}` : "";
  return h("div", { class: "tile" }, h("dt", {}, explained(each.label, each.formula)),
    h("dd", { class: "value" }, absent ? h("span", { class: "none" }, each.text || "not measured") :
      h("data", { value: each.value, "data-path": `${p}.headline.${i}.value`, "data-text": `${p}.headline.${i}.text` }, each.text), unit),
    h("dd", { class: "trust" }, each.trust ?? ""));
}

function first_screen(p, run) {
  const on = run.on ?? {}, hosts = on.hosts ?? [];
  const ranks = hosts.reduce((sum, host) => sum + (Array.isArray(host.ranks) ? host.ranks.length : Number(host.ranks) || 0), 0);
  const fact = (name, value) => value ? h("li", {}, `${name} `, h("b", {}, value)) : null;
  const status = run.status && run.status !== "complete" ? h("div", { class: "verdict not_measured" }, h("strong", {}, run.status.toUpperCase()), run.error ? String(run.error) : "The run did not come to its end; what was measured by then is here.") : null;
  const warnings = run.warnings ?? [], unjudged = (run.verdict?.expectations ?? []).filter((each) => each.result === "not_measured").length;
  return h("header", {},
    h("p", { class: "brand" }, `gradburst report · ${report.created_at ?? ""}`), h("h1", {}, run.title ?? run.name), run.description ? h("p", { class: "soft" }, `The profile: ${run.description}`) : null,
    h("p", { id: "ran" }, run.kind === "run" ? "Ran: " : "Recorded: ", h("b", {}, run.ran ?? "unknown")),
    h("ul", { class: "facts" }, fact("on", hosts.length ? `${hosts.length} ${hosts.length === 1 ? "host" : "hosts"}${ranks ? `, ${ranks} ranks` : ""}` : null),
      typeof on.line_rate_bits_per_second === "number" ? h("li", {}, "line rate ", h("b", {}, number(`${p}.on.line_rate_bits_per_second`, format.bits_per_second))) : fact("line rate", run.kind === "run" ? "unknown" : null),
      fact("over", [on.transport, on.congestion_control].filter(Boolean).join(", ")), fact("started", run.started_at), fact("status", run.status), fact("program", [run.program_version, on.build_type].filter(Boolean).join(", "))),
    status, verdict_box(run.verdict),
    h("dl", { class: "tiles" }, (run.headline ?? []).map((each, i) => tile(p, i, each))),
    warnings.length ? h("section", { "aria-label": "Warnings" }, h("h3", {}, warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`), h("ul", { class: "warnings", id: "warnings" }, warnings.map((each) => h("li", {}, String(each))))) :
      unjudged ? null : h("p", { class: "calm" }, "✓ No warnings."),
    unjudged ? h("p", { class: "unsure", id: "unjudged" }, warnings.length ? "" : "No warnings, but ", `${unjudged} ${unjudged === 1 ? "expectation" : "expectations"} could not be judged: see the `, h("a", { href: "#verdict" }, "verdict"), "."): null,
    h("details", {}, h("summary", {}, "Command and hosts"), run.command ? h("pre", {}, run.command) : null,
      hosts.length ? table("Hosts", ["host", "kernel", "CPUs", "ranks", "interface"], hosts.map((host) => {
        const own = Array.isArray(host.ranks) ? host.ranks : [];
        const ranks_text = own.length ? own.map((rank) => rank?.rank ?? rank).join(", ") : String(host.ranks ?? "");
        return [host.host ?? "", host.kernel ?? "", String(host.cpus ?? host.cpus_online ?? ""), ranks_text, host.interface ?? (host.interfaces ?? []).join(", ")];
      }), [0, 1, 4]) : null));
}

const absent_charts = () => h("p", { class: "absent" }, "Charts were left out of this build of gradburst-report (no dygraphs when it was built). The tables below have all numbers.");

/// The charts over time, with what zooms them.
function time_section(run, data) {
  const curves = data.curves ?? [];
  const curve_ends = curves.map((curve) => curve.start_s + (curve.mean ?? curve.sum).length * curve.bin_s);
  const bars = data.timeline?.iterations ?? [];
  const bar_ends = bars.filter((_, i) => i % 4 === 3).map((end) => end / 1e6);
  const zero = zero_text(data.stayed_zero ?? [], curves), zero_line = zero ? h("p", { class: "about", id: "stayed-zero" }, `Sampled, and 0 all the time: ${zero}.`) : null;
  if (!curves.length && !bar_ends.length) return zero_line && h("section", { id: "over-time" }, h("h2", {}, "Over time"), zero_line);
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity), most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const from = least([...curves.map((curve) => curve.start_s), ...(bar_ends.length ? [0] : [])]), to = most([...curve_ends, ...bar_ends]);
  if (!can_draw) return h("section", {}, h("h2", {}, "Over time"), absent_charts());
  const group = new TimeGroup(from, to);
  const button = (text, action, label) => { const element = h("button", { type: "button", "aria-label": label ?? text }, text); element.addEventListener("click", action); return element; };
  const windows = data.windows ?? [], first = windows.find((each) => each.why === "first measured iterations");
  const around_peak = () => group.show([data.peak.at_s - 0.03, data.peak.at_s + 0.03]);
  const tools = h("div", { class: "tools", role: "toolbar", "aria-label": "Zoom of the charts over time" },
    button("whole run", () => group.show(group.whole)), first ? button("first iterations", () => group.show([first.from_s, first.to_s])) : null, data.peak ? button("largest peak", around_peak) : null,
    button("◀", () => group.pan(-0.25), "earlier"), button("▶", () => group.pan(0.25), "later"), button("+", () => group.zoom(0.5), "zoom in"), button("−", () => group.zoom(2), "zoom out"),
    h("span", { class: "about" }, "Drag to zoom, shift-drag to pan, double-click for the whole run; all charts follow."));
  const rates = curves.filter((curve) => curve.kind === "rate"), widest = most(rates.map((curve) => curve.bin_s)), finest = least(rates.map((curve) => curve.step_s));
  const about = rates.length ? h("p", { class: "about" }, `Rates on a grid of ${format.seconds(finest)}` + (widest > finest ? `, over the whole run in bins of ${format.seconds(widest)} with their least, mean and largest value (no peak is lost); in full: ${windows.map((each) => each.why).join(", ")}.` : ".") +
    " Where samples are missing the curve is interrupted.") : null;
  const strips = rate_figures(group, curves.filter((curve) => !curve.switch_port), run), port_strips = rate_figures(group, curves.filter((curve) => curve.switch_port), run);
  const most_strips = 4, more = (figures, text) => {
    if (!figures.length) return null;
    const element = h("details", {}, h("summary", {}, text), figures);
    element.addEventListener("toggle", () => { for (const each of figures) if (element.open && !each.done) { each.done = true; each.draw().updateOptions({ dateWindow: group.range() }); } });
    for (const each of figures) each.later = true;
    return element;
  };
  const timeline = data.timeline ? gantt_figure(group, data.timeline, run.gating?.iterations ?? (Array.isArray(run.gating) ? run.gating : [])) : null;
  const levels = [
    level_figure(group, curves, "backlog", "Backlog of queues", "What waits in a queue when it is read; peaks between readings are not seen.", format.bytes),
    level_figure(group, curves, "drops", "Drops", "Packets dropped in each bin of time.", (value) => `${format.count(value)} pkts`),
    level_figure(group, curves, "retransmits", "TCP retransmits, timeouts and ECN marks of hosts", "Events in each bin of time, of all connections of the host.", (value) => significant(value, 3)),
    level_figure(group, curves, "resent", "Segments that ranks sent again", "By the bucket at whose end they were counted.", (value) => significant(value, 3), 3),
    level_figure(group, curves, "rtt", "Round-trip time of the ranks' connections", "Smoothed by the kernel, read when a bucket ended.", (value) => value === 0 ? "0" : format.seconds(value / 1e3), 3),
    level_figure(group, curves, "cwnd", "Congestion window of the ranks' connections", "In segments, read when a bucket ended.", (value) => `${significant(value, 3)} seg`, 3),
  ].filter(Boolean);
  return h("section", { id: "over-time" }, h("h2", {}, "Over time"), about,
    data.not_drawn?.length ? h("ul", { class: "warnings" }, data.not_drawn.map((reason) => h("li", {}, `NOT DRAWN: ${reason}`))) : null, tools,
    strips.slice(0, most_strips), more(strips.slice(most_strips), `${strips.length - most_strips} more interfaces`), timeline, more(port_strips, "What leaves the switch ports"), levels,
    zero_line);
}

function burst_section(p, run, data) {
  const interfaces = run.interfaces ?? [];
  if (!interfaces.length) return null;
  const resolved = (each) => each.burstiness?.find((row) => Math.abs(row.tau_seconds - 0.005) < 1e-9)?.ptm_lower ?? -1;
  let best = 0;
  interfaces.forEach((each, i) => { if (each.direction === "tx" && (interfaces[best].direction !== "tx" || resolved(each) > resolved(interfaces[best]))) best = i; });
  const choice = h("select", {}, interfaces.map((each, i) => h("option", { value: i, selected: i === best }, of_interface(each))));
  const place = h("div", { id: "burst-charts" }), scale = data?.byte_scale ?? 1;
  const about_buffers = h("p", { class: "about" }, "Shared buffers of switch chips: ", switch_buffers.map((each) => `${each.name} ${format.bytes(each.bytes)} (${each.source})`).join("; "),
    ". All ports share such a buffer, so one queue gets a part of it.", scale === 1 ? "" : ` This run's bytes are scaled by ${scale}, and so are the buffers in the chart.`);
  const show = () => {
    const i = Number(choice.value), chosen = interfaces[i];
    const made = can_draw ? { ptm: burst_figure(run, chosen, "ptm"), e: burst_figure(run, chosen, "e"), "backlog-curve": backlog_figure(run, chosen, scale) } : {};
    const figures = Object.entries(made).filter(([, each]) => each).map(([name, each]) => { each.dataset.chart = name; return each; });
    const [bursts, backlogs] = burst_table(p, run, i);
    place.replaceChildren(figures.length || !can_draw ? "" : h("p", { class: "absent" }, "Not measured: no window of this counter is resolved, or nothing passed."), h("div", { class: "pair" }, figures, backlogs ? h("div", {}, backlogs, can_draw ? about_buffers : null) : null), bursts, bursts_table(p, run, i) ?? "");
    if (place.isConnected) figures.forEach((each) => each.draw());
    for (const each of figures) each.done = place.isConnected;
  };
  choice.addEventListener("change", show);
  show();
  return h("section", { id: "bursts" }, h("h2", {}, "How bursty: PtM(τ), E(τ), B_max(r)"), can_draw ? null : absent_charts(),
    h("p", {}, h("label", {}, "counter ", choice)), place);
}

function distribution_section(p, run, data) {
  const figures = [];
  if (can_draw) {
    const values = [...(run.iterations?.values ?? [])].filter((value) => typeof value === "number").sort((a, b) => a - b), predicted = run.iterations?.predicted_seconds;
    const marks = typeof predicted === "number" ? [{ x: predicted, text: `predicted ${format.seconds(predicted)}` }] : [];
    figures.push(ecdf_figure("Iteration time", "Share of the measured iterations that took at most so long.", [{ name: "iterations", values }], { marks }));
    figures.push(ecdf_figure("Bucket durations", "Share of a bucket's collectives, on all ranks, that took at most so long.", (data?.distributions?.buckets ?? []).map((each) => ({ name: `bucket ${each.bucket}`, values: each.seconds }))));
    figures.push(ecdf_figure("Start lateness", "How much later than planned buckets were started; logarithmic.", [{ name: "buckets", values: data?.distributions?.lateness?.seconds ?? [] }], { logarithmic: true }));
    figures.push(run.skew?.length ? skew_figure(run.skew) : null);
  }
  const names = ["iterations", "buckets", "lateness", "skew"];
  figures.forEach((each, i) => { if (each) each.dataset.chart = names[i]; });
  const parts = [iterations_table(p, run), skew_table(p, run)].filter(Boolean), shown = figures.filter(Boolean);
  return parts.length || shown.length ? h("section", { id: "distributions" }, h("h2", {}, "Iterations, buckets and ranks"), h("div", { class: "pair" }, shown), parts) : null;
}

function tables_section(p, run) {
  const parts = [counters_table(p, run.interfaces, "interfaces", "Counters"), counters_table(p, run.switch_ports, "switch_ports", "Counters of the switch ports"), ports_table(p, run), background_table(p, run), losses_table(p, run), tcp_tables(p, run),
    h("div", { class: "columns" }, facts_table("Bytes of payload", `${p}.bytes`), facts_table("Bandwidth", `${p}.bandwidth`), cpu_table(p, run)), informative_table(p, run)].filter(Boolean);
  return parts.length ? h("section", { id: "tables" }, h("h2", {}, "Counters, losses, TCP, CPU"), parts) : null;
}

function show_run(index) {
  for (const graph of drawn.splice(0)) graph.destroy();
  const p = `runs.${index}`, run = report.runs[index], data = charts.runs?.[index] ?? {};
  const expected = expectations_table(p, run);
  document.getElementById("run").replaceChildren(...[first_screen(p, run), expected ? h("section", {}, h("h2", {}, "Expectations"), expected) : null, time_section(run, data), burst_section(p, run, data), distribution_section(p, run, data), tables_section(p, run)].filter(Boolean));
  draw_all();
}

function draw_all() {
  if (!can_draw) return;
  for (const element of document.querySelectorAll("figure"))
    if (!element.later && !element.done && element.draw) { element.done = true; element.draw(); }
}

let current = Math.max((report.runs ?? []).findIndex((run) => run.role !== "baseline"), 0);
function build() {
  const runs = report.runs ?? [];
  const tabs = runs.map((run, i) => {
    const tab = h("button", { type: "button", role: "tab", "aria-selected": String(i === current), "aria-controls": "run" }, run.name ?? run.title);
    tab.addEventListener("click", () => { current = i; tabs.forEach((each, k) => each.setAttribute("aria-selected", String(k === i))); show_run(i); });
    return tab;
  });
  page.replaceChildren(...[report.sweep ? sweep_section() : null, report.comparison ? [verdict_box(report.verdict, "overall"), comparison_section()] : null, runs.length > 1 ? h("nav", { class: "runs", role: "tablist", "aria-label": "Runs" }, tabs) : null, h("div", { id: "run" }), glossary_section(),
    h("p", { class: "about" }, `Made by gradburst ${report.version ?? ""}; format ${report.format ?? ""}. This file holds everything and fetches nothing.`)].flat().filter(Boolean));
  if (runs.length) show_run(current); else draw_all();
}

build();

// Colours are read when a chart is drawn: draw anew when the scheme or the medium changes.
function redraw() {
  if (!can_draw) return;
  const scroll = window.scrollY;
  if (report.sweep) { for (const graph of drawn.splice(0)) graph.destroy(); build(); }
  else show_run(current);
  window.scrollTo(0, scroll);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
const printing = (on) => { if (document.documentElement.classList.toggle("printing", on) === on) redraw(); };
matchMedia("print").addEventListener("change", (event) => printing(event.matches));
