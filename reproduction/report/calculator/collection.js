// The section on several groups, participation and dummies: reads its fields, shows the eps of every group.
const collection = (() => {
  const { $, short, typeset, number, grouped, unbroken, rows } = texts;
  const COLUMNS = ["group", "users", "budget", "share"], DUMMIES = ["added", "poisson"], MOST = 1e12;
  const EXAMPLE = { groups: [["old app", "60000", "2", ""], ["new app", "40000", "4", "0.3"]], added: "", poisson: "5" };
  const box = $("collection"), list = $("groups");
  const fieldsets = () => [...list.children];
  const inputsOf = (fieldset) => [...fieldset.querySelectorAll("input")];
  const entriesOf = (fieldset) => inputsOf(fieldset).map((input) => input.value.trim());
  let remember = () => {}, setting = null, rounds = 0;

  // --- fields -----------------------------------------------------------------------------------------------

  function add(values = []) {
    const fieldset = $("group-fields").content.firstElementChild.cloneNode(true);
    inputsOf(fieldset).forEach((input, i) => { input.value = values[i] ?? ""; });
    fieldset.querySelector("button").addEventListener("click", () => {
      fieldset.remove();
      arrange();
      $("add-group").focus();
      changed();
    });
    list.append(fieldset);
    arrange();
    return fieldset;
  }

  // Number the groups: their legends, and the names by which labels and errors find their fields.
  function arrange() {
    const all = fieldsets();
    all.forEach((fieldset, place) => {
      fieldset.querySelector("legend").textContent = `Group ${place + 1}`;
      fieldset.querySelectorAll(".field").forEach((field, i) => {
        const input = field.querySelector("input"), id = `${COLUMNS[i]}-${place + 1}`;
        input.id = field.querySelector("label").htmlFor = id;
        field.querySelector(".error").id = `error-${id}`;
        input.setAttribute("aria-describedby", `error-${id}`);
      });
      const button = fieldset.querySelector("button");
      button.textContent = `Remove group ${place + 1}`;
      button.hidden = all.length === 1;
    });
  }

  function show(given = fromAddress()) {
    list.replaceChildren();
    for (const values of given.groups.length ? given.groups : [[]]) add(values);
    for (const name of DUMMIES) $(name).value = given[name];
    if (given.groups.length) box.open = true;
  }

  function fromAddress() {
    const found = new URLSearchParams(location.hash.slice(1)), columns = COLUMNS.map((name) => found.getAll(name));
    return { groups: columns[0].map((_, i) => columns.map((column) => column[i] ?? "")),
      ...Object.fromEntries(DUMMIES.map((name) => [name, found.get(name) ?? ""])) };
  }

  // Parts of the address, empty if nothing is entered.
  function address() {
    const groups = fieldsets().map(entriesOf).filter((values) => values.some((value) => value));
    const pairs = groups.flatMap((values) => values.map((value, i) => [COLUMNS[i], value]));
    pairs.push(...DUMMIES.map((name) => [name, $(name).value.trim()]).filter(([, value]) => value && groups.length));
    return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  }

  // The collection; null where a field is wrong or a needed one is empty.
  function checked(k) {
    let good = true;
    function check(input, wanted, valid, fallback) {
      const text = input.value.trim(), value = text === "" ? fallback : number(text), fine = text === "" || valid(value);
      $(`error-${input.id}`).textContent = fine ? "" : wanted;
      if (fine) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
      good &&= fine && value !== undefined;
      return value;
    }
    const whole = (low) => (x) => Number.isInteger(x) && x >= low && x <= MOST, names = [];
    const groups = fieldsets().map((fieldset, place) => {
      const [name, users, eps0, share] = inputsOf(fieldset), own = name.value.trim() || `group ${place + 1}`;
      check(name, `Two groups are called ${own}.`, () => !names.includes(own), NaN);
      names.push(own);
      return {
        name: own,
        users: check(users, "Users must be a whole number from 1 to 10¹².", whole(1)),
        eps0: check(eps0, "ε₀ must be a number above 0 and at most 50.", (x) => x > 0 && x <= 50),
        share: check(share, "The share must be above 0 and at most 1.", (x) => x > 0 && x <= 1, 1),
      };
    });
    const added = check($("added"), "The dummies must be a whole number from 0 to 10¹².", whole(0), 0);
    const poisson = check($("poisson"), "The mean must be a number from 0 to 10¹²/k.", (x) => x >= 0 && x * k <= MOST, 0);
    const users = groups.reduce((total, group) => total + group.users, 0);
    if (good && users > MOST) {
      good = false;
      $(`error-${inputsOf(list.lastElementChild)[1].id}`).textContent = "All groups together must have at most 10¹² users.";
    }
    return good ? { k, groups, added, poisson } : null;
  }

  // --- results ----------------------------------------------------------------------------------------------

  // Lines that compute the same in Python.
  function inPython({ k, groups, added, poisson }, delta, worst) {
    const lines = groups.map(({ name, users, eps0, share }) =>
      `        Group(${JSON.stringify(name)}, ${users}, eps0=${eps0}${share < 1 ? `, participation=${share}` : ""}),`);
    return ["from tightshuffle import Collection, Dummies, Group", "collection = Collection(", `    k=${k},`, "    groups=(", ...lines, "    ),",
      `    dummies=Dummies(number=${added}, poisson_per_value=${poisson}),`, ")",
      `collection.epsilon(${delta}, group=${JSON.stringify(worst)})`].join("\n");
  }

  // s: k and delta of the page, or null where a field is wrong there.
  async function compute(s = setting) {
    setting = s;
    if (!box.open) return;
    const run = ++rounds, given = s && checked(s.k), say = (text) => { $("collection-answer").textContent = unbroken(text); };
    $("collection-setting").textContent = s ? unbroken(`Here k = ${grouped(s.k)} and δ = ${typeset(s.log10Delta, 0, 6)}, as above.`) : "";
    box.setAttribute("aria-busy", String(given !== null));
    if (!given) {
      $("collection-results").hidden = true;
      say(!s ? "Please correct the marked fields above." : box.querySelector("[aria-invalid]")
        ? "Please correct the marked fields." : "Enter the users and ε₀ of every group.");
      return;
    }
    say("Computing …");
    $("collection-results").classList.add("stale");
    const found = [];
    for (const side of [1, -1]) {
      for (const place of given.groups.keys()) {
        await new Promise((done) => setTimeout(done, 0));
        if (run !== rounds) return;
        found.push(cover.epsilon(side, given, place, s.log10Delta));
      }
    }
    const count = given.groups.length, high = found.slice(0, count), worst = high.indexOf(Math.max(...high));
    say(`ε = ${short(high[worst], 1)} at δ = ${typeset(s.log10Delta, 0, 6)} for every dataset${
      count > 1 ? `. The largest ε is that of “${given.groups[worst].name}”` : ""}.`);
    rows($("collection-table"), given.groups.map(({ name, eps0 }, i) =>
      [name, short(high[i], 1), short(Math.min(found[count + i], high[i]), -1), short(eps0)]));
    $("collection-python").textContent = inPython(given, s.delta, given.groups[worst].name);
    $("collection-results").classList.remove("stale");
    $("collection-results").hidden = false;
    box.setAttribute("aria-busy", "false");
  }

  let timer;
  function changed() {
    remember();
    clearTimeout(timer);
    timer = setTimeout(compute, 300);
  }

  function start(whenChanged) {
    remember = whenChanged;
    show();
    box.addEventListener("input", changed);
    box.addEventListener("toggle", () => compute());
    box.addEventListener("submit", (event) => event.preventDefault());
    $("add-group").addEventListener("click", () => {
      add().querySelector("input").focus();
      changed();
    });
    $("example").addEventListener("click", () => {
      show(EXAMPLE);
      changed();
    });
  }

  return { start, show, address, compute };
})();
