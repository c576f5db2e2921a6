/** The message of an error of the catalogue with `{name}` for each of its parameters. */
export function messageText({ code, message }) {
  /** Parameters that were taken for numbers, in that order: what was made of them is NaN. */
  const numbers = [];
  let text;
  try {
    text = message(new Proxy({}, { get: (_, key) => standIn(String(key), numbers) }));
  } catch (cause) {
    throw new Error(`the message of ${code} cannot be shown: keep it to plain templates`, { cause });
  }
  const shown = text.replaceAll("NaN", () => numbers.shift() ?? "{number}");
  // Two names without anything between them are a sum, or sentences that run into each other.
  const garbled =
    /undefined|\[object |=>|NaN/.exec(shown.replaceAll(/\{\w+\}/g, ""))?.[0] ??
    /\{\w+\}\{\w+\}/.exec(shown)?.[0];
  if (garbled !== undefined)
    throw new Error(`the message of ${code} is garbled by its stand-ins ("${garbled}"): ${shown}`);
  return shown;
}

/** Whatever is asked of a parameter, its name comes out: as text, in JSON, from its members and methods. */
function standIn(name, numbers) {
  const shown = `{${name}}`;
  return new Proxy(() => shown, {
    get: (_, key) => {
      if (key === Symbol.toPrimitive) return (hint) => (hint === "number" ? asNumber() : shown);
      if (key === "toString" || key === "toJSON" || key === "join") return () => shown;
      return standIn(name, numbers);
    },
    apply: () => standIn(name, numbers),
  });
  function asNumber() {
    numbers.push(shown);
    return Number.NaN;
  }
}
