import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeClouds } from "@slipway/engine/clouds/clouds";
import { execCpiPort } from "@slipway/engine/clouds/exec-cpi";
import { runOther } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { FlowContext } from "@slipway/engine/steps/context";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { DirectorUuid } from "@slipway/protocol/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { listStemcells } from "./stemcells.ts";
import { listStrays } from "./strays.ts";
import { runningTask } from "./testing/running-task.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let dir: string;
beforeEach(async () => {
  base = await freshDatabase();
  const directory = await temporaryDirectory();
  dir = directory.path;
  return async () => {
    await base.close();
    await directory.remove();
  };
});

interface Killed {
  /** Method whose first `times` calls are killed from outside. */
  readonly method: string;
  readonly times: number;
  /** True if the CPI remembers requests. */
  readonly repeatable: boolean;
  /** True if the method is refused from then on. */
  readonly refuses?: boolean;
}

/** A CPI that does its work and is killed before it can say so. */
const script = ({ method, times, repeatable, refuses = false }: Killed): string => `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const request = JSON.parse(readFileSync(0, "utf8"));
const calls = ${JSON.stringify(join(dir, "calls"))};
appendFileSync(calls, request.method + " " + request.context.request_id + "\\n");
const before = readFileSync(calls, "utf8").split("\\n").filter((line) => line.startsWith(request.method + " ")).length;
if (request.method === ${JSON.stringify(method)} && before <= ${times}) process.kill(process.pid, "SIGKILL");
const info = { api_version: 2, stemcell_formats: ["local"], capabilities: { repeats_by_request_id: ${repeatable} } };
const result = request.method === "info" ? info : "sc-" + request.context.request_id;
const error = request.method === ${JSON.stringify(method)} && ${refuses}
  ? { type: "Bosh::Clouds::CloudError", message: "the cloud is away", ok_to_retry: false }
  : null;
process.stdout.write(JSON.stringify({ result: error === null ? result : null, error, log: "" }));
`;

async function upload(killed: Killed) {
  const path = join(dir, "cpi");
  await writeFile(path, script(killed), { mode: 0o755 });
  const { journal } = await runningTask(base.db);
  const warnings: string[] = [];
  const context = {
    journal,
    deployment: "",
    signal: new AbortController().signal,
    warn: (message: string) => warnings.push(message),
    debug: () => undefined,
    cpiLog: () => undefined,
    clock: systemClock,
    random: systemRandom,
    clouds: makeClouds({
      cpis: [{ name: "", port: execCpiPort({ path, clock: systemClock }) }],
      directorUuid: "d-1" as DirectorUuid,
      random: systemRandom,
    }),
  } as unknown as FlowContext;
  const stemcell = {
    name: "jammy",
    version: "1.1",
    operatingSystem: "ubuntu-jammy",
    digest: "sha256:aa",
    apiVersion: 3,
    cloudProperties: {},
  };
  const done = runOther(
    "create_stemcell",
    { stemcell, imagePath: "/image", cpi: "", tags: {} },
    context,
    "s",
  );
  const failure = await done.then(
    () => undefined,
    (error: unknown) => error,
  );
  const calls = (await readFile(join(dir, "calls"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const ids = (method: string) => calls.filter(([name]) => name === method).map(([, id]) => id);
  return { failure, warnings, ids, context };
}

describe("a CPI that is killed from outside", () => {
  it("is asked again under the same request id in the middle of a step, which goes on, and the operator gets a warning", async () => {
    const { failure, warnings, ids } = await upload({
      method: "create_stemcell",
      times: 2,
      repeatable: true,
    });
    expect(failure).toBeUndefined();
    expect(ids("create_stemcell")).toHaveLength(3);
    expect(new Set(ids("create_stemcell")).size).toBe(1);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/create_stemcell: the CPI was ended from outside \(signal SIGKILL\)/);
    expect(await listStemcells(base.db)).toMatchObject([{ cid: `sc-${ids("create_stemcell")[0]}` }]);
    expect(await base.db.selectFrom("intents").selectAll().execute()).toEqual([]);
  });

  it("keeps the intent open when a killed CPI refuses the repeated call", async () => {
    const killed = { method: "create_stemcell", times: 1, repeatable: true, refuses: true };
    const { failure, ids } = await upload(killed);
    expect(String((failure as Error).cause)).toMatch(/could not be found out.*the cloud is away/);
    expect(new Set(ids("create_stemcell")).size).toBe(1);
    expect(await base.db.selectFrom("intents").selectAll().execute()).toHaveLength(1);
  });

  it("again and again fails the step, whose outcome is still to be settled", async () => {
    const { failure, ids } = await upload({ method: "create_stemcell", times: 9, repeatable: true });
    expect(failure).toMatchObject({ cause: { killedBy: "signal SIGKILL", cause: { code: "DIC-010" } } });
    expect(ids("create_stemcell")).toHaveLength(4);
    expect(await base.db.selectFrom("intents").selectAll().execute()).toHaveLength(1);
  });

  it("is not asked again if it remembers no requests: what it may have made is settled as a stray, never made twice", async () => {
    const { failure, ids, context } = await upload({
      method: "create_stemcell",
      times: 1,
      repeatable: false,
    });
    expect(failure).toMatchObject({ cause: { cause: { code: "DIC-010" } } });
    expect(ids("create_stemcell")).toHaveLength(1);
    await settleOpenIntents(context, { scope: "s" });
    expect(await listStrays(base.db)).toMatchObject([{ kind: "stemcell" }]);
  });

  it("is asked once more if it was only answering a question", async () => {
    const { failure, ids } = await upload({ method: "info", times: 2, repeatable: true });
    expect(failure).toBeUndefined();
    expect(ids("info")).toHaveLength(3);
  });
});
