// The report in tables: each function gives the elements of one section for the run at `p` ("runs.0").

const spread_heads = ["mean", ["p50", "half of the values are at or below"], ["p95", "95 % of the values are at or below"], ["p99", "99 % of the values are at or below"], "largest"];
const spread_cells = (path, write) => ["mean", "p50", "p95", "p99", "max"].map((name) => number(`${path}.${name}`, write, "–"));

function iterations_table(p, run) {
  if (!run.iterations) return null;
  const rows = [["iteration time", ...spread_cells(`${p}.iterations.seconds`, format.seconds)]];
  if (run.lateness_seconds) rows.push(["start lateness", ...spread_cells(`${p}.lateness_seconds`, format.seconds)]);
  for (const [i, bucket] of (run.bucket_seconds ?? []).entries())
    rows.push([h("span", {}, "bucket ", number(`${p}.bucket_seconds.${i}.bucket`, format.count), typeof bucket.bytes === "number" ? [" of ", number(`${p}.bucket_seconds.${i}.bytes`, format.bytes)] : ""),
      ...spread_cells(`${p}.bucket_seconds.${i}.seconds`, format.seconds)]);
  return [
    h("p", {}, number(`${p}.iterations.count`, format.count), " iterations finished, ", number(`${p}.iterations.measured`, format.count), " measured (the first ",
      number(`${p}.iterations.warmup`, format.count), " as warm-up). Predicted: ", number(`${p}.iterations.predicted_seconds`, format.seconds, "not predicted"), "."),
    table("Iteration time, start lateness and bucket durations", ["", ...spread_heads], rows)];
}

function skew_table(p, run) {
  if (!run.skew?.length) return null;
  return table("Skew of the ranks: how long after the median rank each started its buckets, and how many iterations it gated",
    ["rank", ...spread_heads, ["gated", "iterations whose last collective this rank started last"]],
    run.skew.map((each, i) => [number(`${p}.skew.${i}.rank`, String), ...spread_cells(`${p}.skew.${i}.start_skew_seconds`, format.seconds), number(`${p}.skew.${i}.gated_iterations`, format.count, "–")]));
}

function burst_table(p, run, i) {
  const path = `${p}.interfaces.${i}`, each = run.interfaces[i];
  return [
    table(`Burstiness of ${of_interface(each)}`,
      ["τ", ["E lower", "certified: so many bytes passed within a window of length τ"], ["E estimate", "interpolated between the bounds"], ["E upper", "cannot have been exceeded"],
        ["PtM lower", "E lower / (τ × mean rate)"], ["PtM estimate", "E estimate / (τ × mean rate)"], ["PtM upper", "E upper / (τ × mean rate)"], ["PtM predicted", "of the fluid model"],
        ["CV", "coefficient of variation of the bytes in windows of length τ: standard deviation / mean"], ["index of dispersion", "variance / mean of the bytes in windows of length τ"]],
      (each.burstiness ?? []).map((row, k) => {
        const cell = (name, write) => number(`${path}.burstiness.${k}.${name}`, write, name.startsWith("e_") || name.startsWith("ptm_l") ? "not resolved" : "–");
        return [cell("tau_seconds", format.seconds), ...["e_lower_bytes", "e_estimate_bytes", "e_upper_bytes"].map((name) => cell(name, format.bytes)),
          ...["ptm_lower", "ptm_estimate", "ptm_upper", "ptm_predicted", "coefficient_of_variation"].map((name) => cell(name, format.ratio)), cell("index_of_dispersion_bytes", format.bytes)];
      })),
    each.backlog?.length ? table(`B_max(r) of ${of_interface(each)}: the largest queue if this traffic fed a link of rate r`, ["r", "at least", "estimate", "at most", "predicted"],
      each.backlog.map((row, k) => [number(`${path}.backlog.${k}.rate_bits_per_second`, format.bits_per_second),
        ...["lower_bytes", "estimate_bytes", "upper_bytes", "predicted_bytes"].map((name) => number(`${path}.backlog.${k}.${name}`, format.bytes, "–"))])) : null];
}

