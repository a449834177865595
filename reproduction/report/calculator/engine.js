"use strict";
// Proven lower and upper bounds on log E[(G_1 + ... + G_n)_+], for one distribution of G at a time. The method is that of
// tightshuffle/numerics/positive_part.py, which explains why rounding errors always go to
// the safe side. Its round_up is side 1 or -1 here. n is a number of copies of G, or a list of parts [n, share]: the number
// of copies is then a sum of independent Binomial(n, share) numbers, or Poisson ones of mean n where the share is 0.
const engine = (() => {
  const ULP = 2 ** -52, OPERATIONS = 24, ATTEMPTS = 8, MOST_NODES = 2 ** 20, PAIRED = 8, UNLIKELY = 42, MOST_USERS = 1e12;
  const COARSE = 0.1, ROUGH = 1e-3, FEW_NODES = 2 ** 16; // COARSE: width that compares distributions; from ROUGH on, few nodes are taken
  const FEW_ATOMS = 4000, SOME_ATOMS = 5e4, MOST_ATOMS = 2e6, MOST_COUNTED = 4000;
  const LENGTHS = [6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 32, 40, 60, 100, 200, 400, 1000];
  const SHIFTS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 13];

  const sum = (list) => list.reduce((total, x) => total + x, 0);
  const dot = (one, other) => one.reduce((total, x, i) => total + x * other[i], 0);
  // The sum as if computed without rounding: Shewchuk's partial sums, which do not overlap.
  function exactSum(list) {
    let parts = [];
    for (let total of list) {
      const kept = [];
      for (const part of parts) {
        const [big, small] = Math.abs(total) < Math.abs(part) ? [part, total] : [total, part];
        total = big + small;
        kept.push(small - (total - big));
      }
      parts = [...kept.filter((part) => part), total];
    }
    return sum(parts);
  }
  const clip = (x, low, high) => Math.min(Math.max(x, low), high);
  // log x, moved to one side by more than the rounding error of the sum in which it stands.
  const logTo = (side, x) => Math.log(x) + side * ULP * (OPERATIONS + 4 * Math.abs(Math.log(x)));
  const logAdd = (a, b) => {
    const top = Math.max(a, b);
    return Math.abs(top) === Infinity ? top : top + Math.log1p(Math.exp(Math.min(a, b) - top));
  };

  // [low, high], from the values and probabilities of one G and n. If the probabilities
  // sum to less than 1, G = 0 has the remainder.
  const logPositivePart = (values, probabilities, n, width = 1e-4) => logLargest([[values, probabilities]], n, width);

  // About how many copies of G there are where (G_1 + ... + G_n)_+ has its expectation.
  function tiltedCopies(values, probabilities, parts) {
    const possible = values.map((x, i) => (probabilities[i] > 0 ? x : 0));
    return Math.max(...possible) > 0 ? atSaddle(possible, probabilities, parts).copies : 1;
  }

  // [low, high] of the largest over several distributions. Most are smaller by Chernoff's bound or a coarse bracket.
  function logLargest(distributions, n, width) {
    const points = [], parts = typeof n === "number" ? [[n, 1]] : n;
    for (const [values, probabilities] of distributions) {
      const possible = values.map((x, i) => (probabilities[i] > 0 ? x : 0)), largest = Math.max(...possible);
      if (largest > 0) points.push(atSaddle(possible.map((x) => Math.max(x, -10 * MOST_USERS * largest)), probabilities, parts));
    }
    points.sort((one, other) => logChernoff(other) - logChernoff(one));
    let low = -Infinity, high = -Infinity;
    for (const point of points) {
      if (logChernoff(point) < low || (low > -Infinity && bracket(point, COARSE)[1] < low)) continue;
      const found = bracket(point, width);
      [low, high] = [Math.max(low, found[0]), Math.max(high, found[1])];
    }
    return [low, high];
  }

  // E[S_+] <= M(theta)^n / (e theta).
  const logChernoff = ({ base, rounding, theta }) => base + rounding - 1 + logTo(1, 1 / theta);

  // The distribution, moved towards a larger (1) or smaller (-1) E[S_+] by more than its rounding error.
  function outwards(values, probabilities, side, ulps) {
    const up = 1 + ulps * ULP;
    const moved = values.map((x) => (x > 0 === side > 0 ? x * up : x / up));
    if (side > 0) {
      let above = values.map((x, i) => (x > 0 ? probabilities[i] * up : 0));
      const below = values.map((x, i) => (x > 0 ? 0 : probabilities[i] / up));
      const total = Math.max(sum(above), 1);
      above = above.map((x) => x / total);
      const room = Math.max(1 - sum(above), 0), mass = sum(below), part = mass > room ? room / mass : 1;
      return [moved, above.map((x, i) => x + below[i] * part)];
    }
    const kept = probabilities.map((p) => p / up);
    const rest = Math.max(0, Math.min(sum(probabilities) * (up - 1 / up), 1 - sum(kept)));
    const smallest = values.indexOf(Math.min(...values));
    if (values[smallest] < 0) kept[smallest] += rest;
    return [moved, kept];
  }

  function atSaddle(g, p, parts) {
    const missing = Math.max(exactSum([1, ...p.map((x) => -x)]), 0), theta = saddle(g, p, missing, parts);
    const { mgf, weights, mean, variance } = moments(g, p, missing, theta), logMgf = mgf.log;
    const { rates, copies, spread } = summed(parts, mgf, mean, variance);
    const logPowers = parts.map((part) => logPower(part, mgf)), base = sum(logPowers);
    const few = OPERATIONS + g.length, far = logMgf < -Math.LN2;
    const units = g.map((x) => few + 2 * theta * Math.abs(x));
    const term = (x, i) => (far ? weights[i] : p[i] * Math.abs(Math.expm1(theta * x)) * Math.exp(-logMgf));
    const lost = g.map((x, i) => few * term(x, i) + 2 * weights[i] * theta * Math.abs(x));
    const sigma = Math.sqrt(spread + 2 / theta ** 2);
    const kept = far ? sum(parts.map(([n, share], i) => (share > 0 ? few * (n - rates[i]) : 0))) : 0;
    const rounding = ULP * (copies * sum(lost) + 4 * sum(logPowers.map(Math.abs)) + few + kept);
    return { g, p, missing, parts, rates, copies, logPowers, theta, logMgf, weights, units, sigma, base, rounding };
  }

  // M(theta), its logarithm, and M(theta) - 1: 1 + a sum, or the sum of all terms where 1 + a sum cancels.
  function mgfAt(g, p, missing, theta) {
    const excess = sum(g.map((x, i) => p[i] * Math.expm1(theta * x)));
    if (!(excess < -0.5)) return { value: 1 + excess, log: Math.log1p(excess), excess };
    const value = missing + sum(g.map((x, i) => p[i] * Math.exp(theta * x)));
    return { value, log: Math.log(value), excess };
  }

  // M(theta), and the tilted weights of the values with their mean and variance.
  function moments(g, p, missing, theta) {
    const mgf = mgfAt(g, p, missing, theta);
    // 1 + expm1 has lost the digits of a small e^x.
    const grown = (x, chance) => (x < -1 ? chance * Math.exp(x) : chance * Math.expm1(x) + chance);
    const weights = g.map((x, i) => grown(theta * x, p[i]) / mgf.value);
    const mean = dot(weights, g);
    const variance = dot(weights, g.map((x) => (x - mean) ** 2)) + (missing / mgf.value) * mean ** 2;
    return { mgf, weights, mean, variance };
  }

  // log of M^n for one part: of (1 - s + s M)^n, or of e^(n (M - 1)).
  function logPower([n, share], { value, log, excess }) {
    if (share === 1) return n * log;
    if (share === 0) return n * excess;
    return n * (share * excess < -0.5 ? Math.log(1 - share + share * value) : Math.log1p(share * excess));
  }

  // Tilted copies of each part and of all, and mean and variance of S, from the mean and variance of one G.
  function summed(parts, { value }, mean, variance) {
    const tilted = parts.map(([, share]) => (share === 1 ? 1 : (share * value) / (1 - share + share * value)));
    const rates = parts.map(([n, share], i) => n * (share === 0 ? value : tilted[i])), copies = sum(rates);
    const random = sum(rates.map((rate, i) => rate * (1 - tilted[i])));
    return { rates, copies, total: copies * mean, spread: copies * variance + random * mean ** 2 };
  }

  // theta > 0 near the minimum of n log M(theta) - 2 log theta, by Newton's method in log theta.
  function saddle(g, p, missing, parts) {
    const copies = sum(parts.map(([n, share]) => n * (share || 1)));
    const first = copies * dot(p, g), second = copies * dot(p, g.map((x) => x * x));
    const start = first < 0 ? (Math.sqrt(first ** 2 + 8 * second) - first) / (2 * second) : 1.5 / Math.sqrt(second);
    let ceiling = Math.log(690 / Math.max(...g)), floor = -745;
    let x = Math.min(Math.log(start), ceiling);
    for (let step = 0; step < 200; step++) {
      const theta = Math.exp(x), { mgf, mean, variance } = moments(g, p, missing, theta);
      const { total, spread } = summed(parts, mgf, mean, variance);
      const slope = total * theta - 2, curvature = spread * theta ** 2 + total * theta;
      if (slope > 0) ceiling = Math.min(ceiling, x);
      else floor = Math.max(floor, x);
      const before = x;
      x += curvature > 0 ? clip(-slope / curvature, -3, 3) : -Math.sign(slope);
      if (!(floor < x && x < ceiling)) x = (floor + ceiling) / 2;
      if (!(Math.abs(x - before) >= 1e-3)) break;
    }
    return Math.exp(x);
  }

  function bracket(point, width) {
    const { base, rounding, theta, sigma } = point;
    const chernoff = logChernoff(point);
    let low = -Infinity, high = chernoff;
    const open = () => (high - low - 2 * rounding) / Math.log1p(width);
    const depth = () => UNLIKELY + clip(chernoff - low, 0, 600);
    function sumBox(most, unlikely) {
      if (point.parts.some(([, share]) => share !== 1)) return false; // a random number of copies
      const box = boxOf(point, unlikely);
      const asked = box.atoms <= most && sum(box.last) <= MOST_COUNTED;
      if (asked) {
        const found = sumOfBox(point, box);
        low = Math.max(low, found[0]);
        high = Math.min(high, found[1]);
      }
      return asked;
    }
    if (!sumBox(FEW_ATOMS, UNLIKELY)) {
      let tau = Math.sqrt(width / 2) / theta, before = Infinity;
      let guess = -Math.log(theta ** 2 * sigma * Math.sqrt(2 * Math.PI));
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const found = contour(point, tau, guess, width);
        low = Math.max(low, found[0]);
        high = Math.min(high, found[1]);
        guess = Math.min(guess, high - base);
        if (attempt === 0 && open() > 1) sumBox(SOME_ATOMS, depth());
        if (open() > 1) high = Math.min(high, withoutZero(point, tau, found[1]));
        const excess = open();
        tau /= clip(1.1 * Math.sqrt(Math.max(excess, 0)), 1.2, 6);
        if (found[2] || !(excess > 1 && (excess < 0.8 * before || excess === Infinity))) break;
        before = excess;
      }
    }
    if (open() > 1) sumBox(MOST_ATOMS, depth());
    return [low, high];
  }

  // high bounds log A(tau). Without the contribution of U where all n gains are 0, it still bounds log E[S_+].
  function withoutZero({ p, parts }, tau, high) {
    const most = Math.min(sum(p) * (1 + ULP * (p.length + OPERATIONS)), 1);
    const logZero = sum(parts.map(([n, share]) => n * (share === 0 ? -most : Math.log1p(-share * most))));
    let logExcess = Math.log(tau / Math.sqrt(2 * Math.PI)) + logZero;
    logExcess -= ULP * OPERATIONS * (1 + Math.abs(logExcess) + Math.abs(logZero));
    const slack = ULP * (Math.abs(high) + 1);
    return high + slack + Math.log1p(-Math.exp(Math.min(logExcess - high - slack, -ULP)));
  }

  // --- the contour integral ---------------------------------------------------------------------------------

  function contour(point, tau, guess, width) {
    const { theta, sigma, base, rounding } = point;
    const allowed = guess + Math.log(width * 1e-3);
    const aliases = logAliases(point, tau);
    const enough = aliases.findIndex((alias) => alias <= allowed);
    const column = enough < 0 ? LENGTHS.length - 1 : enough;
    const h = (2 * Math.PI) / (LENGTHS[column] * sigma);
    const logTail = (reach) => -Math.log(Math.PI) - 3 * Math.log(reach) - 2 * Math.log(tau);
    let reach = 1 / tau;
    for (let i = 0; i < 6; i++) reach = Math.sqrt(2 * Math.max(logTail(reach) - allowed, 0.5)) / tau;
    const last = Math.ceil(reach / h);
    reach = last * h;
    const tail = Math.exp(logTail(reach) - (reach * tau) ** 2 / 2);
    const threshold = 1 - allowed - Math.log(2 * theta);
    const [distance, half] = windowsOf(point, h, last, threshold);
    const skipped = half < reach ? Math.exp(-threshold) * (0.5 / theta + h / theta ** 2) : 0;
    const windows = half < reach ? Math.floor(reach / distance) + 2 : 1;
    const most = width < ROUGH ? MOST_NODES : FEW_NODES;
    if (!(Math.min(windows * (2 * half / h + 1), last + 1) <= most)) return [-Infinity, Infinity];
    const { sums, errors } = sumOfNodes(point, tau, h, last, distance, half, windows);
    const wrong = tail + skipped;
    const growth = [Math.exp((theta * tau) ** 2 / 2), Math.exp(2 * (theta * tau) ** 2)];
    const above = growth[0] * (sums[0] + errors[0] + wrong);
    const below = 2 * growth[0] * (sums[0] - errors[0] - wrong - Math.exp(aliases[column]))
      - growth[1] * (sums[1] + errors[1] + wrong);
    return [
      below > 0 ? base - rounding + logTo(-1, below) : -Infinity,
      above > 0 && above < Infinity ? base + rounding + logTo(1, above) : Infinity,
      errors[0] > sums[0] / 2, // A smaller tau has no smaller rounding errors: it cannot make `below` positive.
    ];
  }

  // log of the bound on all aliases over M(theta)^n e^(theta^2 tau^2 / 2), for each length.
  function logAliases({ g, p, missing, parts, theta, logPowers, sigma, rounding }, tau) {
    const shifts = SHIFTS.map((s) => s / sigma);
    const down = [...shifts.map((s) => Math.min(s, 0.9 * theta)), ...[0.5, 0.7, 0.95].map((x) => x * theta)];
    const bounds = [[shifts, 1], [down, -1]].map(([list, turn]) => {
      const chernoff = list.map((s) => {
        const t = theta + turn * s, mgf = mgfAt(g, p, missing, t);
        const grown = sum(parts.map((part, i) => logPower(part, mgf) - logPowers[i]));
        return grown - Math.log(t) - 1 + ((t ** 2 - theta ** 2) * tau ** 2) / 2 + 2 * rounding;
      });
      return LENGTHS.map((length) => list.reduce((least, s, i) => {
        const decay = s * length * sigma, bound = chernoff[i] - decay - Math.log(-Math.expm1(-decay));
        return bound < least ? bound : least;
      }, Infinity));
    });
    return bounds[0].map((one, i) => logAdd(one, bounds[1][i]));
  }

  // Distance and half width of the windows that remain with the best pair of values; half = V means all nodes.
  function windowsOf({ g, missing, parts, rates, weights, logMgf }, h, last, threshold) {
    // The M(z)^n of each part shrinks; a copy that does not occur counts as the value 0.
    const tilted = parts.map(([n, share], i) => (share > 0 ? rates[i] / n : 0)), both = dot(rates, tilted);
    const none = missing * Math.exp(-logMgf) + sum(rates.map((rate, i) => rate * (1 - tilted[i]))) / both;
    const likeliest = [...g, 0].map((x, i) => [x, [...weights, none][i]]);
    likeliest.sort((one, other) => other[1] - one[1]).splice(PAIRED);
    let cost = Infinity, found = [2 * Math.PI, Infinity];
    likeliest.forEach(([x, v], i) => likeliest.slice(i + 1).forEach(([y, w]) => {
      const gap = Math.abs(x - y), sine = threshold / (2 * both * v * w);
      if (!(sine < 1 && gap > 1e-150)) return;
      const half = (2 / gap) * Math.asin(Math.sqrt(sine)), distance = (2 * Math.PI) / gap;
      const own = (Math.floor((last * h) / distance) + 2) * ((2 * half) / h + 1);
      if (own < cost) [cost, found] = [own, [distance, half]];
    }));
    return [found[0], cost >= last ? last * h : found[1]];
  }

  // The sums for tau and 2 tau, over M(theta)^n e^(theta^2 tau^2 / 2), and bounds on their rounding errors.
  function sumOfNodes({ g, parts, rates, theta, weights, units }, tau, h, last, distance, half, windows) {
    const sums = [0, 0], errors = [0, 0], sizes = [0, 0];
    let count = 0, done = -1;
    for (let window = 0; window < windows; window++) {
      const centre = window * distance;
      const stop = Math.min(Math.floor((centre + half) / h), last);
      for (let j = Math.max(Math.ceil((centre - half) / h), done + 1, 0); j <= stop; j++) {
        const u = j * h;
        let real = 0, imaginary = 0, lost = 0;
        for (let i = 0; i < g.length; i++) {
          const angle = u * g[i], w = weights[i], sine = Math.sin(angle / 2);
          real -= 2 * w * sine * sine;
          imaginary += w * Math.sin(angle);
          lost += w * units[i] * Math.min(Math.abs(angle), 2) + 3 * w * Math.abs(angle);
        }
        let phase = 0, logSize = 0, off = 4 * OPERATIONS;
        for (let i = 0; i < parts.length; i++) {
          const [n, share] = parts[i], rate = rates[i], tilted = share > 0 ? rate / n : 0;
          const x = tilted * real, y = tilted * imaginary, modulus = Math.max(2 * x + x ** 2 + y ** 2, -1 + 1e-300);
          const turn = share > 0 ? n * Math.atan2(y, 1 + x) : rate * imaginary;
          const log = share > 0 ? n * 0.5 * Math.log1p(modulus) : rate * real;
          phase += turn;
          logSize += log;
          off += (rate * (lost + 2 * (2 * Math.abs(real) + (tilted || 1) * (real ** 2 + imaginary ** 2)))) / (1 + modulus);
          off += 4 * (Math.abs(turn) + Math.abs(log));
        }
        const size = (Math.exp(logSize) / (theta ** 2 + u ** 2)) * ((j ? 2 : 1) * h) / (2 * Math.PI);
        const error = Math.expm1(Math.min(ULP * off, 700)), turned = phase - 2 * Math.atan2(u, theta);
        for (let i = 0; i < 2; i++) {
          const t = (i + 1) * tau, bell = size * Math.exp(-((u * t) ** 2) / 2);
          sums[i] += bell * Math.cos(turned + theta * u * t ** 2);
          errors[i] += bell * error;
          sizes[i] += bell;
        }
        count++;
      }
      done = Math.max(done, stop);
    }
    return { sums, errors: errors.map((error, i) => error + ULP * count * sizes[i]) };
  }

  // --- the sum over a box of counts -------------------------------------------------------------------------

  // Values, including 0, the most probable last; and for each of the first ones a range of how many users have it.
  function boxOf({ g, p, missing, copies, theta, logMgf }, unlikely) {
    const total = exactSum(p), logP = [...p.map(Math.log), total < 0.5 ? Math.log1p(-total) : Math.log(missing)];
    const values = [...g, 0].map((x, i) => ({ x, logP: logP[i], logWeight: logP[i] + theta * x - logMgf }));
    values.sort((one, other) => (one.logWeight < other.logWeight ? -1 : one.logWeight > other.logWeight ? 1 : 0));
    const first = [], last = [];
    for (const { logWeight } of values.slice(0, -1)) {
      // Both ends where Chernoff's bound of a Poisson distribution, x log(x / m) - x + m, reaches `unlikely`.
      const expected = copies * Math.exp(logWeight);
      first.push(expected > unlikely ? Math.floor(poissonEnd(expected, unlikely, -1)) : 0);
      last.push(expected > 0 ? Math.min(Math.ceil(poissonEnd(expected, unlikely, 1)), copies) : 0);
    }
    return { values, first, last, atoms: first.reduce((product, x, i) => product * (last[i] - x + 1), 1) };
  }

  // The x on that side of m where x log(x / m) - x + m = unlikely, by bisection in log(x / m).
  function poissonEnd(mean, unlikely, side) {
    let near = 0, far = side;
    const cost = (y) => mean * (Math.exp(y) * (y - 1) + 1) - unlikely;
    while (cost(far) < 0 && Math.abs(far) < 800) far *= 2;
    for (let i = 0; i < 60; i++) {
      const middle = (near + far) / 2;
      if (cost(middle) < 0) near = middle;
      else far = middle;
    }
    return mean * Math.exp(far);
  }

  const LOG_FACTORIALS = [0];
  for (let x = 1, part = 0; x <= MOST_COUNTED; x++) {
    // Kahan's sum: as exact as the logarithms in it.
    const term = Math.log(x) - part, total = LOG_FACTORIALS[x - 1] + term;
    part = total - LOG_FACTORIALS[x - 1] - term;
    LOG_FACTORIALS.push(total);
  }

  function relativeEntropy(share, chance) {
    const part = (x, y) => (x > 0 ? x * Math.log(x / y) : 0);
    return part(share, chance) + part(1 - share, 1 - chance);
  }

  // Bounds: the sum over the box. The upper bound adds the part outside the box.
  function sumOfBox(point, { values, first, last }) {
    const n = point.copies;
    let outside = 0;
    first.forEach((a, i) => {
      const chance = Math.min(Math.exp(values[i].logWeight), 1);
      if (a > 0) outside += Math.exp(-n * relativeEntropy((a - 1) / n, chance));
      if (last[i] < n && chance > 0) outside += Math.exp(-n * relativeEntropy((last[i] + 1) / n, chance));
    });
    const high = outside > 0 ? logChernoff(point) + logTo(1, outside) : -Infinity;

    const size = values.length, x = [...first, 0], own = values.map(({ logP }) => (logP > -Infinity ? logP : 0));
    const falling = [0]; // log of n! / (n - counted)!
    for (let i = 0; i < sum(last); i++) falling.push(falling[i] + Math.log(n - i));
    let atoms = 0, top = -Infinity, below = 0, above = 0;
    for (let place = 0; place >= 0;) {
      let counted = 0, s = 0, reach = 0;
      for (let i = 0; i < size - 1; i++) counted += x[i];
      x[size - 1] = n - counted;
      for (let i = 0; i < size; i++) {
        s += values[i].x * x[i];
        reach += Math.abs(values[i].x) * x[i];
      }
      const slack = ULP * (size + 4) * reach;
      if (counted <= n && s + slack > 0) {
        let exponent = 0, units = 0, factorials = 0;
        for (let i = 0; i < size; i++) {
          exponent += own[i] * x[i];
          units += 4 * Math.abs(own[i]) * x[i];
          if (i < size - 1) factorials += LOG_FACTORIALS[x[i]];
        }
        exponent += falling[counted] - factorials;
        const lost = ULP * (units + (counted + 4) * falling[counted] + 8 * factorials + OPERATIONS);
        if (exponent > top + 50) {
          const shrink = Math.exp(top - exponent);
          [top, below, above] = [exponent, below * shrink, above * shrink];
        }
        below += Math.max(s - slack, 0) * Math.exp(exponent - top - lost);
        above += (s + slack) * Math.exp(exponent - top + Math.min(lost, 700));
        atoms++;
      }
      for (place = size - 2; place >= 0 && x[place] === last[place]; place--) x[place] = first[place];
      if (place >= 0) x[place]++;
    }
    if (!atoms) return [-Infinity, high];
    const end = ULP * (4 * Math.abs(top) + 4 * atoms);
    return [below > 0 ? top + logTo(-1, below) - end : -Infinity, logAdd(high, top + logTo(1, above) + end)];
  }

  return { logPositivePart, logLargest, tiltedCopies, outwards, logAdd };
})();
