// Bounds on delta of the worst dataset for k-RR with k = 2, which lie closer together than those for every k: the method
// of tightshuffle/bounds/binary.py, which has the proof. Differences of large numbers are rearranged, as JavaScript has no
// extended precision. Logarithms are natural.
const binary = (() => {
  const ULP = 2 ** -52, DECAY = 60, PERIOD = 14, SHORTEST = 81, CLOSEST = 3, FIRST = 64, MOST = 3000, LEVELS = 4, WORDS = 9;
  const expit = (x) => 1 / (1 + Math.exp(-x));

  // One report's distribution (1 for x0) at the tilt theta, for a user who holds x0 (own = eps0) or x1 (own = -eps0): the
  // log of its moment generating function, and the relative entropy that the tilt costs, with the size of its terms.
  function tilted(theta, own) {
    const p = expit(own), one = expit(theta + own), zero = expit(-theta - own), log = Math.log1p(p * Math.expm1(theta));
    const gain = own > 0 ? -Math.log1p(expit(-own) * Math.expm1(-theta)) : theta - log; // log(one / p)
    return { one, zero, log, entropy: one * gain - zero * log, size: one * (own > 0 ? gain : theta + log) + zero * log };
  }

  // Points whose weight is below e^-DECAY are left out.
  function lastPoint(variance, widest, period) {
    const reach = (DECAY + Math.log(widest)) / 2 / Math.max(variance, 1e-9);
    return reach < 1 ? Math.ceil((Math.asin(Math.sqrt(reach)) * period) / Math.PI) : Infinity;
  }

  // What all datasets with about the same standard deviation of the count share: the points of the integral.
  function pointsOf(eps, eps0, root, widest) {
    const theta = Math.max(root, CLOSEST / widest), period = 2 * Math.floor((PERIOD * widest) / 2) + 1;
    const users = [tilted(theta, eps0), tilted(theta, -eps0)], d = theta - root, pole = -Math.expm1(-theta);
    const shifts = [Math.min(1, 8 / widest), -Math.min(theta, 1, 8 / widest)].map((shift) => {
      const h = theta + shift, fade = Math.abs(shift) * period, logs = [tilted(h, eps0).log, tilted(h, -eps0).log];
      const edge = Math.tanh(eps0 / 2) * Math.exp(h) + Math.expm1(eps) * Math.exp(logs[1]);
      return { shift, logs, log: Math.log(edge) - fade - Math.log(-Math.expm1(-fade)) };
    });
    // Points beyond are left out for every dataset of this standard deviation, which is at least widest / 2^(1 / LEVELS).
    const half = Math.min((period - 1) / 2, lastPoint(widest ** 2 / 4, widest, period)), known = new Float64Array(WORDS * (half + 1));
    for (let j = 0; j <= half; j++) {
      const u = (2 * Math.PI * j) / period, sine = Math.sin(u), versine = 2 * Math.sin(u / 2) ** 2;
      const fall = users.map(({ one, zero }) => 0.5 * Math.log1p(-2 * one * zero * versine));
      // The angle less its mean, computed with the rarer of both reports.
      const turn = users.map(({ one, zero }) => {
        const [rare, sign] = one < zero ? [one, 1] : [zero, -1];
        return sign * (Math.atan2(rare * sine, 1 - rare * versine) - rare * u);
      });
      const up = [Math.expm1(d) * (1 - versine) - versine, Math.exp(d) * sine];
      const down = [pole * (1 - versine) + versine, Math.exp(-theta) * sine], norm = (down[0] ** 2 + down[1] ** 2) / (j ? 2 : 1);
      const kernel = [(up[0] * down[0] + up[1] * down[1]) / norm, (up[1] * down[0] - up[0] * down[1]) / norm];
      known.set([u, versine, ...fall, ...turn, ...kernel, Math.hypot(...kernel)], WORDS * j);
    }
    return { theta, half, all: (period - 1) / 2, period, users, pole, d, shifts, known, widest };
  }

  // The function (a, c) => [low, high] of log delta, if `a` remaining users hold x0 and `c` hold x1.
  function logDeltaOf(eps, eps0) {
    const root = Math.log1p((Math.expm1(eps) * (1 + Math.exp(-eps0))) / -Math.expm1(eps - eps0));
    const crossings = [tilted(root, eps0), tilted(root, -eps0)], levels = new Map();
    const logFactor = -Math.log1p(Math.exp(-eps0)) + Math.log(-Math.expm1(eps - eps0)) + root;
    return (a, c) => {
      const spread = Math.sqrt(a * crossings[0].one * crossings[0].zero + c * crossings[1].one * crossings[1].zero);
      const level = Math.ceil(LEVELS * Math.log2(Math.max(spread, SHORTEST / PERIOD)));
      if (!levels.has(level)) levels.set(level, pointsOf(eps, eps0, root, 2 ** (level / LEVELS)));
      return integral(levels.get(level), a, c, crossings, logFactor);
    };
  }

  function integral({ theta, half, all, period, users, pole, d, shifts, known, widest }, a, c, crossings, logFactor) {
    const mean = ([x0, x1]) => c * x1.one - a * x0.zero; // less a, so that for large eps0 nothing is lost
    const variance = a * users[0].one * users[0].zero + c * users[1].one * users[1].zero;
    const rare = a * Math.min(users[0].one, users[0].zero) + c * Math.min(users[1].one, users[1].zero);
    const entropy = a * users[0].entropy + c * users[1].entropy, moved = a * users[0].zero + c * users[1].one;
    const magnitude = a * users[0].size + c * users[1].size + theta * moved + 1, slack = 1e-3 + 4 * ULP * moved;
    const crossing = mean(crossings), centre = mean(users), count = Math.min(lastPoint(variance, widest, period), half);
    // The count where delta's event begins is one of two, or of three where rounding may hide which.
    const first = Math.floor(crossing - slack) + 1, candidates = Math.floor(crossing + slack) + 2 - first + 1;
    const totals = [0, 0, 0];
    let size = 0;
    for (let j = 0; j <= count; j++) {
      const i = WORDS * j, u = known[i], bell = Math.exp(a * known[i + 2] + c * known[i + 3]);
      const angle = a * known[i + 4] + c * known[i + 5] + u * (centre - first);
      for (let t = 0; t < candidates; t++) {
        totals[t] += bell * (Math.cos(angle - t * u) * known[i + 6] - Math.sin(angle - t * u) * known[i + 7]);
      }
      size += bell * known[i + 8];
    }
    const [end, versine] = known.subarray(WORDS * count), units = 4 * ULP * (rare + Math.abs(centre - first) + 3);
    let lost = (size / period) * (1e-13 + units * end), low = -Infinity, high = -Infinity;
    if (count < all) lost += (Math.exp(-variance * versine) * (Math.exp(d) + 1)) / pole;
    for (let t = 0; t < candidates; t++) {
      const exponent = theta * (centre - first - t) - entropy, value = totals[t] / period;
      let error = lost;
      for (const { shift, logs, log } of shifts) {
        error += Math.exp(a * logs[0] + c * logs[1] - (theta + shift) * (a + first + t) - exponent + log - logFactor);
      }
      const base = exponent + logFactor, unsure = ULP * (16 * magnitude + 4 * Math.abs(base)) + 1e-12;
      if (value > error) low = Math.max(low, base + Math.log(value - error) - unsure);
      high = Math.max(high, value + error > 0 ? base + Math.log(value + error) + unsure : -Infinity);
    }
    return [low, high];
  }

  let last = {}; // upper and lower ask for the same bracket
  function bracket(...asked) {
    if (String(asked) !== last.asked) last = { asked: String(asked), found: search(...asked) };
    return last.found;
  }

  // [low, high] of log delta; high - low is at most log(1 + width), unless that takes more than about MOST datasets.
  function search(eps, n, eps0, width) {
    const remaining = n - 1, logDelta = logDeltaOf(eps, eps0), goal = Math.log1p(width);
    let best = -Infinity, surest = -Infinity, dropped = -Infinity, lookedAt = 0, blocks = [];
    function look(m) {
      const [low, high] = logDelta(m, remaining - m);
      [best, surest] = [Math.max(best, high), Math.max(surest, low)];
      lookedAt++;
    }
    const ends = [...new Set(Array.from({ length: FIRST + 1 }, (_, i) => Math.floor((remaining * i) / FIRST)))];
    ends.forEach(look);
    ends.slice(1).forEach((last, i) => blocks.push([ends[i], last, Infinity]));
    for (;;) {
      // The users of a block are left out, whichever value they hold: that bounds delta of every dataset in it.
      const doubtful = [], inside = blocks.filter(([first, last]) => last - first > 1);
      for (const [first, last, before] of inside) {
        const bound = Math.min(before, logDelta(first, remaining - last)[1]);
        if (bound > surest + goal && lookedAt <= MOST) doubtful.push([first, last, bound]);
        else dropped = Math.max(dropped, bound);
      }
      if (!doubtful.length) return [Math.min(surest, 0), Math.min(Math.max(best, dropped), 0)];
      blocks = doubtful.flatMap(([first, last, bound]) => {
        const middle = Math.floor((first + last) / 2);
        look(middle);
        lookedAt += 2;
        return [[first, middle, bound], [middle, last, bound]];
      });
    }
  }

  return { bracket };
})();