/// Bursts, pauses and the period of one counter.
function bursts_table(p, run, i) {
  const each = run.interfaces[i], bursts = each.bursts, period = each.period, path = `${p}.interfaces.${i}`;
  if (!bursts) return null;
  const cell = (name, write, absent = "–") => number(`${path}.${name}`, write, absent);
  const rows = [["bursts", cell("bursts.count", format.count)], ["above a rate of", cell("bursts.threshold_bits_per_second", format.bits_per_second)],
    [explained("one burst if nearer than", "what lies nearer to each other is counted as one"), cell("bursts.merge_gap_seconds", format.seconds)],
    ["bytes of a burst, median", cell("bursts.median_bytes", format.bytes)], ["bytes of the largest", cell("bursts.largest_bytes", format.bytes)],
    ["share of the time in bursts", cell("bursts.duty_cycle", format.share)], ["share of the bytes in bursts", cell("bursts.share_of_bytes", format.share)],
    ["period of the traffic", cell("period.seconds", format.seconds, "none found")], [explained("autocorrelation there", "likeness of the traffic with itself one period later, at most 1"), cell("period.autocorrelation", format.ratio)]];
  const spreads = [["length", "length_seconds"], ["pause to the next", "pause_seconds"]].map(([text, name]) => [text, ...["p50", "p99", "max"].map((part) => cell(`bursts.${name}.${part}`, format.seconds))]);
  return h("div", { class: "columns", id: "burst-table" }, table(`Bursts and period of ${of_interface(each)}`, ["", "value"], rows), table("Lengths and pauses of its bursts", ["", "p50", "p99", "largest"], spreads));
}

function counters_table(p, interfaces, name, caption) {
  if (!interfaces?.length) return null;
  return table(caption,
    ["counter", ["bytes", "counted by the device over the measured part of the run"], ["mean rate", "bytes × 8 / time"], ["interval", "distance between samples that was asked for"],
      ["resolved from", "the smallest window length for which there are numbers"], "samples", ["missed", "ticks that were skipped because the sampler woke too late"], ["gaps", "distances of more than two intervals"],
      "longest gap", ["read width p99", "how long a reading took: its moment is known no better"], ["payload", "bytes that the ranks sent or received here"]],
    interfaces.map((each, i) => {
      const cell = (key_, write) => number(`${p}.${name}.${i}.${key_}`, write, "–");
      return [of_interface(each), cell("nic_bytes", format.bytes), cell("mean_bits_per_second", format.bits_per_second), cell("interval_seconds", format.seconds), cell("resolved_from_seconds", format.seconds),
        cell("samples", format.count), cell("missed", format.count), cell("gaps", format.count), cell("longest_gap_seconds", format.seconds), cell("read_width_seconds.p99", format.seconds), cell("payload_bytes", format.bytes)];
    }));
}

function ports_table(p, run) {
  if (!run.switch_ports?.length) return null;
  return table("Queues of the switch ports", ["port", "leads to", ["largest backlog", "of all readings of the queue; peaks between them are not seen"], "drops", "readings", ["senders p50", "hosts that send to the port at the same time"], "senders max"],
    run.switch_ports.map((each, i) => {
      const cell = (name, write) => number(`${p}.switch_ports.${i}.${name}`, write, "–");
      return [`${each.host ?? ""} ${each.port ?? each.interface ?? ""}`, each.leads_to ?? "–", cell("max_backlog_bytes", format.bytes), cell("drops", format.count), cell("queue_samples", format.count),
        cell("active_senders.p50", format.count), cell("active_senders.max", format.count)];
    }), [1]);
}

