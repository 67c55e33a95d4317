// F3. One strip of storage, three ways to read it, and a lamp: can I view?
(function () {
  "use strict";

  // B = 1, h = 2, T = 3, d_k = 2. The attention's result lies in memory as (B, h, T, d_k).
  const STATES = {
    heads: { axes: ["B", "h", "T", "d_k"], sizes: [1, 2, 3, 2], strides: [12, 6, 2, 1], storage: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
    transposed: { axes: ["B", "T", "h", "d_k"], sizes: [1, 3, 2, 2], strides: [12, 2, 6, 1], storage: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
    copied: { axes: ["B", "T", "h", "d_k"], sizes: [1, 3, 2, 2], strides: [12, 4, 2, 1], storage: [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11] },
  };

  // The storage cells passed when only this axis counts up.
  const walk = (state, axis) => Array.from({ length: state.sizes[axis] }, (_, n) => n * state.strides[axis]);

  // Two neighbouring axes become one without a copy only if the left one steps over exactly all of the right one.
  const canJoin = (state, axis) => state.strides[axis] === state.sizes[axis + 1] * state.strides[axis + 1];

  window.courseFigures.register("strides", (box, labels, t) => {
    let name = "heads", axis = 2;
    const facts = t.el("p", { class: "figure-number" });
    const strip = t.el("div", { class: "figure-scroll" });
    const lamp = t.el("p", { class: "figure-number" });
    const axisChoice = t.el("div");
    const say = t.announcer();
    const words = (list) => "(" + list.join(", ") + ")";

    function show() {
      const state = STATES[name];
      const passed = walk(state, axis);
      facts.textContent = t.fill(labels.facts, { axes: words(state.axes), shape: words(state.sizes), strides: words(state.strides) });
      const table = t.numbers(labels.storage, [state.storage], (n) => t.HEADS[n < 6 ? 0 : 1]);
      [...table.querySelectorAll("td")].forEach((td, at) => {
        if (passed.includes(at)) td.classList.add("passed");
      });
      table.querySelector("tbody").prepend(
        t.el("tr", {}, state.storage.map((_, at) => t.el("td", { class: "pointer", text: passed.includes(at) ? "▼" : "" }))));
      strip.replaceChildren(table);
      const possible = name === "heads" ? false : canJoin(state, 2);
      lamp.textContent = labels[name === "heads" ? "lamp_heads" : possible ? "lamp_on" : "lamp_off"];
      lamp.className = "figure-number lamp " + (possible ? "good" : "bad");
      say.textContent = t.fill(labels[state.strides[axis] === 1 ? "say_one" : "say"], { tensor: labels["state_" + name], axis: state.axes[axis], step: state.strides[axis], cells: passed.join(", ") });
    }

    function chooseAxis() {
      axisChoice.replaceChildren(t.choice(labels.choose_axis, STATES[name].axes.map((a, k) => [k, a]).slice(1), axis,
        (k) => { axis = k; show(); }));
    }

    box.append(
      t.choice(labels.choose_state, Object.keys(STATES).map((k) => [k, labels["state_" + k]]), name, (k) => {
        const followed = STATES[name].axes[axis];
        name = k;
        axis = STATES[name].axes.indexOf(followed);
        chooseAxis();
        show();
      }),
      axisChoice, facts, strip, lamp, say);
    chooseAxis();
    show();
  }, { STATES, walk, canJoin });
})();
