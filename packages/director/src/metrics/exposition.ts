export type Labels = Readonly<Record<string, string | number>>;
export type Sample = readonly [labels: Labels, value: number];

/** Writes the text format of Prometheus, version 0.0.4. */
export class Exposition {
  readonly #lines: string[] = [];

  /** Adds a metric; writes nothing without samples. */
  add(name: string, type: "gauge" | "counter", help: string, samples: readonly Sample[]): void {
    if (samples.length === 0) return;
    this.#head(name, type, help);
    for (const [labels, value] of samples) this.#sample(name, labels, value);
  }

  addHistogram(name: string, help: string, all: Iterable<readonly [Labels, Histogram]>): void {
    let first = true;
    for (const [labels, histogram] of all) {
      if (first) this.#head(name, "histogram", help);
      first = false;
      for (const [le, count] of histogram.upTo()) this.#sample(`${name}_bucket`, { ...labels, le }, count);
      this.#sample(`${name}_sum`, labels, histogram.sum);
      this.#sample(`${name}_count`, labels, histogram.count);
    }
  }

  get text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  #head(name: string, type: string, help: string): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  #sample(name: string, labels: Labels, value: number): void {
    this.#lines.push(`${name}${labelText(labels)} ${value}`);
  }
}

/** Seconds. From answers of the API to images that are imported. */
const BOUNDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800];

export class Histogram {
  readonly #counts = BOUNDS.map(() => 0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    this.sum += seconds;
    this.count += 1;
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    if (at !== -1) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Returns the cumulative counts, by upper bound. */
  upTo(): readonly (readonly [le: string, count: number])[] {
    let all = 0;
    const bounded = BOUNDS.map((bound, at) => {
      all += this.#counts[at] ?? 0;
      return [String(bound), all] as const;
    });
    return [...bounded, ["+Inf", this.count]];
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
