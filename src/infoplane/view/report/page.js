"use strict";
// Text from the data reaches the document through textContent and Vega's text marks only, never as markup or expressions.
(() => {
  const page = JSON.parse(document.getElementById("contents").textContent);
  const byId = (id) => document.getElementById(id);
  const make = (tag, text, ...children) => {
    const element = document.createElement(tag);
    if (text !== null && text !== undefined) element.textContent = text;
    element.append(...children);
    return element;
  };

  // -- runs ----------------------------------------------------------------------------------------------------------
  const columns = Object.keys(page.table);
  const cell = (name, i) => {
    const column = page.table[name];
    return Array.isArray(column) ? column[i] : column.names[column.values[i]];
  };
  const isText = (name) => !Array.isArray(page.table[name]);
  const count = page.table.run.length;
  const runs = Array.from({ length: count }, (_, i) => Object.fromEntries(columns.map((name) => [name, cell(name, i)])));
  const converged = new Set(page.converged);
  const best = new Set(page.best);
  const bestOfSolver = new Set(page.best_of_solver);
  const solvers = page.groups.names; // as the legend calls them
  const groupOf = (i) => solvers[page.groups.values[i]];
  const words = (status) => status.toLowerCase().replaceAll("_", " ");
  const digits = (value, n = 6) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en").replace("-", "−");
    const size = Math.abs(value);
    if (size < 1e-12) return "0"; // rounding
    const text = (size < 1e-4 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(n)));
    return text.replaceAll("-", "−");
  };
  const parameter = (run) => (run.parameter === null ? `run ${run.run}` : `${page.symbol} = ${digits(page.inverse ? run.beta : run.parameter, 4)}`);
  let chosen = null;

  // -- charts --------------------------------------------------------------------------------------------------------
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const font = () => getComputedStyle(document.body).fontFamily;
  const configuration = () => {
    const text = { labelColor: css("--muted"), titleColor: css("--ink"), labelFont: font(), titleFont: font() };
    const sizes = { labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: "normal", titlePadding: 8 };
    const lines = { gridColor: css("--line"), domainColor: css("--line"), tickColor: css("--line"), gridOpacity: 0.55 };
    return {
      axis: { ...text, ...sizes, ...lines },
      legend: { ...text, labelFontSize: 12, labelColor: css("--ink") },
      style: { cell: { stroke: null } },
      range: {
        category: [0, 1, 2, 3, 4, 5, 6].map((i) => css(`--solver-${i}`)),
        heatmap: [0, 1, 2, 3].map((i) => css(`--heat-${i}`)),
      },
    };
  };
  const views = new Map();
  const tickets = new Map();
  // Drawn aside and put in place once ready; a chart that was asked for again in the meantime is dropped. Expressions are
  // interpreted (ast), so that the page's policy need not allow eval.
  const draw = (id, chart, { data, signals = {}, width, height, renderer = "svg" }, ready = () => {}) => {
    const ticket = (tickets.get(id) ?? 0) + 1;
    tickets.set(id, ticket);
    const own = Object.fromEntries([0, 1, 2, 3, 4, 5, 6].map((i) => [`solver${i}`, css(`--solver-${i}`)]));
    const values = { ink: css("--ink"), muted: css("--muted"), accent: css("--accent"), given: css("--given"), ...own, ...signals };
    const drawn = page.charts[chart];
    const spec = {
      ...drawn,
      width,
      ...(height ? { height } : {}),
      data: drawn.data.map((source) => (source.name in data ? { ...source, values: data[source.name] } : source)),
      signals: drawn.signals.map((signal) => (signal.name in values ? { ...signal, value: values[signal.name] } : signal)),
    };
    const holder = make("div");
    holder.dataset.run = String(chosen);
    const options = { mode: "vega", ast: true, actions: false, tooltip: false, hover: false, defaultStyle: false, renderer };
    vegaEmbed(holder, spec, { ...options, config: configuration() })
      .then((made) => {
        if (tickets.get(id) !== ticket) return made.finalize();
        views.get(id)?.finalize();
        views.set(id, made);
        byId(id).replaceChildren(holder);
        return ready(made.view);
      })
      .catch((error) => console.error(error));
  };
  const widthOf = (id) => Math.max(240, byId(id).clientWidth || byId(id).parentElement.clientWidth);

  // -- hover ---------------------------------------------------------------------------------------------------------
  const tip = byId("tip");
  const hideTip = () => (tip.hidden = true);
  const showTip = (event, title, facts) => {
    tip.replaceChildren(make("b", title), list(facts));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
    const top = event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  };
  const list = (facts) => {
    const made = make("dl");
    for (const [name, value] of facts) made.append(make("dt", name), value instanceof Node ? make("dd", null, value) : make("dd", value));
    return made;
  };
  const gap = (run) => (run.gap_nats === null ? "not certified" : `${digits(run.gap_nats, 3)} nats`);
  const shortFacts = (run) => [
    ["loss", `${digits(run.loss_nats)} nats`],
    ...page.plane.names.map((name, axis) => [name, `${digits(run[page.plane.columns[axis]])} bits`]),
    ["status", words(run.status)],
    ["gap", gap(run)],
    ["solver", run.solver],
    ["run", String(run.run)],
  ];

  // -- the plane -----------------------------------------------------------------------------------------------------
  // Solvers that end at the same point are drawn one inside the other, so that none is hidden.
  const coordinates = (run) => ({ x: run[page.plane.columns[0]], y: run[page.plane.columns[1]] });
  const point = (run, i) => {
    const own = bestOfSolver.has(i);
    const nested = solvers.length > 1 ? Math.max(140 * 0.5 ** page.groups.values[i], 18) : 60;
    return {
      i, ...coordinates(run), solver: groupOf(i),
      size: own ? nested : 14, opacity: own ? 1 : 0.5, filled: converged.has(run.status) || groupOf(i) === "given" ? 1 : 0,
    };
  };
  // The largest of the nested ones lie below the smaller: best points in the order of falling size, after all the others.
  const points = runs.map(point).sort((a, b) => (bestOfSolver.has(a.i) ? 1e6 - a.size : 0) - (bestOfSolver.has(b.i) ? 1e6 - b.size : 0));
  const ring = () => views.get("plane")?.view.data("chosen", [point(runs[chosen], chosen)]).runAsync();
  const drawPlane = () => {
    const width = widthOf("plane");
    const { corner_bits: corner, bound_bits: bound } = page.plane;
    const far = Math.max(...points.map((p) => p.x), bound) * 2;
    const made = {
      data: {
        runs: points,
        enclosed: page.enclosure,
        pareto: page.pareto.map((i) => coordinates(runs[i])),
        bounds: [{ x: 0, y: 0 }, { x: corner, y: bound }, { x: far, y: bound }],
        chosen: [],
      },
      signals: { columns: Math.max(1, Math.floor(width / 150)) },
      width,
      height: Math.round(Math.min(460, Math.max(300, width * 0.68))),
      renderer: count > 2000 ? "canvas" : "svg",
    };
    draw("plane", "plane", made, listenOnPlane);
  };
  const listenOnPlane = (view) => {
    ring();
    // The nearest point within reach, so that small ones can be hit with a finger.
    const nearest = (event, reach) => {
      const frame = byId("plane").querySelector("svg, canvas").getBoundingClientRect();
      const [ox, oy] = view.origin();
      const padding = view.padding();
      const px = event.clientX - frame.left - padding.left - ox;
      const py = event.clientY - frame.top - padding.top - oy;
      const [sx, sy] = [view.scale("x"), view.scale("y")];
      let found = null;
      let closest = reach * reach;
      for (const p of points) {
        const away = (sx(p.x) - px) ** 2 + (sy(p.y) - py) ** 2;
        if (away <= closest) [found, closest] = [p.i, away];
      }
      return found;
    };
    view.addEventListener("pointermove", (event) => {
      const i = nearest(event, 14);
      if (i === null) hideTip();
      else showTip(event, parameter(runs[i]), shortFacts(runs[i]));
    });
    view.addEventListener("pointerout", hideTip);
    view.addEventListener("click", (event) => {
      const i = nearest(event, 24);
      if (i !== null) choose(i);
    });
  };

  // -- the chosen run ------------------------------------------------------------------------------------------------
  const drawRun = () => {
    const run = runs[chosen];
    const encoder = page.encoders[chosen];
    const trace = page.traces[chosen];
    byId("facts").replaceChildren(...list([
      ["parameter", parameter(run)],
      ...shortFacts(run).slice(0, 3),
      ["status", page.statuses[run.status]],
      ["gap", gap(run)],
      ["clusters", `${digits(run.clusters)}${run.at_cap ? ", the cap" : ""}${encoder && encoder.differ !== run.clusters ? `, of which ${encoder.differ} differ` : ""}`],
      ["found by", `${run.solver}, start ${run.start}, run ${run.run}`],
      ["iterations", `${digits(run.iterations)} in ${digits(run.seconds, 3)} s`],
      ["residuals", page.residuals[chosen].map((r, k) => `${["primal", "dual", "stationarity"][k]} ${r === null ? "–" : r === 0 ? "0" : r.toExponential(1)}`).join(", ")],
    ]).children);
    byId("encoder").hidden = !encoder;
    byId("no-encoder").hidden = Boolean(encoder);
    if (encoder) drawEncoder(encoder);
    else explainMissing(run);
    byId("trace").hidden = !trace;
    byId("no-trace").hidden = Boolean(trace);
    if (trace) drawTrace(trace, run);
    else byId("no-trace").textContent = `No trace was kept of this run; it ended after ${digits(run.iterations)} iterations, ${words(run.status)}.`;
  };
  const explainMissing = (run) => {
    const note = byId("no-encoder");
    note.replaceChildren(`The encoder of this run is not on this page; in Python, frontier.encoder(${run.run}). `);
    const other = page.best.find((i) => runs[i].parameter === run.parameter && page.encoders[i]);
    if (other === undefined) return;
    const button = make("button", `Show the best run at ${parameter(run)}`);
    button.className = "link";
    button.addEventListener("click", () => choose(other));
    note.append(button);
  };
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = `12px ${font()}`;
  const longest = Math.max(48, ...[...page.joint.x.labels, ...page.joint.y.labels].map((label) => ruler.measureText(label).width));
  // Of a large alphabet each encoder shows letters of its own.
  const lettersOf = ({ rows }) => {
    const { name, labels, mass } = page.joint.x;
    return rows === undefined ? page.joint.x : { name, labels: rows.map((i) => labels[i]), mass: rows.map((i) => mass[i]) };
  };
  const drawEncoder = (encoder) => {
    const most = widthOf("cells");
    const extent = Math.min(longest + 14, most * 0.45);
    const width = Math.min(most, extent + 24 + encoder.clusters.length * 64);
    const signals = { extent };
    draw("masses", "masses", { data: { masses: encoder.p_z.map((v, z) => ({ z, v })) }, signals, width });
    byId("masses").setAttribute("aria-label", `p(z): ${encoder.p_z.map((v, z) => `${encoder.names[z]} ${v}`).join(", ")}`);
    drawHeat("cells", lettersOf(encoder), encoder.cells, encoder, signals, width, "p(z|x)");
    drawHeat("posteriors", page.joint.y, encoder.posteriors, encoder, signals, width, "p(y|z)");
  };
  const drawHeat = (id, axis, values, encoder, signals, width, quantity) => {
    const rows = values.flatMap((column, z) => column.map((v, row) => ({ z, row, v: v / 1000 })));
    // Every cluster has its label, or none has: some would look like all.
    const each = (width - signals.extent) / encoder.clusters.length - 4;
    const fit = (names) => names.every((name) => ruler.measureText(name).width <= each);
    const labels = { rows: axis.labels, columns: [encoder.names, encoder.clusters].find(fit) ?? encoder.clusters.map(() => "") };
    draw(id, "heat", { data: { cells: rows }, signals: { ...signals, ...labels }, width }, (view) => {
      view.addEventListener("pointermove", (event, item) => {
        const at = item?.datum;
        if (at?.row === undefined) return hideTip();
        const facts = [[axis.name, `mass ${axis.mass[at.row]}`], ["cluster", `${encoder.members[at.z].map((z) => `z${z}`).join(", ")}: ${encoder.names[at.z]}`], [quantity, at.v.toFixed(3)]];
        return showTip(event, axis.labels[at.row], facts);
      });
      view.addEventListener("pointerout", hideTip);
    });
    byId(id).setAttribute("aria-label", `Heat map of ${quantity}: ${axis.labels.length} rows, ${encoder.clusters.length} clusters; the table below holds the numbers.`);
    fillTable(id, axis, values, encoder);
  };
  const fillTable = (id, axis, values, encoder) => {
    const holder = byId(`${id}-table`);
    const fill = () => {
      if (!holder.parentElement.open) return holder.replaceChildren();
      const head = make("tr", null, make("th", axis.name), ...encoder.names.map((name) => make("th", name)));
      const body = axis.labels.map((label, row) => make("tr", null, make("td", label), ...values.map((column) => make("td", (column[row] / 1000).toFixed(3)))));
      for (const row of [head, ...body]) row.firstChild.className = "wide";
      return holder.replaceChildren(make("table", null, make("thead", null, head), make("tbody", null, ...body)));
    };
    holder.parentElement.ontoggle = fill;
    fill();
  };
  const drawTrace = (trace, run) => {
    const width = widthOf("trace");
    const rows = Object.entries(trace.lines).flatMap(([line, values]) =>
      values.map((v, k) => ({ line, v, iteration: trace.iterations[k] })).filter((row) => row.v !== null));
    draw("trace", "trace", { data: { trace: rows }, signals: { columns: width < 480 ? 1 : 2 }, width, height: 280 });
    byId("trace").setAttribute("aria-label", `Convergence over ${digits(run.iterations)} iterations, logarithmic scale.`);
  };

  // -- choosing ------------------------------------------------------------------------------------------------------
  const picker = byId("run");
  const other = make("option", "another run");
  other.value = "";
  other.hidden = true;
  picker.append(other, ...page.best.map((i) => {
    const option = make("option", `${parameter(runs[i])}: loss ${digits(runs[i].loss_nats)} nats, ${words(runs[i].status)}`);
    option.value = String(i);
    return option;
  }));
  const choose = (i) => {
    chosen = i;
    picker.value = best.has(i) ? String(i) : "";
    byId("chosen-title").textContent = `The chosen run: ${parameter(runs[i])}`;
    const told = page.sentences[i] ?? page.sentences[page.best.find((j) => runs[j].parameter === runs[i].parameter)];
    byId("headline").textContent = told === undefined ? "" : `At ${parameter(runs[i])}: ${told}`;
    byId("announce").textContent = `${parameter(runs[i])}, loss ${digits(runs[i].loss_nats)} nats, ${words(runs[i].status)}`;
    ring();
    drawRun();
    for (const row of byId("table").tBodies[0].rows) markRow(row);
  };
  const step = (by) => {
    const at = page.best.indexOf(chosen);
    // From a run that is not the best of its parameter, to the one that is.
    const from = at < 0 ? page.best.findIndex((i) => runs[i].parameter === runs[chosen].parameter) - by : at;
    choose(page.best[Math.min(page.best.length - 1, Math.max(0, from + by))]);
  };
  picker.addEventListener("change", () => choose(Number(picker.value)));
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("plane").addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  });

  // -- the table -----------------------------------------------------------------------------------------------------
  const PIECE = 200;
  const table = byId("table");
  let shown = PIECE;
  let order = { name: "run", down: false };
  const markRow = (row) => {
    const is = Number(row.dataset.i) === chosen;
    row.classList.toggle("chosen", is);
    if (is) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  };
  const fillRuns = () => {
    const every = document.querySelector("input[name=rows]:checked").value === "every";
    const rows = every ? runs.map((_, i) => i) : [...page.best];
    const compare = (a, b) => {
      const [u, v] = [runs[a][order.name], runs[b][order.name]];
      if (u === null || v === null) return (u === null) - (v === null);
      return (u < v ? -1 : u > v ? 1 : 0) * (order.down ? -1 : 1);
    };
    if (every || order.name !== "run") rows.sort(compare);
    table.tHead.replaceChildren(make("tr", null, ...columns.map((name) => {
      const button = make("button", name);
      button.type = "button";
      button.addEventListener("click", () => {
        order = { name, down: order.name === name && !order.down };
        fillRuns();
      });
      const head = make("th", null, button);
      head.scope = "col";
      if (isText(name)) head.className = "text";
      if (order.name === name) {
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        button.append(order.down ? " ▾" : " ▴");
      }
      return head;
    })));
    table.tBodies[0].replaceChildren(...rows.slice(0, shown).map((i) => {
      const row = make("tr", null, ...columns.map((name) => {
        const value = runs[i][name];
        const made = make("td", name === "run" ? null : name === "status" ? words(value) : digits(value, name === "seconds" ? 3 : 6));
        if (isText(name)) made.className = "text";
        return made;
      }));
      const button = make("button", String(runs[i].run));
      button.type = "button";
      button.className = "link";
      button.setAttribute("aria-label", `show run ${runs[i].run}, ${parameter(runs[i])}`);
      button.addEventListener("click", () => choose(i));
      row.cells[columns.indexOf("run")].append(button);
      row.dataset.i = String(i);
      markRow(row);
      return row;
    }));
    byId("more").hidden = rows.length <= shown;
    byId("more").textContent = `Show ${Math.min(PIECE, rows.length - shown)} more of ${rows.length.toLocaleString("en")}`;
  };
  if (page.systems !== null) {
    byId("systems").hidden = false;
    const held = byId("systems-table");
    held.tHead.append(make("tr", null, ...page.systems.columns.map((name) => make("th", name))));
    held.tBodies[0].append(...page.systems.rows.map((values, at) => {
      const row = make("tr", null, ...values.map((value, k) => make("td", k === 0 ? null : digits(value))));
      const button = make("button", values[0]);
      button.type = "button";
      button.className = "link";
      button.disabled = page.systems.runs[at] === null;
      button.addEventListener("click", () => choose(page.systems.runs[at]));
      row.firstChild.append(button);
      return row;
    }));
  }
  byId("more").addEventListener("click", () => {
    shown += PIECE;
    fillRuns();
  });
  for (const radio of document.querySelectorAll("input[name=rows]")) {
    radio.addEventListener("change", () => {
      shown = PIECE;
      fillRuns();
    });
  }
  const quoted = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  byId("csv").addEventListener("click", () => {
    const lines = [columns, ...runs.map((run) => columns.map((name) => run[name]))].map((row) => row.map(quoted).join(","));
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv;charset=utf-8" }));
    link.download = "runs.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  // -- where it came from --------------------------------------------------------------------------------------------
  const told = (value) => {
    if (Array.isArray(value) && value.length) return value.map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one))).join(", ");
    if (value !== null && typeof value === "object" && Object.keys(value).length) return list(Object.entries(value).map(([name, one]) => [name, told(one)]));
    return value === null || typeof value === "object" ? "none" : String(value);
  };
  const { parts = [], ...rest } = page.provenance;
  byId("provenance").append(list(Object.entries(rest).map(([name, value]) => [name, told(value)])));
  parts.forEach((part, i) => byId("provenance").append(make("h3", `Part ${i + 1}: ${part.solver ?? "runs"}`), told(part)));
  if (Object.keys(page.provenance).length === 1) {
    byId("provenance").append(make("p", "These runs were put together by hand: nothing was recorded of the call that made them."));
  }
  byId("summary").textContent = page.summary;
  for (const sentence of page.cautions) {
    const warning = make("p", `Caution: ${sentence}`);
    warning.className = "warning";
    byId("cautions").append(warning);
  }
  byId("bound").textContent = page.plane.bound;
  byId("cells-title").textContent = `Which cluster each ${page.joint.x.name} falls in: p(z|x)`;
  byId("posteriors-title").textContent = `What each cluster says about ${page.joint.y.name}: p(y|z)`;
  byId("notes").append(...page.notes.map((sentence) => make("li", sentence)));
  byId("suggestion").append(...page.suggestion.map((sentence) => make("li", sentence)));
  if (page.knee !== null) {
    const button = make("button", "Show it");
    button.className = "link";
    button.addEventListener("click", () => choose(page.knee));
    byId("suggestion").firstChild.append(" ", button);
  }

  // -- go ------------------------------------------------------------------------------------------------------------
  const redraw = () => {
    hideTip();
    drawPlane();
    drawRun();
  };
  fillRuns();
  choose(page.knee ?? page.best[Math.floor(page.best.length / 2)]);
  drawPlane();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let before = innerWidth;
  let waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === before) return;
    before = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 120);
  });
  addEventListener("scroll", hideTip, { passive: true });
})();
