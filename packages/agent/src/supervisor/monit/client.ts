import { readFile } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { HttpClient } from "@slipway/kernel/http/client";
import type { Random } from "@slipway/kernel/random";
import { MonitUnreachable } from "../errors.ts";
import { tokensOf } from "../monit-file/tokens.ts";
import { type MonitStatus, parseStatus } from "./status-xml.ts";

export interface MonitAddress {
  readonly host: string;
  readonly port: number;
}

/** Reads monit's listen address from its control file. Upstream's stemcells have 127.0.0.1:2822. */
export function addressIn(control: string, file: string): MonitAddress {
  const words = tokensOf(control, file).map((token) => token.text.toLowerCase());
  const httpd = words.findIndex((word, at) => word === "httpd" && words[at - 1] === "set");
  const ends =
    httpd < 0 ? -1 : words.findIndex((word, at) => at > httpd && ["set", "check", "include"].includes(word));
  const own = httpd < 0 ? [] : words.slice(httpd, ends < 0 ? undefined : ends);
  const after = (word: string): string | undefined =>
    own.includes(word) ? own[own.indexOf(word) + 1] : undefined;
  return { host: after("address") ?? "127.0.0.1", port: Number(after("port") ?? 2822) };
}

export interface ClientParts {
  readonly address: MonitAddress;
  /** `user:password` on one line; read for each request, since the agent may rewrite it. */
  readonly userFile: string;
  readonly group: string;
  readonly clock: Clock;
  readonly random: Random;
}

const WITHIN_MS = 30_000;
const LARGEST = 4 * 1024 * 1024;

/** monit's HTTP interface, tried again as upstream does: it is away for a moment whenever it reads its files. */
export class MonitClient {
  readonly #parts: ClientParts;
  readonly #http: HttpClient;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    const { host, port } = parts.address;
    this.#http = new HttpClient({ origin: `http://${host}:${port}`, clock: parts.clock });
  }

  async status(signal: AbortSignal, tries = 20): Promise<MonitStatus> {
    const text = await this.#retried(
      "status",
      tries,
      () => true,
      signal,
      () => this.#request("GET", "/_status2?format=xml", undefined, signal),
    );
    return parseStatus(text, this.#parts.group);
  }

  /** A service that is busy answers 503; upstream waits for it for five minutes when it is stopped. */
  async act(service: string, action: "start" | "stop" | "unmonitor", signal: AbortSignal): Promise<void> {
    const start = action === "start";
    const again = (status: number) => start || status === 503 || status === 0;
    await this.#retried(`${action} of ${service}`, start ? 20 : 300, again, signal, () =>
      this.#request("POST", `/${encodeURIComponent(service)}`, action, signal),
    );
  }

  async #retried(
    doing: string,
    tries: number,
    again: (status: number) => boolean,
    signal: AbortSignal,
    work: () => Promise<string>,
  ): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        const status = error instanceof Refused ? error.status : 0;
        const { host, port } = this.#parts.address;
        if (attempt >= tries || !again(status))
          throw MonitUnreachable({ doing, address: `${host}:${port}`, why: messageTrail(error) });
        await this.#parts.clock.sleep(1000, signal);
      }
    }
  }

  async #request(
    method: string,
    path: string,
    action: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const user = (await readFile(this.#parts.userFile, "utf8")).split("\n")[0]?.trim() ?? "";
    // Newer versions want a token twice, so that no web page of others can make a request.
    const token = this.#parts.random.hex(16);
    const body = action === undefined ? undefined : `securitytoken=${token}&action=${action}`;
    const reply = await this.#http.request({
      method,
      path,
      headers: {
        authorization: `Basic ${Buffer.from(user).toString("base64")}`,
        ...(body !== undefined && {
          "content-type": "application/x-www-form-urlencoded",
          cookie: `securitytoken=${token}`,
        }),
      },
      ...(body !== undefined && { body }),
      signal,
      withinMs: WITHIN_MS,
      largest: LARGEST,
    });
    const text = await reply.text();
    // Newer versions answer an action with the way back to their page.
    if (reply.status !== 200 && !(action !== undefined && reply.status === 302))
      throw new Refused(reply.status);
    return text;
  }
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`HTTP status ${status}`);
    this.status = status;
  }
}
