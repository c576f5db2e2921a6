import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { basicAuth, requestOnce } from "@slipway/kernel/http/client";
import { systemRandom } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { passableDirectory } from "@slipway/testkit/temporary";
import { expect } from "vitest";
import { startDirector } from "../director.ts";

export const PASSWORD = "CANARY-password";

/** Knows two VMs, of which one cannot be deleted, and repeats its credentials in its log. */
const CPI = `#!/usr/bin/env node
let text = "";
process.stdin.on("data", (piece) => (text += piece)).on("end", () => {
  const { method, arguments: args, context } = JSON.parse(text);
  process.stderr.write("[" + context.request_id + "] " + method + " with " + context.access_key + "\\n");
  process.stderr.write("its parent is " + process.ppid + "\\n");
  const broken = method === "delete_vm" && args[0] === "vm-broken";
  const error = broken ? { type: "Bosh::Clouds::CloudError", message: "no", ok_to_retry: false } : null;
  const result = method === "info" ? { api_version: 2, stemcell_formats: [] } : method === "has_vm" ? true : null;
  process.stdout.write(JSON.stringify({ result: broken ? null : result, error, log: "" }));
});
`;

/** A Director that was really started, with a CPI that is a process. It has a task: `DELETE /vms/NAME`. */
export async function smallDirector(config: DirectorConfig = {}, script?: string) {
  const dir = await passableDirectory("seeing");
  const cpi = join(dir, "cpi.cjs");
  await writeFile(cpi, CPI);
  await chmod(cpi, 0o755);
  const lines: string[] = [];
  const director = await startDirector({
    config: {
      cpi: {
        exec_path: cpi,
        properties: { access_key: "CANARY-of-the-cpi" },
        env: { PATH: process.env.PATH ?? "" },
      },
      health: { enabled: false },
      users: [{ name: "admin", password: PASSWORD }],
      ...config,
      listen: { port: 0, plain_http: true },
    },
    stateDir: join(dir, "state"),
    version: "0.0.0",
    clock: systemClock,
    random: systemRandom,
    script,
    log: (line) => lines.push(line),
  });
  const ask = async (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string,
  ) => {
    const reply = await requestOnce(
      { origin: director.url, clock: systemClock },
      {
        method,
        path,
        ...(body !== undefined && { body }),
        headers: { authorization: basicAuth("admin", PASSWORD), ...headers },
        withinMs: 60_000,
      },
    );
    return { status: reply.status, header: (name: string) => reply.header(name), text: await reply.text() };
  };
  /** The number of a task that has ended. */
  const taskOf = async (path: string, headers?: Readonly<Record<string, string>>): Promise<number> =>
    ended(await ask("DELETE", path, headers));
  /** Uploads a stemcell by its address. */
  const stemcellFrom = async (location: string): Promise<number> =>
    ended(
      await ask("POST", "/stemcells", { "content-type": "application/json" }, JSON.stringify({ location })),
    );
  const ended = async ({ header }: Awaited<ReturnType<typeof ask>>): Promise<number> => {
    const id = Number(header("location")?.split("/").at(-1));
    const state = async () =>
      (JSON.parse((await ask("GET", `/tasks/${id}`)).text) as { state: string }).state;
    await expect.poll(state, { timeout: 60_000 }).toMatch(/done|error/);
    return id;
  };
  /** Takes over another configuration, with the same users. */
  const reload = (changed: DirectorConfig) =>
    director.reload({ users: [{ name: "admin", password: PASSWORD }], ...changed });
  /** Takes over what the log is to have. */
  const logging = async (wanted: NonNullable<DirectorConfig["logging"]>) => {
    lines.length = 0;
    await reload({ ...config, logging: wanted });
  };
  const close = async () => {
    await director.close();
    await rm(dir, { recursive: true, force: true });
  };
  return { director, dir, lines, ask, taskOf, stemcellFrom, reload, logging, close };
}
