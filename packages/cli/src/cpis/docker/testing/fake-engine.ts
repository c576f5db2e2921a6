import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";

/** Lists are asked for by labels. */
function filtered(answer: unknown, query: URLSearchParams): unknown {
  const { label = [] } = JSON.parse(query.get("filters") ?? "{}") as { label?: readonly string[] };
  if (!Array.isArray(answer)) return answer;
  const labelsOf = (thing: { Labels?: Record<string, string> }) =>
    Object.entries(thing.Labels ?? {}).map((pair) => pair.join("="));
  return answer.filter((thing) => label.every((one) => labelsOf(thing).includes(one)));
}

/** Answers of a Docker Engine by path; what it has none for is not found. */
export class FakeEngine {
  readonly host: string;
  answers: Readonly<Record<string, unknown>>;
  version: object = { ApiVersion: "1.41", MinAPIVersion: "1.12" };
  readonly #server: Server;
  readonly #remove: () => Promise<void>;

  private constructor(path: string, remove: () => Promise<void>, answers: Readonly<Record<string, unknown>>) {
    this.host = `unix://${path}`;
    this.answers = answers;
    this.#remove = remove;
    this.#server = createServer(({ url = "" }, reply) => {
      const { pathname, searchParams } = new URL(url, "http://docker");
      const asked = pathname.replace(/^\/v[\d.]+/, "");
      const answer = asked === "/version" ? this.version : filtered(this.answers[asked], searchParams);
      if (answer === undefined) reply.statusCode = 404;
      reply.end(JSON.stringify(answer ?? { message: "no such thing" }));
    });
  }

  static async open(answers: Readonly<Record<string, unknown>>): Promise<FakeEngine> {
    const { path: dir, remove } = await temporaryDirectory();
    const path = join(dir, "sock");
    const engine = new FakeEngine(path, remove, answers);
    await new Promise<void>((resolve) => engine.#server.listen(path, resolve));
    return engine;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#remove();
  }
}
