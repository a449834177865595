// The literature's bounds, the published formula, the Gaussian mechanism, expected errors, and the search for eps,
// eps0 or n. Logarithms are natural unless a name contains log10.
const beside = (() => {
  const LN10 = Math.log(10), ROUGH = 1e-3, FAR = 0.02; // FAR: in log10 delta, more than a rough bracket is wide
  const logExpm1 = (x) => (x > 40 ? x : Math.log(Math.expm1(x)));

  // --- bounds of the literature: log10 delta, NaN where a theorem does not apply ------------------------------

  function clones(eps, { n, eps0 }, stronger) {
    const logChance = stronger ? Math.log(2) - eps0 - Math.log1p(Math.exp(-eps0)) : -eps0;
    const logUnit = Math.log(2) - logChance - eps0 - Math.log1p(Math.exp(-eps0));
    const gain = Math.exp(logUnit + eps0) * -Math.expm1(eps - eps0);
    const loss = Math.exp(logUnit + eps + eps0) * Math.expm1(-eps - eps0);
    const half = Math.exp(logChance) / 2;
    const law = engine.outwards([gain, loss], [half, half], 1, 16 + 4 * (eps + eps0));
    return Math.min((engine.logPositivePart(...law, n)[1] - Math.log(n)) / LN10, 0);
  }

  function erlingsson(eps, { n, eps0 }) {
    const logDelta = -n * (eps / (12 * eps0)) ** 2;
    return n >= 1000 && eps0 < 0.5 && logDelta < Math.log(0.01) ? logDelta / LN10 : NaN;
  }

  function feldman(eps, { n, eps0 }) {
    const share = Math.exp(eps0 - Math.log(n));
    const root = Math.max(Math.expm1(eps) / (8 * Math.tanh(eps0 / 2)) - share, 0);
    const logDelta = Math.min(Math.log(4) - root * (root / share), 0);
    return 16 * share * (Math.log(2) - logDelta) <= 1 ? logDelta / LN10 : NaN;
  }

  function balleHoeffding(eps, { n, k, eps0 }) {
    const total = 1 + (k - 1) * Math.exp(-eps0), gamma = (k * Math.exp(-eps0)) / total;
    const truthful = -Math.expm1(-eps0) / total, a = -Math.expm1(-eps), width = truthful * k * (1 + Math.exp(-eps));
    const fall = -Math.expm1(-2 * (a / width) ** 2);
    const logDelta = eps + 2 * Math.log(width) - Math.log(4 * a * gamma * n) + n * Math.log1p(-gamma * fall);
    return Math.min(logDelta, 0) / LN10;
  }

  function balleBennett(eps, { n, k, eps0 }) {
    const total = 1 + (k - 1) * Math.exp(-eps0), gamma = (k * Math.exp(-eps0)) / total;
    const truthful = -Math.expm1(-eps0) / total, a = -Math.expm1(-eps);
    const largest = (-k * Math.expm1(eps - eps0) * Math.exp(-eps)) / total;
    const square = gamma * (2 - gamma) * a ** 2 + truthful ** 2 * k * (1 + Math.exp(-2 * eps));
    const u = (a * largest) / square;
    const phi = u > 1e-4 ? (1 + u) * Math.log1p(u) - u : (u * u) / 2 - u ** 3 / 6 + u ** 4 / 12;
    const exponent = (square / largest ** 2) * phi;
    const gain = n * Math.log1p((gamma / truthful) * Math.exp(-exponent));
    const grown = exponent > 600 ? Math.log((n * gamma) / truthful) - exponent : logExpm1(gain);
    const logDelta = eps + Math.log(largest / Math.log1p(u)) - Math.log(gamma * n) + n * Math.log(truthful) + grown;
    return Math.min(logDelta, 0) / LN10;
  }

  // krr: holds for k-RR only. The names are those of the package's methods.
  const LITERATURE = [
    { name: "stronger-clones", label: "Feldman et al. (2023), stronger clones", krr: true, bound: (eps, s) => clones(eps, s, true) },
    { name: "clones", label: "Feldman et al. (2021), clones", bound: (eps, s) => clones(eps, s, false) },
    { name: "feldman", label: "Feldman et al. (2021), closed form", bound: feldman },
    { name: "balle-bennett", label: "Balle et al. (2019), Bennett", krr: true, bound: balleBennett },
    { name: "balle-hoeffding", label: "Balle et al. (2019), Hoeffding", krr: true, bound: balleHoeffding },
    { name: "erlingsson", label: "Erlingsson et al. (2019)", bound: erlingsson },
  ];
  const literature = (name) => LITERATURE.filter((found) => name === "grr" || !found.krr);

  // --- the published formula: Theorem 1 as printed, tightshuffle/literature/count.py -----------------------------

  function stirlingError(x) {
    if (x > 15) return (1 / 12 - (1 / 360 - 1 / 1260 / x ** 2) / x ** 2) / x;
    let factorial = 1;
    for (let i = 2; i <= x; i++) factorial *= i;
    return x === 0 ? 0 : Math.log(factorial) - (x + 0.5) * Math.log(x) + x - Math.log(2 * Math.PI) / 2;
  }

  // Loader's formula: nothing cancels.
  function logBinomial(x, n, p) {
    if (x === 0) return n * Math.log1p(-p);
    if (x === n) return n * Math.log(p);
    const deviance = (y, mean) => y * ((mean - y) / y - Math.log1p((mean - y) / y));
    const errors = stirlingError(n) - stirlingError(x) - stirlingError(n - x);
    return errors - deviance(x, n * p) - deviance(n - x, n * (1 - p)) + Math.log(n / (2 * Math.PI * x * (n - x))) / 2;
  }

  function firstWhole(low, high, wanted) {
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (wanted(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // log10 of the published delta (not a bound), if `count` of the remaining users hold x0.
  function published(eps, { n, k, eps0 }, count) {
    if (eps >= eps0) return -Infinity;
    const others = n - count, q = 1 / (Math.exp(eps0) + k - 1), p = Math.exp(eps0) * q;
    const low = (k - 1) / (Math.exp(eps0) + k - 2), span = Math.exp(eps0) - low;
    // Of s reports x0, j are from users who hold another value: the probability of s, and moments of j / others given s.
    function given(s) {
      const first = Math.max(0, s - count), last = Math.min(others, s);
      const ratio = (j) => ((((others - j) / (j + 1)) * q) / (1 - q)) * ((((s - j) / (count - s + j + 1)) * (1 - p)) / p);
      const mode = firstWhole(first, last, (j) => ratio(j) < 1);
      let mass = 0, mean = 0, square = 0;
      const add = (j, weight) => {
        mass += weight;
        mean += (weight * j) / others;
        square += weight * (j / others) ** 2;
      };
      for (let j = mode, weight = 1; j <= last && weight > 1e-18; weight *= ratio(j), j++) add(j, weight);
      for (let j = mode - 1, weight = 1; j >= first && weight > 1e-18; j--) add(j, (weight /= ratio(j)));
      const logMass = logBinomial(mode, others, q) + logBinomial(s - mode, count, p) + Math.log(mass);
      return { logMass, mean: mean / mass, square: square / mass };
    }
    const start = firstWhole(0, n, (s) => low + span * given(s).square > Math.exp(eps));
    let top = -Infinity, total = 0;
    for (let s = start, term = 0; s <= n; s++) {
      const { logMass, mean, square } = given(s), loss = low + span * square, before = term;
      term = logMass + Math.log(low + span * mean) + Math.log(Math.max(1 - Math.exp(eps) / loss, 0));
      if (term > top + 50) [top, total] = [term, total * Math.exp(top - term)];
      total += Math.exp(term - top);
      if (term < before && term < top + Math.log(total) - 35) break;
    }
    return Math.min(0, (top + Math.log(total)) / LN10);
  }

  // --- the Gaussian mechanism, and expected errors ------------------------------------------------------------

  // log10 delta of mu-Gaussian differential privacy: phi(b - a) times an integral of positive terms.
  function gaussian(eps, mu) {
    const a = mu / 2, b = eps / mu, fall = b - a, nodes = 2000;
    const peak = Math.max(0, -fall), end = peak + 45 / (fall + Math.sqrt(fall ** 2 + 90)) + (fall < 0 ? 10 : 0);
    const step = Math.max(end, Math.min(10, 45 / Math.max(fall, 1e-9))) / nodes;
    let total = 0;
    for (let i = 1; i <= nodes; i++) {
      const t = i * step, weight = i === nodes ? 1 : i % 2 ? 4 : 2;
      total += weight * Math.exp(-(t ** 2) / 2 - fall * t - peak ** 2 / 2) * -Math.expm1(-2 * a * t);
    }
    const integral = Math.log((total * step) / 3) + peak ** 2 / 2;
    return Math.min(0, (integral - fall ** 2 / 2 - Math.log(2 * Math.PI) / 2) / LN10);
  }

  // The x between low and high where an increasing function reaches 0.
  function root(rising, low, high) {
    for (let i = 0; i < 100; i++) {
      const middle = (low + high) / 2;
      if (rising(middle) < 0) low = middle;
      else high = middle;
    }
    return high;
  }

  // Standard deviation of the Gaussian's noise on each count of a histogram.
  const sigma = (eps, log10Delta) =>
    Math.SQRT2 / Math.exp(root((logMu) => gaussian(eps, Math.exp(logMu)) - log10Delta, -60, 10));

  const gaussianDistance = (n, k, deviation) => ((k / 2) * Math.sqrt(2 / Math.PI) * deviation) / n;

  // Expected total variation distance of the unbiased estimate, users spread evenly, before projection.
  function distance({ k, eps0, patterns, raised, base, support }, n) {
    const [none, alpha, , beta] = [0, 1, 2, 3].map((pattern) => patterns(2, pattern, [0, 1]));
    const truth = raised * support, lie = base * alpha + raised * beta;
    const own = truth * base * patterns(1, 0, [0]), other = lie * (base * none + raised * alpha);
    const difference = raised * alpha * -Math.expm1(-eps0);
    const variance = (own / k + (1 - 1 / k) * other) / (n * difference ** 2);
    return (k / 2) * Math.sqrt((2 / Math.PI) * variance);
  }

  // --- the search -------------------------------------------------------------------------------------------

  // mu of the Gaussian approximation (central limit theorem). Only the start of the search, not a bound.
  function previewMu(own, n) {
    const [values, chances] = shuffle.gains(own, 0, null);
    return Math.sqrt(values.reduce((total, x, i) => total + chances[i] * x * x, 0) / n);
  }

  // The x where log10 delta, which falls with x, is at most `wanted` (side 1) or at least `wanted` (side -1): within
  // 1e-5 of it, or within 1e-9 of a jump. Secant steps, as the square root of -log10 delta is nearly affine.
  function solve(logDelta, wanted, low, high, side, guess) {
    const aim = wanted - (side * 1e-5) / 2;
    let x = guess, seen = [];
    for (let i = 0; i < 60 && high - low > 1e-9 * Math.abs(high); i++) {
      if (!(low < x && x < high)) x = (low + high) / 2;
      const value = logDelta(x), short = side * (wanted - value);
      if (short >= 0 && short <= 1e-5) return x;
      if (value > wanted) low = x;
      else high = x;
      if (value > -Infinity && value < 0) seen = [...seen.slice(-1), [x, Math.sqrt(-value)]];
      const [[x0, y0], [x1, y1]] = seen.length === 2 ? seen : [[0, 0], [0, 0]];
      x = i % 6 < 5 && y0 !== y1 ? x0 + ((x1 - x0) * (Math.sqrt(-aim) - y0)) / (y1 - y0) : (low + high) / 2;
    }
    return side > 0 ? high : low;
  }

  // The smallest eps at which this bound (eps, width) => log10 delta is at most the wanted delta. mu of a Gaussian that
  // has about the same curve is only the start; without it, that of the same delta at eps = 0.
  function smallestEps(bound, log10Delta, largest, side, mu) {
    const logDelta = (eps) => {
      // A bound, too. Below the wanted delta for an upper bound, above it for a lower one, no closer bound is needed.
      // On the other side the rough bound can be far off: it takes few nodes only.
      const rough = bound(eps, ROUGH);
      return side * (log10Delta - rough) > FAR ? rough : bound(eps);
    };
    const most = logDelta(0);
    if (most <= log10Delta) return 0;
    const scale = mu ?? Math.min(10, Math.sqrt(2 * Math.PI) * 10 ** most);
    const guess = root((eps) => log10Delta - gaussian(eps, scale), 0, largest);
    return solve(logDelta, log10Delta, 0, largest, side, guess);
  }

  function epsilon(own, log10Delta, n, side) {
    const bound = side > 0 ? shuffle.upper : shuffle.lower;
    return smallestEps((eps, width) => bound(own, eps, n, width), log10Delta, own.eps0, side, previewMu(own, n));
  }

  // The largest eps0, up to `most`, for which `upper` gives (eps, delta).
  function largestEps0(make, eps, log10Delta, n, most) {
    const logDelta = (x) => shuffle.upper(make(Math.exp(-x)), eps, n);
    if (logDelta(-Math.log(most)) <= log10Delta) return most;
    return Math.exp(-solve(logDelta, log10Delta, -Math.log(most), -Math.log(eps), 1, NaN));
  }

  // The fewest users, up to `most`, of whom some eps0 up to `largest` gives (eps, delta) and this error; NaN if none.
  function fewestUsers(make, eps, log10Delta, error, colluding, largest, most) {
    const enough = (n) => {
      const own = make(root((eps0) => error - distance(make(eps0), n), eps, largest));
      return distance(own, n) <= error && shuffle.upper(own, eps, n - colluding) <= log10Delta;
    };
    return enough(most) ? firstWhole(colluding + 1, most, enough) : NaN;
  }

  return { literature, published, gaussian, sigma, gaussianDistance, distance, smallestEps, epsilon, largestEps0, fewestUsers };
})();
