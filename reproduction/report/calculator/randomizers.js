// The distribution of one report's gain G, and upper and lower bounds on delta: the same computation as in
// tightshuffle/randomizers and tightshuffle/bounds/histogram.py. k-RR with k = 2 has closer bounds, in binary.js.
const shuffle = (() => {
  const MIXTURES = [0.25, 0.5, 0.75], LN10 = Math.log(10);
  const ones = (number) => number.toString(2).replaceAll("0", "").length;

  // The probability of each pattern: of r different values, a report supports those whose bits are set. The report is drawn
  // from u, which does not depend on the user's value (tightshuffle/randomizers/base.py).
  function drawn(k, m) {
    const falling = (number, factors) => {
      let product = 1;
      for (let i = 0; i < factors; i++) product *= number - i;
      return Math.max(product, 0);
    };
    return (r, pattern) => {
      const j = ones(pattern);
      return (falling(m, j) * falling(k - m, r - j)) / falling(k, r);
    };
  }
  const independent = (q) => (r, pattern) => q ** ones(pattern) * (1 - q) ** (r - ones(pattern));
  const expit = (x) => 1 / (1 + Math.exp(-x));
  function sylvester(k) {
    const bits = 32 - Math.clz32(k);
    // Values 0, 1, 2 have the rows 1, 2, 3 = 1 xor 2; the value 3 has row 4. A set bit means that the row is not supported.
    return (r, pattern, values) => {
      let occurring = new Set([0]);
      for (let bit = 0; bit < bits; bit++) {
        const column = values.reduce((total, value, place) => total + ((((value + 1) >> bit) & 1) << place), 0);
        occurring = new Set([...occurring].flatMap((found) => [found, found ^ column]));
      }
      return occurring.has(2 ** r - 1 - pattern) ? 1 / occurring.size : 0;
    };
  }

  // name: "grr", "subset", "rappor", "oue", "hadamard", "hash"; size: M of subset, G of hash.
  function randomizer(name, { k, eps0, size }) {
    const found = { k, eps0, binary: name === "grr" && k === 2, everywhere: 0, references: ["x0", "x1", "x2"].slice(0, k) };
    if (name === "grr" || name === "subset") found.patterns = drawn(k, name === "grr" ? 1 : size);
    else if (name === "hadamard") {
      found.patterns = sylvester(k);
      found.everywhere = 2 ** -(32 - Math.clz32(k));
      found.references = ["x0", "x1", "x2", "x3"].slice(0, k);
    } else {
      const q = { hash: 1 / size, rappor: expit(-eps0 / 2), oue: expit(-eps0) }[name];
      if (q === undefined) throw new Error(`the calculator has no randomizer ${name}`);
      found.patterns = independent(q);
      if (name !== "hash") found.everywhere = q ** k;
      else if (k === 2) found.everywhere = q ** 2;
    }
    const [without, support] = [0, 1].map((pattern) => found.patterns(1, pattern, [0]));
    found.raised = 1 / (support + without * Math.exp(-eps0)); // c e^eps0
    found.base = found.raised * Math.exp(-eps0); // c
    found.support = support;
    return found;
  }

  // The distribution of G for the blanket (weights null), or if the remaining users hold values with these weights.
  function gains({ k, eps0, patterns, everywhere, raised, base }, eps, weights) {
    const numerators = [ // index: the report supports x0 (bit 0), x1 (bit 1)
      -Math.expm1(eps), Math.exp(eps) * Math.expm1(eps0 - eps),
      -Math.expm1(eps + eps0), -Math.exp(eps0) * Math.expm1(eps),
    ];
    const values = [], chances = [];
    const members = weights ? weights.map(([value]) => value) : [0, 1], r = members.length;
    for (let pattern = 0; pattern < 2 ** r; pattern++) {
      const chance = patterns(r, pattern, members);
      if (weights) {
        const share = weights.reduce((total, [, weight], i) => total + weight * ((pattern >> i) & 1), 0);
        const density = 1 + Math.expm1(eps0) * share;
        values.push(numerators[pattern & 3] / density);
        chances.push(base * density * chance);
      } else {
        values.push(numerators[pattern]);
        if (pattern === 3) chances.push(k === 2 && everywhere ? 0 : base * chance - base * everywhere);
        else chances.push(base * chance + (pattern === 0 ? raised * everywhere : 0));
      }
    }
    const possible = values.map((_, i) => i).filter((i) => chances[i] > 0);
    return [possible.map((i) => values[i]), possible.map((i) => chances[i])];
  }

  // The weights of x0, x1 and of a mixture's values.
  function weighted(mixture) {
    const weights = new Map([[0, 0], [1, 0]]);
    for (const [name, weight] of mixture) weights.set(Number(name.slice(1)), weight);
    return [...weights];
  }

  // log10 of both bounds for k-RR with k = 2. Where too many datasets are doubtful, they are far apart.
  const exactly = (eps, n, eps0, width) => binary.bracket(eps, n, eps0, 10 * width).map((log) => log / LN10);
  const far = ([low, high], width) => !(high - low <= Math.log10(1 + 20 * width));

  // log10 delta of the largest over these distributions of G.
  function bound(side, distributions, eps, n, eps0, width) {
    const moved = distributions.map(([values, chances]) => engine.outwards(values, chances, side, 16 + 2 * (values.length + eps + eps0)));
    const found = engine.logLargest(moved, n, width);
    return Math.min(0, (found[side > 0 ? 1 : 0] - Math.log(n)) / LN10);
  }

  // log10 of an upper bound on delta for every dataset; n does not count colluding users.
  function upper(own, eps, n, width = 1e-4) {
    if (eps >= own.eps0) return -Infinity;
    const exact = own.binary && exactly(eps, n, own.eps0, width);
    if (exact && !far(exact, width)) return exact[1];
    const found = bound(1, [gains(own, eps, null)], eps, n, own.eps0, width);
    return exact ? Math.min(exact[1], found) : found;
  }

  // log10 of a lower bound on the delta of the worst dataset.
  function lower(own, eps, n, width = 1e-4) {
    if (eps >= own.eps0) return -Infinity;
    if (own.binary) return exactly(eps, n, own.eps0, width)[0];
    const mixtures = own.references.map((name) => [[name, 1]]);
    for (const other of own.references.slice(1, 3)) {
      for (const share of MIXTURES) mixtures.push([["x0", share], [other, 1 - share]]);
    }
    return bound(-1, mixtures.map((mixture) => gains(own, eps, weighted(mixture))), eps, n, own.eps0, width);
  }

  return { randomizer, gains, upper, lower };
})();
