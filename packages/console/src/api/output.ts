import type { OutputType } from "@slipway/protocol/director/task";
import { useEffect, useState } from "preact/hooks";
import { type Client, type Problem, problemOf } from "./client.ts";
import { repeat, useClient } from "./live.ts";

/** An output of a task as far as it is known. */
export interface Output {
  readonly lines: readonly string[];
  readonly problem: Problem | undefined;
}

const EMPTY: Output = { lines: [], problem: undefined };
const SOON_MS = 1000;

/** Follows an output of a task: only what is new is fetched. Ends with the task, after one more look. */
export function useOutput(id: number, type: OutputType, wanted: boolean, ended: boolean): Output {
  const client = useClient();
  const [output, setOutput] = useState<Output & { readonly key: string }>({ ...EMPTY, key: "" });
  const key = `${id} ${type}`;
  useEffect(() => {
    if (!wanted) return undefined;
    const reader = new OutputReader(client, id, type);
    return repeat(async () => {
      const problem = await reader.read();
      if (problem?.kind === "offline") return "changed";
      setOutput({ key, lines: reader.lines, problem });
      return ended ? "over" : "changed";
    }, SOON_MS);
  }, [client, id, type, key, wanted, ended]);
  return output.key === key ? output : EMPTY;
}

class OutputReader {
  lines: readonly string[] = [];
  readonly #client: Client;
  readonly #path: string;
  readonly #decoder = new TextDecoder();
  #bytes = 0;
  #rest = "";

  constructor(client: Client, id: number, type: OutputType) {
    this.#client = client;
    this.#path = `/tasks/${id}/output?type=${type}`;
  }

  async read(): Promise<Problem | undefined> {
    const response = await this.#client.send(this.#path, { headers: { range: `bytes=${this.#bytes}-` } });
    if ("kind" in response) return response;
    // Nothing is there yet, or nothing new.
    if (response.status === 204 || response.status === 416) return undefined;
    const problem = await problemOf(response);
    if (problem !== undefined) return problem;
    const data = await response.arrayBuffer().catch(() => undefined);
    if (data === undefined) return { kind: "offline", why: "The answer was cut off." };
    this.#bytes += data.byteLength;
    const lines = (this.#rest + this.#decoder.decode(data, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    if (lines.length > 0) this.lines = [...this.lines, ...lines];
    return undefined;
  }
}
