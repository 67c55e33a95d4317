// F1. Four linears whatever h is. The reader chooses h; only the cut lines move.
(function () {
  "use strict";

  const D_MODEL = 512;
  const CHOICES = [1, 2, 4, 8, 16];

  // Four weights d × d and four biases d: h is no part of it.
  const parameters = (d) => 4 * (d * d + d);

  // Where the cut lines stand, as fractions of a side.
  const cuts = (h) => Array.from({ length: h - 1 }, (_, i) => (i + 1) / h);

  window.courseFigures.register("four_linears", (box, labels, t) => {
    const n = parameters(D_MODEL).toLocaleString("en-US");
    const picture = t.svg("svg", { viewBox: "0 0 460 130", class: "figure-svg", role: "img" });
    const count = t.el("p", { class: "figure-number", text: t.fill(labels.count, { n }) });
    const width = t.el("p", { class: "figure-number" });
    const say = t.announcer();

    function show(h) {
      const d_k = D_MODEL / h;
      picture.replaceChildren();
      picture.setAttribute("aria-label", t.fill(labels.drawing, { h }));
      ["W_Q", "W_K", "W_V", "W_O"].forEach((name, k) => {
        const side = 96, x = 14 + k * 112, y = 4;
        picture.append(t.svg("rect", { x, y, width: side, height: side, class: "figure-square" }));
        for (const cut of cuts(h)) {
          const at = side * cut;
          picture.append(t.svg("line", name === "W_O"
            ? { x1: x, x2: x + side, y1: y + at, y2: y + at, class: "figure-cut" }
            : { x1: x + at, x2: x + at, y1: y, y2: y + side, class: "figure-cut" }));
        }
        picture.append(t.svg("text", { x: x + side / 2, y: 120, class: "figure-label", text: name }));
      });
      width.textContent = t.fill(labels.width, { d_k });
      say.textContent = t.fill(h === 1 ? labels.say_one : labels.say, { h, d_k, n });
    }

    box.append(
      t.choice(labels.legend, CHOICES.map((h) => [h, String(h)]), 8, show),
      picture, width, count, say);
    show(8);
  }, { parameters, cuts });
})();
