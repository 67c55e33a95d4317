// What the interactive figures share. No dependency. Each figure calls
// courseFigures.register(name, build, arithmetic): build(box, labels, tools) fills the box,
// and arithmetic holds the pure functions that the tests hold against torch.
(function () {
  "use strict";

  const builders = {}, arithmetic = {};
  const SVG = "http://www.w3.org/2000/svg";

  // Okabe and Ito's colours for heads 0 to 7, as in figures/drawing.py.
  const HEADS = [
    ["#0072B2", "#FFFFFF"], ["#E69F00", "#000000"], ["#009E73", "#000000"], ["#CC79A7", "#000000"],
    ["#56B4E9", "#000000"], ["#D55E00", "#000000"], ["#F0E442", "#000000"], ["#7F7F7F", "#000000"],
  ];

  function put(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "text") node.textContent = value;
      else node.setAttribute(name, value);
    }
    for (const child of children || []) node.append(child);
    return node;
  }

  const el = (tag, attributes, children) => put(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, children) => put(document.createElementNS(SVG, tag), attributes, children);

  // "h = {h}" with {h: 8} -> "h = 8"
  const fill = (template, values) =>
    template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

  // [0, 1, 3] -> "0, 1 and 3"; the template says "{rest} and {last}".
  const list = (template, items) =>
    items.length < 2 ? items.join("") : fill(template, { rest: items.slice(0, -1).join(", "), last: items.at(-1) });

  let groups = 0;

  // A row of native radio buttons: mouse, touch and arrow keys come with them.
  function choice(legend, options, chosen, onChange) {
    const group = "figure-choice-" + groups++;
    const set = el("fieldset", { class: "choice" }, [el("legend", { text: legend })]);
    for (const [value, words] of options) {
      const input = el("input", { type: "radio", name: group, value: String(value) });
      input.checked = value === chosen;
      input.addEventListener("change", () => onChange(value));
      set.append(el("label", {}, [input, el("span", { text: words })]));
    }
    return set;
  }

  // A row of native check boxes.
  function switches(legend, options, onChange) {
    const set = el("fieldset", { class: "choice" }, [el("legend", { text: legend })]);
    for (const [value, words, on] of options) {
      const input = el("input", { type: "checkbox", value: String(value) });
      input.checked = on;
      input.addEventListener("change", () => onChange(value, input.checked));
      set.append(el("label", {}, [input, el("span", { text: words })]));
    }
    return set;
  }

  // The sentence a screen reader speaks when something changes; everyone else reads it too.
  const announcer = () => el("p", { class: "announce", "aria-live": "polite", role: "status" });

  // A table of numbers; colour(n, row, column) gives [fill, ink] or null.
  function numbers(caption, rows, colour, rowNames, title) {
    const body = el("tbody");
    rows.forEach((row, r) => {
      const tr = el("tr");
      if (rowNames) tr.append(el("th", { scope: "row", text: rowNames[r] }));
      row.forEach((n, c) => {
        const td = el("td", { text: String(n) });
        const paint = colour && colour(n, r, c);
        if (paint) td.setAttribute("style", `background:${paint[0]};color:${paint[1]}`);
        if (title) td.title = title(n, r, c);
        tr.append(td);
      });
      body.append(tr);
    });
    return el("table", { class: "numbers" }, [el("caption", { text: caption }), body]);
  }

  const tools = { HEADS, el, svg, fill, list, choice, switches, announcer, numbers };
  function register(name, build, functions) {
    builders[name] = build;
    arithmetic[name] = functions;
  }
  window.courseFigures = { arithmetic, register };

  document.addEventListener("DOMContentLoaded", () => {
    for (const box of document.querySelectorAll(".interactive[data-figure]")) {
      const build = builders[box.dataset.figure];
      if (!build) continue;
      build(box, JSON.parse(box.dataset.labels), tools);
      box.hidden = false;
      const still = box.parentElement.querySelector(".still");
      if (still) still.hidden = true;
    }
  });
})();
