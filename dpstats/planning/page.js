"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const COLOURS = ["#0072B2", "#B35900", "#00795A", "#A84878", "#1F6F9F", "#000000", "#7A6A00"];
  const DASHES = ["", "10 4", "4 3", "12 4 3 4", "2 3", "", "16 5"];
  const MARKERS = [
    "M-5,0A5,5 0 1,0 5,0A5,5 0 1,0 -5,0Z", "M-5,-5H5V5H-5Z", "M0,-6L6,0L0,6L-6,0Z",
    "M0,-6L6,5H-6Z", "M0,6L6,-5H-6Z", "M-5,-5L5,5M5,-5L-5,5", "M-6,0H6M0,-6V6",
  ];
  const FONT = 14, LETTER = 8; // pixels: a unit of the chart is one on the screen
  const { byId, element, number, row, scale, ticks } = drawing;
  const controls = { term: byId("term"), rows: byId("rows"), width: byId("width") };
  const methods = Object.keys(plan.cells[0][0].methods);

  // The axes hold every position of the sliders, so that moving one moves the lines alone.
  function extents(term) {
    const cells = plan.cells.flat();
    const points = cells.flatMap((cell) => methods.flatMap((name) => cell.methods[name][term]));
    const epsilons = points.map((point) => point[0]);
    const widths = points.map((point) => point[1]).concat(cells.map((cell) => cell.ols[term]))
      .filter((width) => typeof width === "number" && width > 0);
    const x = range(epsilons.concat(plan.remaining ?? []));
    return { epsilons, x, y: range(widths.length ? widths : [0.1, 10]) };
  }

  function range(values) {
    const low = Math.min(...values), high = Math.max(...values);
    return low < high ? [low / 1.1, high * 1.1] : [low / 2, high * 2];
  }

  // The computed epsilons, without labels that would touch the one before.
  function epsilonTicks(epsilons, toX) {
    let end = -Infinity;
    return [...new Set(epsilons)].sort((a, b) => a - b).map((value) => {
      const half = (LETTER * value.toString().length) / 2;
      const text = toX(value) - half > end + LETTER / 2 ? value : "";
      if (text !== "") end = toX(value) + half;
      return [value, text];
    });
  }

  // As wide as the screen lets it be, with room for the longest label of the upright axis.
  function layOut(chart, labels) {
    const width = Math.max(300, Math.min(chart.parentElement.clientWidth || 720, 800));
    const height = Math.round(Math.max(300, 0.6 * width));
    const longest = Math.max(...labels.map((value) => value.toString().length));
    chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    return { left: LETTER * longest + 16, right: width - 16, top: 12, bottom: height - 56 };
  }

  function drawAxes(chart, box, epsilons, values, toX, toY) {
    for (const [value, text] of epsilonTicks(epsilons, toX)) {
      chart.append(
        element("line", {
          class: "grid", "data-tick": value, x1: toX(value), x2: toX(value), y1: box.top, y2: box.bottom,
        }),
        element("text", { x: toX(value), y: box.bottom + 20, "text-anchor": "middle" }, text),
      );
    }
    for (const value of values) {
      chart.append(
        element("line", { class: "grid", y1: toY(value), y2: toY(value), x1: box.left, x2: box.right }),
        element("text", { x: box.left - 8, y: toY(value) + 5, "text-anchor": "end" }, value),
      );
    }
    chart.append(
      element("path", {
        class: "axis", fill: "none",
        d: `M${box.left},${box.top}V${box.bottom}H${box.right}`,
      }),
      element("text", {
        class: "name", x: (box.left + box.right) / 2, y: box.bottom + 20 + 1.5 * FONT, "text-anchor": "middle",
      }, "epsilon"),
    );
  }

  function drawCurve(chart, place, name, points, toX, toY) {
    const colour = COLOURS[place % 7];
    let path = "", open = false;
    for (const [epsilon, width] of points) {
      if (typeof width === "number" && width > 0) {
        path += `${open ? "L" : "M"}${toX(epsilon)},${toY(width)}`;
      }
      open = typeof width === "number" && width > 0;
    }
    chart.append(element("path", {
      class: "curve", d: path, stroke: colour, "stroke-dasharray": DASHES[place % 7], "data-method": name,
    }));
    for (const [epsilon, width] of points) {
      if (typeof width !== "number" || width <= 0) continue;
      const marker = element("path", {
        d: MARKERS[place % 7], fill: colour, stroke: colour, "stroke-width": 2,
        transform: `translate(${toX(epsilon)} ${toY(width)})`,
        "data-method": name, "data-epsilon": epsilon, "data-width": width,
      });
      marker.append(element("title", {}, `${name}: epsilon ${epsilon}, width ${number(width)}`));
      chart.append(marker);
    }
  }

  function drawLevels(chart, box, floor, toX, toY) {
    if (typeof floor === "number") {
      chart.append(element("line", {
        class: "floor", id: "floor", "data-width": floor,
        x1: box.left, x2: box.right, y1: toY(floor), y2: toY(floor),
      }));
    }
    if (plan.remaining !== null) {
      const x = toX(plan.remaining);
      chart.append(element("line", {
        class: "left", id: "left", "data-epsilon": plan.remaining,
        x1: x, x2: x, y1: box.top, y2: box.bottom,
      }));
    }
  }

  function drawChart(cell, term) {
    const chart = byId("chart");
    const seen = extents(term), values = ticks(seen.y), box = layOut(chart, values);
    const toX = scale(seen.x, box.left, box.right), toY = scale(seen.y, box.bottom, box.top);
    byId("measure").textContent = `Interval width of ${term}`;
    chart.replaceChildren(
      element("title", { id: "chart-title" }, `Interval width of ${term} against epsilon`),
      element("desc", { id: "chart-text" }, "Its numbers are in the table below."),
    );
    drawAxes(chart, box, seen.epsilons, values, toX, toY);
    drawLevels(chart, box, cell.ols[term], toX, toY);
    methods.forEach((name, place) => {
      drawCurve(chart, place, name, cell.methods[name][term], toX, toY);
    });
  }

  function key(text, parts) {
    const entry = element("span");
    const sample = element("svg", { viewBox: "0 0 44 16", "aria-hidden": "true" });
    sample.append(...parts);
    entry.append(sample, text);
    return entry;
  }

  function drawLegend(cell, term) {
    const entries = methods.map((name, place) => {
      const colour = COLOURS[place % 7];
      const shown = cell.methods[name][term].some((point) => typeof point[1] === "number");
      return key(shown ? name : `${name} (no bounded interval)`, [
        element("line", {
          class: "curve", x1: 0, x2: 44, y1: 8, y2: 8, stroke: colour,
          "stroke-dasharray": DASHES[place % 7],
        }),
        element("path", { d: MARKERS[place % 7], fill: colour, stroke: colour, transform: "translate(22 8)" }),
      ]);
    });
    const level = (name) => [element("line", { class: name, x1: 0, x2: 44, y1: 8, y2: 8 })];
    entries.push(key("least squares, not private", level("floor")));
    if (plan.remaining !== null) {
      entries.push(key(`epsilon left in the budget: ${number(plan.remaining)}`, level("left")));
    }
    byId("legend").replaceChildren(...entries);
  }

  function fillTable(cell, term) {
    const shown = (width) => (width === null ? "none" : typeof width === "number" ? number(width) : width);
    const epsilons = cell.methods[methods[0]][term].map((point) => point[0]);
    const lines = epsilons.map((epsilon, i) => row("td", [
      epsilon, ...methods.map((name) => shown(cell.methods[name][term][i][1])), shown(cell.ols[term]),
    ]));
    document.querySelector("thead").replaceChildren(
      row("th", ["epsilon", ...methods, "least squares, not private"]),
    );
    document.querySelector("tbody").replaceChildren(...lines);
  }

  function widened(factor) {
    return factor === 1 ? "as declared" : `${factor} times as wide`;
  }

  function update() {
    const term = controls.term.value;
    const rows = plan.rows[controls.rows.value], width = plan.widths[controls.width.value];
    const cell = plan.cells[controls.rows.value][controls.width.value];
    const texts = { rows: rows.toLocaleString("en"), width: widened(width) };
    for (const [name, text] of Object.entries(texts)) {
      byId(`${name}-value`).textContent = text;
      controls[name].setAttribute("aria-valuetext", text);
    }
    const place = `${texts.rows} rows, bounds ${texts.width}`;
    byId("caption").textContent = `Width of the median ${plan.level} interval of ${term}: ${place}`;
    byId("state").textContent = `Shown: ${term}, ${place}.`;
    byId("accuracy").textContent = cell.accuracy;
    byId("call").textContent = cell.call;
    drawChart(cell, term);
    drawLegend(cell, term);
    fillTable(cell, term);
  }

  function start() {
    controls.term.append(...plan.terms.map((term) => element("option", { value: term }, term)));
    controls.term.value = plan.term;
    controls.rows.max = plan.rows.length - 1;
    controls.width.max = plan.widths.length - 1;
    controls.rows.value = plan.start;
    controls.width.value = 0;
    document.querySelector(".level").textContent = plan.level;
    byId("notes").append(...plan.notes.map((note) => element("li", {}, note)));
    for (const control of Object.values(controls)) control.addEventListener("input", update);
    window.addEventListener("resize", update);
    update();
  }

  start();
})();
