"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const { byId, element, number, row, scale, ticks } = drawing;
  const ROW = 52, GUIDES = [1.25, 1.5, 2], HIDDEN = "hidden";
  const finite = (value) => typeof value === "number";
  const shown = (value) => (value === null ? "none" : finite(value) ? number(value) : value);
  const ratioText = (value) => (finite(value) ? value.toFixed(value < 10 ? 2 : 0) : shown(value));

  // The axis holds every epsilon, so that moving the slider moves the dots alone.
  function extent() {
    const ratios = plan.positions.flatMap((one) => one.tables.flatMap((table) => table.terms.map((term) => term[3])));
    return [Math.min(1, ...ratios.filter(finite)) / 1.02, Math.max(2.2, ...ratios.filter(finite)) * 1.05];
  }

  function layOut(chart) {
    const width = Math.max(300, Math.min(chart.parentElement.clientWidth || 720, 800));
    const bottom = 8 + ROW * plan.tables.length;
    chart.setAttribute("viewBox", `0 0 ${width} ${bottom + 44}`);
    return { left: 16, right: width - 96, hidden: width - 40, top: 8, bottom };
  }

  function drawAxis(chart, box, range, toX) {
    const labels = ticks(range).filter((value) => value >= 1);
    for (const value of [...new Set([1, ...GUIDES, ...labels])]) {
      chart.append(element("line", { class: "grid", x1: toX(value), x2: toX(value), y1: box.top, y2: box.bottom }));
    }
    let end = -Infinity;
    for (const value of [...new Set([1, ...GUIDES, ...labels])].sort((a, b) => a - b)) {
      const half = 4 * value.toString().length;
      if (toX(value) - half < end + 6) continue;
      end = toX(value) + half;
      chart.append(element("text", { x: toX(value), y: box.bottom + 18, "text-anchor": "middle" }, value));
    }
    chart.append(
      element("line", { class: "axis", x1: toX(1), x2: toX(1), y1: box.top, y2: box.bottom }),
      element("text", { x: box.hidden, y: box.bottom + 18, "text-anchor": "middle" }, HIDDEN),
      element("text", { class: "name", x: (box.left + box.right) / 2, y: box.bottom + 38, "text-anchor": "middle" },
        "times as wide as without privacy"),
    );
  }

  function drawTable(chart, box, place, table, toX) {
    const y = box.top + ROW * place + 36;
    chart.append(element("text", { x: box.left, y: y - 18, class: "row" }, table.name));
    chart.append(element("line", { class: "grid", x1: box.left, x2: box.hidden, y1: y, y2: y }));
    for (const [term, , , ratio] of table.terms.filter((one) => finite(one[3]))) {
      const dot = element("circle", { class: "dot", cx: toX(ratio), cy: y, r: 5, "data-ratio": ratio });
      dot.append(element("title", {}, `${table.name}, ${term}: ${ratioText(ratio)}`));
      chart.append(dot);
    }
    if (finite(table.median)) {
      const x = toX(table.median);
      chart.append(element("line", { class: "median", x1: x, x2: x, y1: y - 10, y2: y + 10, "data-median": table.median }));
    }
    chart.append(element("text", { x: box.hidden, y: y + 5, "text-anchor": "middle" }, table.hidden || ""));
  }

  function drawChart(position) {
    const chart = byId("chart"), box = layOut(chart), range = extent();
    const toX = scale(range, box.left, box.right);
    chart.replaceChildren(
      element("title", { id: "chart-title" }, `Widths of intervals at epsilon ${number(position.epsilon)}`),
      element("desc", { id: "chart-text" }, "Its numbers are in the tables below."),
    );
    drawAxis(chart, box, range, toX);
    position.tables.forEach((table, place) => drawTable(chart, box, place, table, toX));
  }

  function fill(id, heads, lines) {
    byId(id).querySelector("thead").replaceChildren(row("th", heads));
    byId(id).querySelector("tbody").replaceChildren(...lines.map((cells) => row("td", cells)));
  }

  function update() {
    const position = plan.positions[byId("epsilon").value];
    const text = `${number(position.epsilon)}${position.epsilon === plan.own ? " (the study file's)" : ""}`;
    byId("epsilon-value").textContent = text;
    byId("epsilon").setAttribute("aria-valuetext", text);
    byId("state").textContent = position.said;
    byId("promise").textContent = position.promise;
    byId("tables-caption").textContent = `Tables at epsilon ${number(position.epsilon)}`;
    fill("tables", ["table", "share", "its epsilon", "median", "widest", "hidden"], position.tables.map((table) => [
      table.name, shown(table.share), shown(table.epsilon), ratioText(table.median), ratioText(table.widest), table.hidden,
    ]));
    const table = position.tables[byId("table").value];
    byId("terms-caption").textContent = `${table.name} at epsilon ${number(position.epsilon)}`;
    fill("terms", ["interval of", "width", "without privacy", "ratio"], table.terms.map(
      ([term, width, without, ratio]) => [term, shown(width), shown(without), ratioText(ratio)]));
    drawChart(position);
  }

  function start() {
    byId("table").append(...plan.tables.map((name, place) => element("option", { value: place }, name)));
    byId("epsilon").max = plan.positions.length - 1;
    byId("epsilon").value = plan.positions.findIndex((position) => position.epsilon === plan.own);
    fill("needed", plan.needed[0], plan.needed.slice(1));
    byId("notes").append(...plan.notes.map((note) => element("li", {}, note)));
    for (const id of ["epsilon", "table"]) byId(id).addEventListener("input", update);
    window.addEventListener("resize", update);
    update();
  }

  start();
})();