function losses_table(p, run) {
  if (!run.slow_lane?.length) return null;
  const columns = [["rx_drops", "rx drops"], ["tx_drops", "tx drops"], ["rx_errors", "rx errors"], ["tx_errors", "tx errors"], ["queue_drops", "queue drops"], ["queue_backlog_bytes_max", "largest backlog", format.bytes],
    ["tcp_sent_segments", "segments sent"], ["tcp_retransmits", "retransmits"], ["tcp_timeouts", "timeouts"], ["ecn_marks_received", "ECN marks"]];
  return table("Losses of each host in the whole run, warm-up included (TCP: all connections of its network namespace)", ["interface", ...columns.map(([, text]) => text)],
    run.slow_lane.map((each, i) => [`${each.host} ${each.interface}`, ...columns.map(([name, , write]) => number(`${p}.slow_lane.${i}.${name}`, write ?? format.count, "not known"))]));
}

/// Traffic beside the collectives: a row for each entry, and below it by size and query.
function background_table(p, run) {
  const entries = run.background?.entries;
  if (!entries?.length) return null;
  const rows = [];
  for (const [i, entry] of entries.entries()) {
    const path = `${p}.background.entries.${i}`, cell = (name, write) => number(`${path}.${name}`, write, "–");
    rows.push([entry.name, ...["asked", "offered", "received"].map((name) => cell(`${name}_bits_per_second`, format.bits_per_second)), cell("planned.messages", format.count), cell("received.messages", format.count),
      ...spread_cells(`${path}.completion_seconds`, format.seconds)]);
    for (const [k, size] of (entry.by_size ?? []).entries())
      if (size.messages > 0) rows.push([`${entry.name}, ${size.size}`, "", "", "", "", cell(`by_size.${k}.messages`, format.count), ...spread_cells(`${path}.by_size.${k}.completion_seconds`, format.seconds)]);
    if (entry.queries) rows.push([`${entry.name}, queries to the last answer`, "", "", "", cell("queries.planned", format.count), cell("queries.complete", format.count), ...spread_cells(`${path}.queries.completion_seconds`, format.seconds)]);
  }
  return table("Background traffic, beside the collectives, whose bytes and prediction are without it; completion from due at the sender to the last byte at the receiver",
    ["", ["asked", "mean payload rate by the profile"], ["offered", "what fell due in the run, by the seed"], "received", ["due", "messages"], ["complete", "messages"], ...spread_heads], rows);
}

/// Any object of the report as two columns; the unit is in the key.
function facts_table(caption, path, names = null) {
  const object = at(report, path);
  if (!object || typeof object !== "object") return null;
  const write_of = (name) => /_per_second$/.test(name) ? (/bits/.test(name) ? format.bits_per_second : format.bytes_per_second) : /seconds/.test(name) ? format.seconds : /bytes|planned|^sent$|received$/.test(name) ? format.bytes :
    /share/.test(name) ? format.share : format.number;
  const rows = [];
  const walk = (value, place, name, label) => {
    if (value && typeof value === "object") {
      for (const [inner, each] of Object.entries(value)) walk(each, `${place}.${inner}`, /^(mean|p\d+|max|min)$/.test(inner) ? name : inner, label ? `${label}, ${inner}` : inner);
    } else if (typeof value === "number") {
      rows.push([label.replaceAll("_", " ").replace(/ seconds\b| bytes\b| per second\b/g, ""), number(place, write_of(name))]);
    }
  };
  for (const [name, value] of Object.entries(object)) if (!names || names.includes(name)) walk(value, `${path}.${name}`, name, name);
  return rows.length ? table(caption, ["", "value"], rows) : null;
}

function tcp_tables(p, run) {
  const tcp = run.tcp;
  if (!tcp || typeof tcp !== "object") return null;
  const rows = [["rtt_seconds", "round-trip time", format.seconds], ["cwnd_segments", "congestion window, segments", format.number]].filter(([name]) => tcp[name])
    .map(([name, text, write]) => [text, ...spread_cells(`${p}.tcp.${name}`, write)]);
  return [rows.length ? table("TCP of the ranks' own connections (TCP_INFO), when buckets ended", ["", ...spread_heads], rows) : null,
    facts_table("and in the whole run", `${p}.tcp`, Object.keys(tcp).filter((name) => typeof tcp[name] === "number"))];
}

