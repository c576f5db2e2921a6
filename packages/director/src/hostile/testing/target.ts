import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "@slipway/testkit/temporary";

const PROGRAM = fileURLToPath(new URL("../../../dist/slipway-director.cjs", import.meta.url));

/** A CPI that answers each call with what the file beside it says, whatever that is. */
const CPI = `#!/usr/bin/env node
const { readFileSync } = require("node:fs");
process.stdin.resume().on("end", () => process.stdout.write(readFileSync(__dirname + "/answer")));
`;

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly user?: "admin" | "reader" | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | undefined;
}

export interface TargetReply {
  /** 0: the connection was cut, which is an answer, too. */
  readonly status: number;
  readonly body: string;
}

/** A Director as it is delivered, in a process of its own, with its embedded database and HTTPS. */
export interface Target {
  readonly log: () => string;
  alive(): boolean;
  send(sent: Sent): Promise<TargetReply>;
  /** Sets the answer of the CPI from now on. */
  cpiSays(answer: string | Buffer): Promise<void>;
  /** Returns everything a reader of the API can see, to find out what has changed. */
  everything(): Promise<string>;
  stop(): Promise<void>;
}

export async function startTarget(): Promise<Target> {
  const { path: dir, remove } = await temporaryDirectory();
  await chmod(dir, 0o755);
  const cpi = join(dir, "cpi");
  await writeFile(cpi, CPI, { mode: 0o755 });
  await writeFile(join(dir, "answer"), "{}");
  const users = [
    { name: "admin", password: "admin-pw" },
    { name: "reader", password: "reader-pw", scopes: ["bosh.read"] },
  ];
  const config = { users, cpi: { exec_path: cpi, deadline_s: 20 }, listen: { port: 0 } };
  await writeFile(join(dir, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const args = [PROGRAM, "--config", join(dir, "config.json"), "--state-dir", join(dir, "state")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  const url = await listening(child, said);
  const ca = await readFile(join(dir, "state", "pki", "ca.pem"), "utf8").catch(() => undefined);
  const port = Number(new URL(url).port);

  const send = (sent: Sent): Promise<TargetReply> =>
    new Promise((resolve) => {
      const credentials = sent.user === undefined ? [] : [`${sent.user}:${sent.user}-pw`];
      const [login] = credentials.map((pair) => `Basic ${Buffer.from(pair).toString("base64")}`);
      const headers = { ...(login !== undefined && { authorization: login }), ...sent.headers };
      const cut = () => resolve({ status: 0, body: "" });
      try {
        const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
        const options = {
          host: "127.0.0.1",
          port,
          method: sent.method,
          path: sent.path,
          agent: false,
        } as const;
        const outgoing = request({ ...options, ...trust, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", cut);
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        });
        outgoing.on("error", cut).end(sent.body);
      } catch {
        // Node itself does not send such a path or header.
        cut();
      }
    });

  const SHOWN = ["/configs", "/deployments", "/stemcells", "/tasks?verbose=2", "/events", "/locks"];
  return {
    log: () => said.join(""),
    alive: () => child.exitCode === null && child.signalCode === null,
    send,
    cpiSays: (answer) => writeFile(join(dir, "answer"), answer),
    everything: async () => {
      const answers = SHOWN.map(async (path) => {
        const { status, body } = await send({ method: "GET", path, user: "admin" });
        if (status !== 200) throw new Error(`${path} was answered with ${status}`);
        return body;
      });
      return (await Promise.all(answers)).join("\n");
    },
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "close");
      await remove();
    },
  };
}

async function listening(child: ChildProcess, said: readonly string[]): Promise<string> {
  if (child.stdout === null) throw new Error("bug: no pipe");
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /https:\/\/\S+?(?=\. )/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error(`the Director did not start: ${said.join("")}`);
}
