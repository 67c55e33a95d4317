// F5. W_O cut into blocks, one for each head. The reader switches heads on and off.
(function () {
  "use strict";

  const H = 4, D_K = 2, D_MODEL = H * D_K;
  const CONCAT = [1, 2, -1, 3, 0, 2, -2, 1]; // heads 0 to 3, two numbers each
  const W_O = Array.from({ length: D_MODEL }, (_, r) => Array.from({ length: D_MODEL }, (_, c) => ((3 * r + 5 * c) % 7) - 3));
  const BIAS = Array.from({ length: D_MODEL }, (_, c) => c % 3);

  // What head i adds to the output: its two numbers times its two rows of W_O.
  const part = (i) => BIAS.map((_, c) => {
    let sum = 0;
    for (let k = 0; k < D_K; k++) sum += CONCAT[i * D_K + k] * W_O[i * D_K + k][c];
    return sum;
  });

  // The parts of the heads that are on, plus the bias once.
  const output = (on) => BIAS.map((b, c) => b + on.reduce((sum, lit, i) => sum + (lit ? part(i)[c] : 0), 0));

  window.courseFigures.register("w_o", (box, labels, t) => {
    const on = Array(H).fill(true);
    const block = t.el("div", { class: "figure-scroll" });
    const sums = t.el("div", { class: "figure-scroll" });
    const say = t.announcer();
    const off = ["transparent", "var(--pst-color-text-muted)"];

    function show() {
      const table = t.numbers(labels.blocks, W_O.map((row, r) => [CONCAT[r], ...row]),
        (_, r) => (on[Math.floor(r / D_K)] ? t.HEADS[Math.floor(r / D_K)] : off),
        CONCAT.map((_, r) => t.fill(labels.head, { i: Math.floor(r / D_K) })));
      table.classList.add("concat");
      table.caption.after(t.el("thead", {}, [t.el("tr", {}, [t.el("td"),
        t.el("th", { scope: "col", text: labels.concat }), t.el("th", { scope: "col", colspan: D_MODEL, text: "W_O" })])]));
      block.replaceChildren(table);
      const rows = [...on.map((lit, i) => (lit ? part(i) : BIAS.map(() => 0))), BIAS, output(on)];
      const names = [...on.map((_, i) => t.fill(labels.head, { i })), labels.bias, labels.output];
      sums.replaceChildren(t.numbers(labels.sum, rows, (_, r) => (r < H ? (on[r] ? t.HEADS[r] : off) : null), names));
      const lit = on.flatMap((x, i) => (x ? [i] : []));
      const words = [labels.say_none, labels.say_one][lit.length] || labels.say;
      say.textContent = t.fill(words, { heads: t.list(labels.list, lit), output: output(on).join(", ") });
    }

    box.append(
      t.switches(labels.choose, on.map((_, i) => [i, t.fill(labels.head, { i }), true]), (i, lit) => { on[i] = lit; show(); }),
      block, sums, say);
    show();
  }, { CONCAT, W_O, BIAS, part, output });
})();