function cpu_table(p, run) {
  const cpu = run.cpu;
  if (!cpu) return null;
  if (!Array.isArray(cpu)) return facts_table("CPU", `${p}.cpu`);
  return table("CPU, in shares of one core", ["rank", "rank's share", "sampler's share"], cpu.map((each, i) =>
    [String(i), number(`${p}.cpu.${i}.rank`, format.share, "–"), number(`${p}.cpu.${i}.sampler`, format.share, "–")]));
}

function informative_table(p, run) {
  if (!run.informative) return null;
  const rows = Object.entries(run.informative).filter(([, each]) => each && typeof each === "object")
    .map(([name, each]) => [explained(name.replaceAll("_", " "), each.definition), number(`${p}.informative.${name}.value`, format_of(each.unit)), each.definition ?? ""]);
  return rows.length ? [h("p", { class: "soft" }, run.informative.note ?? ""), table("Words of the BMWG drafts on AI fabrics, informative", ["term", "value", "definition"], rows, [2])] : null;
}

const result_word = { pass: "PASS", fail: "FAIL", not_measured: "NOT MEASURED", none: "NO EXPECTATIONS" };

function expectations_table(p, run) {
  const expectations = run.verdict?.expectations ?? [];
  if (!expectations.length) return null;
  return table("What was expected", ["expectation", "result", "measured", "limit", "reason"], expectations.map((each, i) => {
    const write = format_of(each.unit);
    return [h("code", {}, each.text), h("td", { class: each.result }, result_word[each.result] ?? each.result), number(`${p}.verdict.expectations.${i}.measured`, write), number(`${p}.verdict.expectations.${i}.limit`, write, "–"), each.reason ?? ""];
  }), [0, 4]);
}

function comparison_section() {
  const comparison = report.comparison;
  if (!comparison) return null;
  const rows = (comparison.rows ?? []).map((each, i) => {
    const cell = (name, write) => number(`comparison.rows.${i}.${name}`, write, "–");
    const write = format_of(each.unit), interval = each.interval;
    return [each.label, cell("baseline", write), cell("run", write), cell("difference", write), cell("relative", format.share),
      interval ? h("span", {}, cell("interval.lower", write), " … ", cell("interval.upper", write)) : "–", h("td", { class: `text ${each.conclusion}` }, each.conclusion, each.reason ? h("div", { class: "soft" }, each.reason) : "")];
  });
  return h("section", { id: "comparison" }, h("h2", {}, "Comparison"), h("p", {}, "Baseline: ", h("code", {}, comparison.baseline), ", compared with ", h("code", {}, comparison.run), "."),
    comparison.settings_that_differ?.length ? h("ul", { class: "warnings" }, comparison.settings_that_differ.map((each) => h("li", {}, `NOT ALIKE IN ${each}`))) : null,
    table("Side by side", ["", "baseline", "run", "difference", "relative", ["interval", "of the difference: 95 %, by bootstrap"], "conclusion"], rows, [6]),
    comparison.method ? h("p", { class: "soft" }, comparison.method) : null);
}

function glossary_section() {
  const entries = report.glossary ?? [];
  if (!entries.length) return null;
  return h("section", { id: "glossary" }, h("h2", {}, "Glossary"), h("dl", { class: "glossary" }, entries.map((each) => [
    h("dt", {}, each.term, each.unit ? h("span", { class: "soft" }, ` (${each.unit})`) : ""),
    h("dd", {}, each.meaning ?? "", each.formula ? h("div", {}, h("code", {}, each.formula)) : "", each.source ? h("div", { class: "soft" }, each.source) : "")])));
}
