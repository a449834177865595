// The page: reads the settings from the fields or the address, and shows every result.
(() => {
  const { $, superscript, short, grouped, typeset, number, unbroken, rows } = texts;
  const COARSE = 1e-3; // distance of the engine's two bounds that is invisible in the picture
  const DEEP = 4; // times the picture's floor: a curve that is below is not computed any further, since δ falls with ε
  // Places on the axis of eps, as shares: even, and closer near 0, where some curves leave 1.
  const PLACES = [0, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 1.75, ...Array.from({ length: 31 }, (_, i) => i + 2)].map((place) => place / 32);
  const MOST_USERS_PUBLISHED = 1e7, LARGEST_EPS0 = 20, LARGEST_N = 1e12;
  // Each option has the randomizer's short name, and the parameter that it needs besides k and eps0.
  const about = (name) => [...$("randomizer").options].find((option) => option.value === name)?.dataset;
  const DEFAULTS = { randomizer: "grr", n: "100000", k: "408", given: "eps0", eps0: "4", eps: "0.5", error: "0.05", delta: "1e-6",
    colluding: "0", count: "", size: "" };
  const SYMBOLS = { eps0: "ε₀", eps: "ε", delta: "δ", error: "The error", colluding: "The number of colluding users", count: "This" };
  const entered = new Set(); // fields that the user or the address has filled in; the remaining ones show an example

  // --- settings ---------------------------------------------------------------------------------------------

  const form = $("settings"), fields = form.elements;
  const entries = () => Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, fields[name].value.trim()]));

  function show(given) {
    entered.clear();
    for (const [name, value] of Object.entries({ ...DEFAULTS, ...given })) {
      if (name === "randomizer" && !about(value)) continue;
      if (name === "given" && !["eps0", "eps", "error"].includes(value)) continue;
      fields[name].value = value;
      if (Object.hasOwn(given, name)) entered.add(name);
    }
    arrange();
  }

  // Show only the fields that matter; mark those that hold an example.
  function arrange() {
    const { randomizer, given } = entries();
    $("field-size").hidden = !about(randomizer).parameter;
    $("field-size").querySelector("label").textContent = randomizer === "subset" ? "Size of a subset, m" : "Number of hash values, g";
    $("field-eps0").hidden = given !== "eps0";
    $("field-eps").hidden = given === "eps0";
    $("field-error").hidden = given !== "error";
    $("field-n").hidden = given === "error";
    $("only-published").hidden = $("field-count").hidden = randomizer !== "grr" || given === "error";
    for (const name of ["randomizer", "n", "k", "eps0", "eps", "error", "delta"]) $(`field-${name}`).classList.toggle("example", !entered.has(name));
  }

  // How many of the remaining users hold x0 if all users are spread evenly.
  const evenly = (users, k) => Math.max(Math.round(users / k) - 1, 0) || 0;

  // The settings as numbers, or null; a wrong field gets an error that names what it may be.
  function checked() {
    const given = entries(), found = { randomizer: given.randomizer, given: given.given };
    let good = true;
    function check(name, wanted, valid, fallback) {
      const hidden = $(`field-${name}`).hidden, value = given[name] === "" ? fallback : number(given[name]);
      const fine = hidden || valid(value);
      $(`error-${name}`).textContent = fine ? "" : `${SYMBOLS[name] ?? name} must be ${wanted}.`;
      if (fine) fields[name].removeAttribute("aria-invalid");
      else {
        fields[name].setAttribute("aria-invalid", "true");
        if (name === "count") $("only-published").open = true;
      }
      good &&= fine;
      found[name] = value;
    }
    // Where n or k is wrong, fields that depend on it have no upper end: only the wrong field is marked.
    const whole = (low, high) => (x) => Number.isInteger(x) && x >= low && !(x > high);
    const givenN = () => (given.given === "error" ? LARGEST_N : fields.n.hasAttribute("aria-invalid") ? NaN : found.n);
    const givenK = () => (fields.k.hasAttribute("aria-invalid") ? NaN : found.k);
    check("n", "a whole number from 1 to 10¹²", whole(1, LARGEST_N), NaN);
    check("k", "a whole number from 2 to 10⁹", whole(2, 1e9), NaN);
    check("eps0", "a number above 0 and at most 50", (x) => x > 0 && x <= 50, NaN);
    check("eps", `a number between 0 and ${LARGEST_EPS0}, at least 1e-9`, (x) => x >= 1e-9 && x < LARGEST_EPS0, NaN);
    check("error", "a number above 0", (x) => x > 0 && x < Infinity, NaN);
    check("delta", "a number between 0 and 1, at least 1e-300", (x) => x >= 1e-300 && x < 1, NaN);
    check("colluding", given.given === "error" ? "a whole number below 10¹²" : "a whole number from 0 to n − 1", whole(0, givenN() - 1), 0);
    const subset = given.randomizer === "subset", size = subset ? Math.max(1, Math.round(givenK() / 10)) || 1 : 4;
    SYMBOLS.size = subset ? "m" : "g";
    $("hint-size").textContent = subset ? `Empty means k/10, here ${grouped(size)}.` : `Empty means ${size}.`;
    if (subset) check("size", "a whole number from 1 to k − 1", whole(1, givenK() - 1), size);
    else check("size", "a whole number from 2 to 10⁶", whole(2, 1e6), size);
    const users = fields.colluding.hasAttribute("aria-invalid") ? NaN : givenN() - found.colluding;
    const spread = evenly(users, givenK());
    $("hint-count").textContent = "The user in question holds x₀; the remaining users are all but this user."
      + ` Empty means that all users are spread evenly${spread ? `: ${grouped(spread)} besides the user in question` : ""}.`;
    check("count", "a whole number from 0 to n − 1, less the colluding users", whole(0, users - 1), evenly(users, givenK()));
    return good ? { ...found, log10Delta: Math.log10(found.delta), users } : null;
  }

  function remember() {
    const given = entries(), kept = Object.entries(given).filter(([name, value]) => {
      const box = $(`field-${name}`);
      return entered.has(name) && value !== "" && !(box && box.hidden);
    });
    const hash = [...kept.map(([name, value]) => `${name}=${encodeURIComponent(value)}`), ...collection.address()].join("&");
    if (location.hash.slice(1) !== hash) history.replaceState(null, "", location.href.split("#")[0] + (hash && `#${hash}`));
  }

  const fromAddress = () => Object.fromEntries([...new URLSearchParams(location.hash.slice(1))]
    .filter(([name]) => Object.hasOwn(DEFAULTS, name)));

  // --- results ----------------------------------------------------------------------------------------------

  // The settings in one sentence.
  function inWords(s) {
    const size = about(s.randomizer).parameter ? ` (${s.randomizer === "subset" ? "m" : "g"} = ${grouped(s.size)})` : "";
    const colluding = s.colluding ? `${grouped(s.colluding)} ${s.given === "error" ? "colluding users" : "of them colluding"}` : "";
    const parts = [s.given === "error" ? "" : `${grouped(s.n)} users`, colluding, `${grouped(s.k)} values`,
      `${fields.randomizer.selectedOptions[0].textContent}${size}`, s.given === "eps0" ? `ε₀ = ${s.eps0}` : `target ε = ${s.eps}`,
      s.given === "error" ? `target error ${s.error}` : "", `δ = ${typeset(s.log10Delta, 0, 6)}`];
    return unbroken(`${entered.size ? "Your setting" : "Example"}: ${parts.filter((part) => part).join(", ")}.${entered.size ? "" : " Change any field."}`);
  }

  function svg(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // A step of 1, 2 or 5 times a power of ten that makes about `count` steps.
  function stepOf(size, count) {
    const power = 10 ** Math.floor(Math.log10(size / count));
    return [1, 2, 5, 10].map((digit) => digit * power).find((step) => size / step <= count * 1.01) ?? 10 * power;
  }

  const WIDTH = 640, HEIGHT = 400, RIGHT = 18, TOP = 16, BOTTOM = 58;

  function draw(curves, end, floor, log10Delta) {
    const narrow = matchMedia("(max-width: 56rem)").matches, LEFT = narrow ? 106 : 78;
    const x = (eps) => LEFT + (eps / end) * (WIDTH - LEFT - RIGHT);
    const y = (log10) => TOP + (Math.max(log10, 2 * floor) / floor) * (HEIGHT - TOP - BOTTOM);
    const clip = svg("clipPath", { id: "inside" });
    clip.append(svg("rect", { x: LEFT, y: TOP - 2, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM + 2 }));
    const parts = [clip];
    const xStep = stepOf(end, narrow ? 4 : 8), yStep = Math.max(stepOf(-floor, narrow ? 4 : 6), 0.01);
    for (let tick = 0; tick <= end * 1.0001; tick += xStep) {
      parts.push(svg("path", { class: "grid", d: `M${x(tick)} ${TOP}V${HEIGHT - BOTTOM}` }));
      parts.push(svg("text", { x: x(tick), y: HEIGHT - BOTTOM + 22, "text-anchor": "middle" }, Number(tick.toPrecision(6))));
    }
    for (let tick = 0; tick >= floor * 1.0001; tick -= yStep) {
      parts.push(svg("path", { class: "grid", d: `M${LEFT} ${y(tick)}H${WIDTH - RIGHT}` }));
      const words = tick === 0 ? "1" : "10" + superscript(Number(tick.toPrecision(3))).replace(".", "·");
      parts.push(svg("text", { x: LEFT - 8, y: y(tick) + 5, "text-anchor": "end" }, words));
    }
    parts.push(svg("path", { class: "wanted", d: `M${LEFT} ${y(log10Delta)}H${WIDTH - RIGHT}` }));
    parts.push(svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 12, "text-anchor": "middle", "font-style": "italic" }, "ε"));
    parts.push(svg("text", { x: 14, y: (TOP + HEIGHT - BOTTOM) / 2, "font-style": "italic" }, "δ"));
    const path = (points) => points.filter(([, value]) => !Number.isNaN(value))
      .map(([eps, value], i) => `${i ? "L" : "M"}${x(eps).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    const upper = curves.find((curve) => curve.name === "upper").points;
    const lower = curves.find((curve) => curve.name === "lower").points;
    if (upper.length > 1) {
      parts.push(svg("path", { class: "between", "clip-path": "url(#inside)",
        d: path([...upper, ...[...lower].reverse()]) + "Z" }));
    }
    for (const { name, points } of [...curves].reverse()) {
      parts.push(svg("path", { class: `line ${name}`, "clip-path": "url(#inside)", d: path(points) }));
    }
    $("curve").replaceChildren(...parts);
  }

  const ABOUT = { upper: "upper (every dataset)", lower: "lower (some dataset)" };

  function legend(curves, floor) {
    const wanted = { name: "wanted", label: "your δ", points: [[0, 0]] };
    $("legend").replaceChildren(...[...curves, wanted].map(({ name, label, points }) => {
      const never = points.every(([, value]) => Number.isNaN(value)), deep = points.every(([, value]) => !(value >= floor));
      const item = document.createElement("li"), key = svg("svg", { viewBox: "0 0 32 8", "aria-hidden": "true" });
      key.append(svg("path", { class: `line ${name}`, d: "M0 4H32" }));
      item.append(key, (ABOUT[name] ?? label) + (never ? ": does not apply" : deep ? ": below the picture" : ""));
      return item;
    }));
  }

  function table(curves) {
    const head = document.createElement("tr");
    head.append(...["ε", ...curves.map((curve) => curve.label)].map((text) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = text;
      return cell;
    }));
    const box = $("points").querySelector("table");
    box.tHead.replaceChildren(head);
    const written = (value) => (Number.isNaN(value) ? "–" : value === -Infinity ? "δ = 0" : value.toFixed(3));
    rows(box, curves[0].points.map(([eps], i) => [String(Number(eps.toPrecision(5))), ...curves.map((c) => written(c.points[i][1]))]));
  }

  // Lines that compute the same in a shell and in Python.
  function elsewhere(s, name) {
    const delta = s.delta < 1e-3 ? s.delta.toExponential() : String(s.delta), more = [["randomizer", name === "grr" ? null : name], ["colluding", s.colluding || null]];
    const kept = more.filter(([, value]) => value !== null);
    const flags = kept.map(([key, value]) => ` --${key} ${value}`).join("");
    const words = kept.map(([key, value]) => `, ${key}=${typeof value === "string" ? `"${value}"` : value}`).join("");
    if (s.given !== "eps0") {
      const wanted = s.given === "eps" ? "n" : "error";
      $("command").textContent = `tightshuffle plan --${wanted} ${s[wanted]} --k ${s.k} --eps ${s.eps} --delta ${delta}${flags}`;
      $("python").textContent = `import tightshuffle\ntightshuffle.plan(${wanted}=${s[wanted]}, k=${s.k}, eps=${s.eps}, delta=${delta}${words})`;
    } else {
      const setting = `n=${s.n}, k=${s.k}, eps0=${s.eps0}${words}`;
      $("command").textContent = `tightshuffle epsilon upper,lower --n ${s.n} --k ${s.k} --eps0 ${s.eps0} --delta ${delta}${flags}`;
      $("python").textContent = `import tightshuffle\ntightshuffle.epsilon(${delta}, ${setting})\n`
        + `tightshuffle.epsilon(${delta}, ${setting}, method="lower")`;
    }
  }

  let run = 0; // a newer run ends an older one
  async function compute() {
    const own = ++run, s = checked();
    remember();
    collection.compute(s);
    const main = document.querySelector("main").classList;
    main.toggle("unknown", !s);
    main.add("stale");
    $("results").setAttribute("aria-busy", String(s !== null));
    $("answer").textContent = s ? "Computing …" : "Please correct the marked fields.";
    if (!s) return;
    $("setting").textContent = inWords(s);
    const pause = async () => {
      await new Promise((done) => setTimeout(done, 0));
      return own !== run;
    };
    const make = (eps0) => shuffle.randomizer(s.randomizer, { k: s.k, eps0, size: s.size });
    const name = s.randomizer + (about(s.randomizer).parameter ? `:${s.size}` : "");
    elsewhere(s, name);
    if (await pause()) return;

    if (s.given === "error") {
      s.n = beside.fewestUsers(make, s.eps, s.log10Delta, s.error, s.colluding, LARGEST_EPS0, LARGEST_N);
      s.users = s.n - s.colluding;
      s.count = evenly(s.users, s.k);
      if (Number.isNaN(s.n)) {
        main.add("unknown");
        $("results").setAttribute("aria-busy", "false");
        $("answer").textContent = "Even 10¹² users do not reach this error.";
        return;
      }
    }
    const eps0 = s.given === "eps0" ? s.eps0 : beside.largestEps0(make, s.eps, s.log10Delta, s.users, LARGEST_EPS0);
    const randomizer = make(eps0), setting = { n: s.users, k: s.k, eps0 };
    if (await pause()) return;
    const high = s.given !== "eps0" ? s.eps : beside.epsilon(randomizer, s.log10Delta, s.users, 1);
    if (await pause()) return;
    const low = Math.min(beside.epsilon(randomizer, s.log10Delta, s.users, -1), high);
    if (await pause()) return;
    const delta = typeset(s.log10Delta, 0, 6);
    const proven = `ε = ${short(high, 1)} at δ = ${delta} for every dataset.`;
    const reached = eps0 === LARGEST_EPS0 ? `Any local budget up to ε₀ = ${eps0} gives` : `The local budget ε₀ = ${short(eps0, -1)} gives`;
    $("answer").textContent = unbroken(s.given === "eps0" ? proven
      : s.given === "eps" ? `${reached} ${proven}` : `${grouped(s.n)} users are enough. ${reached} this error, and ${proven}`);
    $("low").textContent = short(low, -1);
    $("local").textContent = short(eps0, s.given !== "eps0" ? -1 : 0);

    const bounds = beside.literature(s.randomizer);
    const withPublished = s.randomizer === "grr" && s.users <= MOST_USERS_PUBLISHED && eps0 <= LARGEST_EPS0;
    const curves = [
      { name: "upper", label: "upper", bound: (eps, width) => shuffle.upper(randomizer, eps, s.users, width) },
      { name: "lower", label: "lower", bound: (eps, width) => shuffle.lower(randomizer, eps, s.users, width) },
      ...bounds.map(({ name, label, bound }) => ({ name, label, bound: (eps) => (eps < eps0 ? bound(eps, setting) : -Infinity) })),
    ];
    if (withPublished) {
      curves.push({ name: "published", label: "published formula (not a bound)", bound: (eps) => beside.published(eps, setting, s.count) });
    }

    const at = s.given !== "eps0" ? s.eps : high;
    $("bounds").caption.textContent = `δ at ε = ${short(at, 0)}`;
    const values = Object.fromEntries(curves.map(({ name, bound }) => [name, bound(at)]));
    const sides = { lower: -1, published: 0 };
    rows($("bounds"), curves.map(({ name, label }) => [label, Number.isNaN(values[name]) ? "does not apply" : typeset(values[name], sides[name] ?? 1)]));
    const factor = values.lower - values.published;
    $("bounds-note").textContent = withPublished && values.published < values.lower
      ? values.published === -Infinity ? "The published formula gives δ = 0 for one count in one dataset. The whole histogram of some dataset has at least the δ of lower."
        : "The published formula concerns one count in one dataset. The whole histogram of some dataset has a δ that is larger by "
          + `${factor < 6 ? `a factor of at least ${short(10 ** factor, -1, 3)}` : `at least ${grouped(Math.floor(factor))} orders of magnitude`}.`
      : s.randomizer === "grr" && !withPublished ? `The published formula is left out: above 10⁷ users or ε₀ = ${LARGEST_EPS0} it takes too long to compute.`
      : "";
    if (withPublished) {
      $("command").textContent += `\npython -c "from tightshuffle.literature.count import delta as log10_delta; print(log10_delta(${Number(at.toPrecision(6))},`
        + ` n=${s.users}, k=${s.k}, eps0=${Number(eps0.toPrecision(6))}, count=${s.count}, form='published'))"`;
    }
    const deviation = beside.sigma(at, s.log10Delta), own_ = about(s.randomizer).label;
    const found = [
      [`${own_} with ε₀ = ${short(eps0, -1)} and the shuffler`, beside.distance(randomizer, s.n)],
      [`Gaussian mechanism on a trusted server: same ε and δ, standard deviation ${short(deviation, 1)}`, beside.gaussianDistance(s.n, s.k, deviation)],
      [`${own_} with ε₀ = ${short(at, 0)}, without a shuffler (δ = 0)`, at > 0 ? beside.distance(make(at), s.n) : NaN],
    ];
    rows($("errors"), [...found.map(([label, error]) => [label, Number.isNaN(error) ? "–" : short(error, 0, 4)]),
      ["uniform histogram, which ignores the data", `0 to ${short(1 - 1 / s.k, 0, 4)}`]]);
    $("errors-note").textContent = `The uniform histogram has error 0 for evenly spread users, and ${short(1 - 1 / s.k, 0, 4)} if all users hold the same value.`
      + " An estimate is of no use if its error is larger than that of the uniform histogram on your data.";
    $("results").classList.remove("waiting");

    const end = at > 0 ? Math.min(2 * at, eps0) : eps0, floor = 2.5 * s.log10Delta;
    for (const curve of curves) curve.points = [];
    for (const [i, share] of PLACES.entries()) {
      const eps = end * share;
      for (const curve of curves) {
        const outside = eps < eps0 && curve.points.some(([, value]) => value < DEEP * floor);
        curve.points.push([eps, outside ? NaN : curve.bound(eps, COARSE)]);
      }
      if (await pause()) return;
      if (i > 0 && (i % 4 === 0 || share === 1)) {
        draw(curves, end, floor, s.log10Delta);
        main.remove("stale");
      }
    }
    legend(curves, floor);
    table(curves);
    $("results").setAttribute("aria-busy", "false");
  }

  let timer;
  form.addEventListener("input", (event) => {
    entered.add(event.target.name);
    arrange();
    clearTimeout(timer);
    timer = setTimeout(compute, 300);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return remember(); // the link that skips to the results
    show(fromAddress());
    collection.show();
    compute();
  });
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText($(button.dataset.copies).textContent);
        $("copied").textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren($(button.dataset.copies));
        $("copied").textContent = "Selected. Press Ctrl+C to copy.";
      }
    });
  }
  show(fromAddress());
  collection.start(remember);
  compute();
})();
