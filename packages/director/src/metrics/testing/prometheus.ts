export interface Family {
  readonly type: string;
  readonly help: string;
  /** Samples by name and labels, as written. */
  readonly samples: Map<string, number>;
}

const HEAD = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i;

/** Text of version 0.0.4, read as strictly as it is written down; throws at the first thing that is not in it. */
export function readPrometheus(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, Family>();
  let now: { readonly name: string; help?: string; family?: Family } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const wrong = (why: string) => new Error(`${why}: ${line}`);
    const head = HEAD.exec(line);
    if (head !== null) {
      const [, what, name = "", rest = ""] = head;
      if (what === "HELP") {
        if (families.has(name)) throw wrong("a family stands there twice");
        now = { name, help: rest };
        continue;
      }
      if (now?.name !== name || now.help === undefined) throw wrong("a type without its help");
      if (!["counter", "gauge", "histogram"].includes(rest)) throw wrong("no such type");
      if (rest === "counter" && !name.endsWith("_total")) throw wrong("a counter's name ends in _total");
      now.family = { type: rest, help: now.help, samples: new Map() };
      families.set(name, now.family);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) throw wrong("neither a comment nor a sample");
    const [, name = "", labels = "", value = ""] = sample;
    if (now?.family === undefined) throw wrong("a sample without its family");
    const of =
      now.family.type === "histogram"
        ? ["_bucket", "_sum", "_count"].map((end) => now?.name + end)
        : [now.name];
    if (!of.includes(name)) throw wrong("a sample of another family");
    if (!NUMBER.test(value)) throw wrong("no number");
    const key = `${name}{${readLabels(labels, wrong).join(",")}}`;
    if (now.family.samples.has(key)) throw wrong("a sample stands there twice");
    now.family.samples.set(key, Number(value));
  }
  for (const [name, family] of families) if (family.type === "histogram") judge(name, family);
  return families;
}

function readLabels(text: string, wrong: (why: string) => Error): readonly string[] {
  const found: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const label = LABEL.exec(rest);
    if (label === null) throw wrong("labels that cannot be read");
    const [whole, name = "", value = ""] = label;
    if (found.some((one) => one.startsWith(`${name}=`))) throw wrong("a label stands there twice");
    found.push(`${name}="${value}"`);
    rest = rest.slice(whole.length);
  }
  return found;
}

/** Buckets grow, the last of them has all. */
function judge(name: string, { samples }: Family): void {
  const series = new Map<string, [le: number, count: number][]>();
  for (const [key, count] of samples) {
    const bucket = /^(.*_bucket)\{(.*?),?le="([^"]+)"\}$/.exec(key);
    if (bucket === null) continue;
    const le = bucket[3] === "+Inf" ? Number.POSITIVE_INFINITY : Number(bucket[3]);
    series.set(bucket[2] ?? "", [...(series.get(bucket[2] ?? "") ?? []), [le, count]]);
  }
  if (series.size === 0) throw new Error(`${name}: no buckets`);
  for (const [labels, buckets] of series) {
    const grows = buckets.every(([le, count], at) => {
      const [before, less] = buckets[at - 1] ?? [Number.NEGATIVE_INFINITY, 0];
      return le > before && count >= less;
    });
    const last = buckets.at(-1);
    const all = samples.get(`${name}_count{${labels}}`);
    if (
      !grows ||
      last?.[0] !== Number.POSITIVE_INFINITY ||
      last[1] !== all ||
      !samples.has(`${name}_sum{${labels}}`)
    )
      throw new Error(`${name}{${labels}}: buckets that do not fit`);
  }
}
