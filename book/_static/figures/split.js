// F2. The right and the wrong split. The reader follows one token through either.
(function () {
  "use strict";

  const T = 3, H = 4, D_K = 4, D_MODEL = H * D_K;

  // The number at (head, row, column) of 0, 1, 2, ... laid out as (1, T, D_MODEL):
  const right = (head, row, col) => row * D_MODEL + head * D_K + col; // view(1, T, H, D_K).transpose(1, 2)
  const wrong = (head, row, col) => (head * T + row) * D_K + col; // view(1, H, T, D_K)

  const table = (rule, head) =>
    Array.from({ length: T }, (_, row) => Array.from({ length: D_K }, (_, col) => rule(head, row, col)));
  const tokenOf = (n) => Math.floor(n / D_MODEL);
  const headOf = (n) => Math.floor((n % D_MODEL) / D_K);

  // Which rows of which heads hold numbers of this token: [[head, [rows]], ...]
  function where(rule, token) {
    const found = [];
    for (let head = 0; head < H; head++) {
      const rows = table(rule, head).flatMap((row, r) => (row.some((n) => tokenOf(n) === token) ? [r] : []));
      if (rows.length) found.push([head, rows]);
    }
    return found;
  }

  window.courseFigures.register("split", (box, labels, t) => {
    let token = 1, kind = "right";
    const source = t.el("div", { class: "figure-scroll dense" });
    const title = t.el("p", { class: "figure-number" });
    const heads = t.el("div", { class: "figure-heads" });
    const say = t.announcer();
    const colour = (n) => (tokenOf(n) === token ? t.HEADS[headOf(n)] : null);
    const tip = (n) => t.fill(labels.cell, { n, t: tokenOf(n) });

    function sentence(rule) {
      if (kind === "right") return t.fill(labels.say_right, { t: token });
      const parts = where(rule, token).map(([i, rows]) =>
        t.fill(rows.length > 1 ? labels.where : labels.where_one, { i, rows: t.list(labels.list, rows) }));
      return t.fill(labels.say_wrong, { t: token, where: t.list(labels.list, parts) });
    }

    function show() {
      const rule = kind === "right" ? right : wrong;
      const rows = Array.from({ length: T }, (_, r) => Array.from({ length: D_MODEL }, (_, c) => r * D_MODEL + c));
      source.replaceChildren(
        t.numbers(labels.input, rows, colour, rows.map((_, r) => String(r)), tip));
      title.textContent = labels[kind];
      title.className = "figure-number " + (kind === "right" ? "good" : "bad");
      heads.replaceChildren(...Array.from({ length: H }, (_, i) =>
        t.numbers(t.fill(labels.head, { i }), table(rule, i), colour, ["0", "1", "2"], tip)));
      say.textContent = sentence(rule);
    }

    box.append(
      t.choice(labels.choose_token, [0, 1, 2].map((k) => [k, String(k)]), token, (k) => { token = k; show(); }),
      t.choice(labels.choose_split, [["right", labels.choose_right], ["wrong", labels.choose_wrong]], kind,
        (k) => { kind = k; show(); }),
      source, title, heads, say);
    show();
  }, { right, wrong, table, where });
})();
