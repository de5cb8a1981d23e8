"use strict";
// What the pages of plans draw with.
const drawing = (() => {
  const byId = (id) => document.getElementById(id);
  const number = (value) => Number(value.toPrecision(3)).toString();

  function element(name, attributes = {}, text = "") {
    const svg = ["svg", "g", "path", "line", "circle", "text", "title", "desc"].includes(name);
    const made = svg
      ? document.createElementNS("http://www.w3.org/2000/svg", name)
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  // A row of a table; the first cell of each is its heading.
  function row(tag, cells) {
    const made = element("tr");
    cells.forEach((text, place) => {
      const head = tag === "th" || place === 0;
      made.append(element(head ? "th" : "td", head ? { scope: tag === "th" ? "col" : "row" } : {}, text));
    });
    return made;
  }

  function scale([low, high], from, to) {
    return (value) => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  }

  // Powers of ten where there are enough, else 1, 2, 5, else even steps, of which one has three.
  function ticks([low, high]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      for (const digit of [1, 2, 5]) found.push(Number((digit * 10 ** power).toPrecision(1)));
    }
    const inside = found.filter((value) => low <= value && value <= high);
    const decades = inside.filter((value) => /^0*\.?0*1/.test(value.toString()));
    if (inside.length < 3) return evenTicks(low, high);
    return inside.length > 9 && decades.length > 2 ? decades : inside;
  }

  function evenTicks(low, high) {
    const power = 10 ** Math.floor(Math.log10(high - low));
    for (const step of [power, power / 2, power / 5]) {
      const found = [];
      for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
        found.push(Number((k * step).toPrecision(6)));
      }
      if (found.length > 2) return found;
    }
    return [];
  }

  return { byId, element, number, row, scale, ticks };
})();
