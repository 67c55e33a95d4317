// F4. A mask aligned with the scores from the right. The reader chooses sizes and unsqueeze.
(function () {
  "use strict";

  const T = 10;
  const CASES = {
    differ: { B: 2, h: 8, mask: 2 },
    equal: { B: 8, h: 8, mask: 8 },
    one: { B: 2, h: 8, mask: 1 },
    single: { B: 2, h: 1, mask: 2 },
  };

  const scoresShape = (c) => [c.B, c.h, T, T];
  const maskShape = (c, unsqueezed) => (unsqueezed ? [c.mask, 1, 1, T] : [c.mask, 1, T]);

  // The common shape of two tensors, aligned from the right; null where PyTorch refuses.
  function broadcast(a, b) {
    const result = [];
    for (let k = 1; k <= Math.max(a.length, b.length); k++) {
      const x = a[a.length - k] ?? 1, y = b[b.length - k] ?? 1;
      if (x !== y && x !== 1 && y !== 1) return null;
      result.unshift(Math.max(x, y));
    }
    return result;
  }

  window.courseFigures.register("mask_axes", (box, labels, t) => {
    let chosen = "differ", unsqueezed = false;
    const axes = t.el("div", { class: "figure-scroll" });
    const result = t.el("p", { class: "figure-number" });
    const say = t.announcer();
    const words = (shape) => "(" + shape.join(", ") + ")";

    function show() {
      const c = CASES[chosen];
      const scores = scoresShape(c), mask = maskShape(c, unsqueezed);
      const padded = Array(4 - mask.length).fill(null).concat(mask);
      const row = (name, cells) =>
        t.el("tr", {}, [name ? t.el("th", { scope: "row", text: name }) : t.el("td"), ...cells]);
      const marks = padded.map((n, k) => {
        if (n === null) return "new";
        if (n !== scores[k] && n !== 1 && scores[k] !== 1) return "clash";
        if (n !== scores[k] && scores[k] === 1) return "grows";
        return n === 1 && scores[k] !== 1 ? "repeated" : "same";
      });
      const table = t.el("table", { class: "numbers axes" }, [
        t.el("tbody", {}, [
          row("", ["B", "h", "Tq", "Tk"].map((a) => t.el("th", { scope: "col", text: a }))),
          row(labels.scores, scores.map((n) => t.el("td", { text: String(n) }))),
          row(labels.mask, padded.map((n, k) =>
            t.el("td", { class: "axis-" + marks[k], text: n === null ? "·" : String(n) }))),
          row("", marks.map((m) => t.el("td", { class: "axis-note", text: labels[m] }))),
        ]),
      ]);
      axes.replaceChildren(table);
      const common = broadcast(scores, mask);
      result.textContent = common ? t.fill(labels.result, { shape: words(common) }) : labels.refused;
      const good = unsqueezed || chosen === "one";
      result.className = "figure-number " + (good ? "good" : "bad");
      const right = chosen === "one" ? "say_right_one" : "say_right";
      say.textContent = t.fill(labels[unsqueezed ? right : "say_" + chosen],
        { scores: words(scores), mask: words(mask) });
    }

    box.append(
      t.choice(labels.choose_mask, [[false, labels.as_it_is], [true, labels.unsqueezed]], false,
        (v) => { unsqueezed = v; show(); }),
      t.choice(labels.choose_case, Object.keys(CASES).map((k) => [k, labels["case_" + k]]), chosen,
        (v) => { chosen = v; show(); }),
      axes, result, say);
    show();
  }, { broadcast, scoresShape, maskShape, CASES });
})();
