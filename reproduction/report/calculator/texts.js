// What every part of the page writes: numbers as texts, and rows of tables.
const texts = (() => {
  const $ = (id) => document.getElementById(id);
  const superscript = (whole) => String(whole).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  // Some digits, rounded to nearest, up (1) or down (-1).
  function short(x, side = 0, digits = 5) {
    if (!(Math.abs(x) > 0) || !isFinite(x)) return String(x);
    const unit = 10 ** (digits - 1 - Math.floor(Math.log10(Math.abs(x))));
    const whole = x * unit, rounded = side > 0 ? Math.ceil(whole - 1e-7) : side < 0 ? Math.floor(whole + 1e-7) : Math.round(whole);
    const value = Number((rounded / unit).toPrecision(digits));
    return value < 1e-3 || value >= 1e6 ? typeset(Math.log10(value), 0, digits) : String(value);
  }
  const grouped = (whole) => whole.toLocaleString("en-US");
  // 10^log10, however small, with three digits.
  function typeset(log10, side = 0, digits = 3) {
    if (log10 === -Infinity) return "0";
    if (Number.isNaN(log10)) return "–";
    let exponent = Math.floor(log10), whole = 10 ** (log10 - exponent + digits - 1);
    whole = side > 0 ? Math.ceil(whole - 1e-6) : side < 0 ? Math.floor(whole + 1e-6) : Math.round(whole);
    if (whole >= 10 ** digits) [whole, exponent] = [whole / 10, exponent + 1];
    const mantissa = String(whole / 10 ** (digits - 1));
    if (exponent >= -3 && exponent <= 0) return String(Number(`${mantissa}e${exponent}`));
    return (mantissa === "1" ? "" : `${mantissa}×`) + "10" + superscript(exponent);
  }
  const number = (text) => (/^[+-]?[\d_]*\.?\d+(e[+-]?\d+)?$|^\d[\d_]*\.?$/i.test(text) ? Number(text.replaceAll("_", "")) : NaN);
  const unbroken = (text) => text.replaceAll(" = ", "\u00a0=\u00a0").replaceAll("k-", "k\u2011");

  function rows(table, lines) {
    table.tBodies[0].replaceChildren(...lines.map(([name, ...cells]) => {
      const row = document.createElement("tr"), head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      row.append(head, ...cells.map((text) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        return cell;
      }));
      return row;
    }));
  }

  return { $, superscript, short, grouped, typeset, number, unbroken, rows };
})();
