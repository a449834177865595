"use strict";
// Bounds on delta of k-RR where several groups differ in eps0, users may not take part, and the shuffler adds
// dummies. The method is that of tightshuffle/collection.py and tightshuffle/bounds/cover.py: a random number J - 1 of
// uniform reports hides the user's own, and delta is the expectation of (G_1 + ... + G_J)_+ / J.
const cover = (() => {
  const ULP = 2 ** -52, OPERATIONS = 3, LN10 = Math.log(10);
  const FEW = 64; // reports that are summed one by one
  const UNLIKELY = 45, NODES = 24; // end of the integral of 1/J = e^(-J x) over x, and nodes of its quadrature
  const sum = (list) => list.reduce((total, x) => total + x, 0);
  const mean = (parts) => sum(parts.map(([n, share]) => n * (share || 1)));

  // Legendre's polynomials of degree n and n - 1 at x.
  function legendre(n, x) {
    let before = 1, now = x;
    for (let i = 1; i < n; i++) [before, now] = [now, ((2 * i + 1) * x * now - i * before) / (i + 1)];
    return [now, before];
  }

  // [node, weight] on [0, UNLIKELY]: Lobatto's quadrature, which never gives too little here (side 1), or Gauss', which never
  // gives too much (-1). Lobatto's inner nodes are the zeros of P' for degree NODES - 1, Gauss' those of P. Newton's method.
  const QUADRATURE = Object.fromEntries([1, -1].map((side) => {
    const n = side > 0 ? NODES - 1 : NODES;
    const found = Array.from({ length: NODES }, (_, i) => {
      let x = side > 0 ? -Math.cos((Math.PI * i) / n) : -Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
      for (let step = 0; step < 50; step++) {
        const [now, before] = legendre(n, x), slope = (n * (before - x * now)) / (1 - x * x);
        if (side > 0 && (i === 0 || i === n)) return [Math.sign(x), 2 / (NODES * n)];
        x -= side > 0 ? slope / ((2 * x * slope - n * (n + 1) * now) / (1 - x * x)) : now / slope;
      }
      const [now, before] = legendre(n, x), slope = (n * (before - x * now)) / (1 - x * x);
      return [x, side > 0 ? 2 / (NODES * n * now ** 2) : 2 / ((1 - x * x) * slope ** 2)];
    });
    return [side, found.map(([x, weight]) => [((x + 1) * UNLIKELY) / 2, (weight * UNLIKELY) / 2])];
  }));

  // Fewer reports (side 1) or more, by more than rounding moved the parts.
  function rounded(parts, side) {
    const moved = 1 - side * 8 * OPERATIONS * ULP;
    return parts.map(([n, share]) => (share === 0 ? [n * moved, 0] : [n, share === 1 ? 1 : Math.min(share * moved, 1)]));
  }

  // log of a bound on sum_j P(J = j) E[(G_1 + ... + G_j)_+] / j, for J - 1 with these parts.
  function logDelta(values, probabilities, given, side, width) {
    const parts = rounded(given.filter(([n]) => n > 0), side), index = side > 0 ? 1 : 0;
    const most = Math.ceil(mean(parts) + 12 * Math.sqrt(mean(parts) + 1) + 15);
    if (most <= FEW) return termByTerm(values, probabilities, parts, side, most, width);
    const copies = Math.max(engine.tiltedCopies(values, probabilities, [...parts, [1, 1]]), 1);
    let total = -Infinity;
    QUADRATURE[side].forEach(([node, weight], place) => {
      const x = node / copies, t = Math.exp(-x), less = Math.expm1(-x);
      const thinned = parts.map(([n, share]) => (share === 0 ? [n * t, 0] : [n, (share * t) / (1 - share + share * t)]));
      const factor = sum(parts.map(([n, share]) => n * (share === 0 ? less : share === 1 ? -x : Math.log1p(share * less))));
      const log = engine.logPositivePart(values, probabilities, [...thinned, [1, 1]], width)[index] + factor - x;
      total = engine.logAdd(total, log + Math.log(weight / copies));
      // Beyond the last node 1 / J is at most 1: the integral of e^(-J x) from there on is at most e^(-J x).
      if (side > 0 && place === NODES - 1) total = engine.logAdd(total, log);
    });
    return total + side * ULP * (OPERATIONS * (mean(parts) + 12 * Math.sqrt(mean(parts)) + 60) + 100);
  }

  // The probabilities of 0, 1, ..., most reports, to about 1e-12.
  function chancesOf(parts, most) {
    let found = [1];
    for (const [n, share] of parts) {
      // Powers of (1 - share + share t), or of e^(t - 1), as a series in t: each coefficient from the one before.
      const one = [share === 0 ? -n : n * Math.log1p(-share)]; // logarithms
      const odds = Math.log(share) - Math.log1p(-share);
      for (let j = 1; j <= most; j++) one.push(one[j - 1] + (share === 0 ? Math.log(n / j) : Math.log((n - j + 1) / j) + odds));
      const chances = one.map((log, j) => (share === 1 ? Number(j === n) : share === 0 || j <= n ? Math.exp(log) : 0));
      found = Array.from({ length: most + 1 }, (_, j) =>
        sum(found.slice(0, j + 1).map((chance, i) => chance * (chances[j - i] ?? 0))));
    }
    return Array.from({ length: most + 1 }, (_, j) => found[j] ?? 0);
  }

  function termByTerm(values, probabilities, parts, side, most, width) {
    // Rounding, and numbers too small for a double.
    const chances = chancesOf(parts, most).map((chance) =>
      (side > 0 ? chance * (1 + 1e-11) + 1e-300 : Math.max(chance * (1 - 1e-11) - 1e-300, 0)));
    if (side > 0) chances[most] += Math.max(1 - sum(chances), 0) + 1e-12; // more reports hide the user at least as well
    return chances.reduce((total, chance, j) => (chance > 0
      ? engine.logAdd(total, engine.logPositivePart(values, probabilities, j + 1, width)[side > 0 ? 1 : 0] + Math.log(chance / (j + 1)))
      : total), -Infinity);
  }

  // --- collections ------------------------------------------------------------------------------------------

  const truthless = (eps0, k) => Math.exp(-eps0) / (1 + (k - 1) * Math.exp(-eps0)); // q of k-RR

  // log10 of a bound on delta for a user of the group at this place, who takes part: for every dataset (side 1), or of the
  // dataset where all remaining users' values are drawn at random (-1). groups: { users, eps0, share }, users without the
  // colluding ones. added: dummies in all; poisson: their mean number for each value.
  function bound(side, { k, groups, added, poisson }, place, eps, width = 1e-4) {
    const { eps0 } = groups[place];
    if (eps >= eps0) return -Infinity;
    const q = truthless(eps0, k), unit = k * q;
    const gains = [unit * Math.exp(eps) * Math.expm1(eps0 - eps), -unit * Math.expm1(eps + eps0), -unit * Math.expm1(eps)];
    const law = engine.outwards(gains, [1 / k, 1 / k, (k - 2) / k], side, 64 + 2 * (eps + eps0));
    const uniform = ({ eps0: own, share }) => share * (side > 0 ? Math.min(k * truthless(own, k), 1) : 1);
    const parts = groups.map((group, i) => [group.users - (i === place), uniform(group)]);
    parts.push([added, 1], [k * poisson, 0]);
    return Math.min(logDelta(...law, parts, side, width) / LN10, 0);
  }

  // eps of a user of the group at this place, at this delta: proven for every dataset (side 1), or no smaller one is (-1).
  const epsilon = (side, collection, place, log10Delta) =>
    beside.smallestEps((eps, width) => bound(side, collection, place, eps, width), log10Delta, collection.groups[place].eps0, side);

  return { bound, epsilon };
})();
