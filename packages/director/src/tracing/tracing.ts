import { type Collector, type ExporterTools, otlpExporter, type SpanExporter } from "./exporter.ts";
import type { Span } from "./span.ts";

/** Spans for the collector of the configuration, which may become another, or none. */
export class Tracing {
  readonly #tools: ExporterTools;
  #collector: Collector | undefined;
  #exporter: SpanExporter | undefined;
  readonly #leaving = new Set<Promise<void>>();

  constructor(tools: ExporterTools) {
    this.#tools = tools;
  }

  get on(): boolean {
    return this.#exporter !== undefined;
  }

  add(span: Span): void {
    this.#exporter?.add(span);
  }

  /**
   * Uses a collector for spans from now on. The one before gets what waits for it; what it does not take goes to the new one, if
   * any.
   */
  use(collector: Collector | undefined): void {
    // The same one goes on: trouble that was logged is not logged again.
    if (JSON.stringify(collector) === JSON.stringify(this.#collector)) return;
    const before = this.#exporter;
    this.#collector = collector;
    this.#exporter = collector && otlpExporter({ ...collector, ...this.#tools });
    if (before === undefined) return;
    const leaving = this.#leave(before).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  async close(): Promise<void> {
    await Promise.all(this.#leaving);
    await this.#exporter?.close();
  }

  async #leave(exporter: SpanExporter): Promise<void> {
    for (const span of await exporter.close()) this.add(span);
  }
}
