import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import type { DiskCid, RequestId } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import { type ConfiguredCpi, parseCpiConfig, withProperties } from "../manifest/cpi-config.ts";
import type { CpiPort } from "./cpi-port.ts";
import { BadCpiProperties, CpiProgramRefused, OwnCpiProperties, UnknownCpi } from "./errors.ts";
import { configuredClouds } from "./testing/configured.ts";
import { cpiFile } from "./testing/cpi-files.ts";
import { info, ok } from "./testing/scripted-cpi.ts";

function cpis(...list: readonly object[]): readonly ConfiguredCpi[] {
  const parsed = parseCpiConfig([{ cpis: list }]);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ problem }) => problem).join());
  return parsed.cpis.map((cpi) => withProperties(cpi, cpi.properties));
}

/** A CPI that notes what it is asked. */
function noting(): { readonly port: CpiPort; readonly asked: CpiRequest[] } {
  const asked: CpiRequest[] = [];
  const call = async (request: CpiRequest) => {
    asked.push(request);
    return request.method === "info" ? info(2) : ok(true);
  };
  return { asked, port: { command: "noting", call } };
}

const DISK = "disk-1" as DiskCid;
const CALL = { requestId: "cpi-1" as RequestId };

describe("the CPIs of a CPI config", () => {
  it("are found by name, and the Director's own by ''", async () => {
    const [own, a] = [noting(), noting()];
    const clouds = configuredClouds({
      own: { name: "", port: own.port },
      programs: { byType: new Map(), paths: [], inProcess: new Map([["t", a.port]]) },
    }).of(cpis({ name: "a", type: "t" }));
    expect(clouds).toMatchObject({ names: ["a"], configured: true });
    await clouds.cloud("a").hasDisk(DISK, CALL);
    expect([own.asked.length, a.asked.map(({ method }) => method)]).toEqual([0, ["info", "has_disk"]]);
    await clouds.cloud("").hasDisk(DISK, CALL);
    expect(own.asked.map(({ method }) => method)).toEqual(["info", "has_disk"]);
  });

  it("answer for the names they had before, also for the Director's own", () => {
    const programs = { byType: new Map(), paths: [], inProcess: new Map([["t", noting().port]]) };
    const clouds = configuredClouds({ programs }).of(
      cpis({ name: "new", type: "t", migrated_from: [{ name: "old" }, { name: "" }] }),
    );
    expect(["old", "", "new", "other"].map((name) => clouds.nameOf(name))).toEqual([
      ...["new", "new", "new", "other"],
    ]);
    expect(clouds.cloud("old")).toBe(clouds.cloud("new"));
    expect(clouds.cloud("")).toBe(clouds.cloud("new"));
  });

  it("names a CPI that is missing from the CPI config in upstream's words", () => {
    const programs = { byType: new Map(), paths: [], inProcess: new Map([["t", noting().port]]) };
    const made = configuredClouds({ programs });
    expect(() => made.of(cpis({ name: "a", type: "t" })).cloud("b")).toThrow(
      UnknownCpi({ name: "b", known: ["a"], configured: true }).message,
    );
    expect(() => made.of([]).cloud("b")).toThrow(
      "CPI 'b' not found in cpi-config (because cpi-config is not set)",
    );
  });

  it("are asked for their info once by each task; a task keeps its clouds when their entry is gone", async () => {
    const { port, asked } = noting();
    const programs = { byType: new Map(), paths: [], inProcess: new Map([["t", port]]) };
    const made = configuredClouds({ programs });
    const before = made.of(cpis({ name: "a", type: "t" }));
    const next = made.of(cpis({ name: "a", type: "t" }, { name: "b", type: "t" }));
    for (const clouds of [before, before, next, next]) await clouds.cloud("a").info();
    expect(asked.length).toBe(2);
    const after = made.of(cpis({ name: "b", type: "t" }));
    expect(() => after.cloud("a")).toThrow(/not found in cpi-config/);
    expect(await before.cloud("a").hasDisk(DISK, CALL)).toBe(true);
  });

  it("get their properties in the context of every call", async () => {
    const { path } = await cpiFile(PARROT, { name: "parrot.cjs" });
    const env = { FROM_OPERATOR: "yes" };
    const programs = { byType: new Map([["parrot", path]]), paths: [], inProcess: new Map(), env };
    const made = configuredClouds({ programs });
    const properties = { zone: "z", nested: { key: "k" } };
    const clouds = made.of(cpis({ name: "p", type: "parrot", properties }));
    const lines: string[] = [];
    await clouds.cloud("p").hasDisk(DISK, { ...CALL, log: (text) => lines.push(text) });
    expect(lines.join("")).toContain("zone nested yes");
    // Property values are for the CPI only.
    expect(lines.join("")).not.toContain('"k"');
  });
});

/** Says on stderr which keys it was given beside the contract's own. */
const PARROT = `
let text = "";
process.stdin.on("data", (part) => { text += part; }).on("end", () => {
  const { method, context } = JSON.parse(text);
  const { director_uuid, request_id, vm, ...mine } = context;
  process.stderr.write(Object.keys(mine).join(" ") + " " + process.env.FROM_OPERATOR + "\\n");
  const result = method === "info" ? { stemcell_formats: [], api_version: 2 } : true;
  process.stdout.write(JSON.stringify({ result, error: null, log: "" }));
});
`;

describe("a CPI config may run", () => {
  const programs = {
    byType: new Map([["tiny", "/opt/tiny"]]),
    paths: ["/opt/own"],
    inProcess: new Map([["local", noting().port]]),
  };
  const made = configuredClouds({ programs });
  const checked = (more: object) => () => {
    for (const cpi of cpis({ name: "a", type: "tiny", ...more })) made.check(cpi);
  };

  it.each([
    {},
    { exec_path: "/opt/own" },
    { exec_path: "/opt/tiny" },
    { type: "aws" },
    { type: "x", exec_path: "/var/vcap/jobs/warden_cpi/bin/cpi" },
    { type: "local" },
  ])("what the Director's configuration or a job has installed: %j", (more) => {
    expect(checked(more)).not.toThrow();
  });

  it.each(["/bin/sh", "opt/own", "/opt/own/../../bin/sh", "/var/vcap/jobs/../../../bin/cpi", "/opt/tiny "])(
    "nothing else: %s",
    (path) => {
      expect(checked({ exec_path: path })).toThrow(CpiProgramRefused({ name: "a", path }).message);
    },
  );

  it("the CPI in the Director's process only with the Director's own configuration", () => {
    const more = { type: "local", properties: { dir: "/etc" } };
    expect(checked(more)).toThrow(OwnCpiProperties({ name: "a", type: "local" }).message);
  });

  it("nothing with properties that would take the place of what every call has", () => {
    const failure = BadCpiProperties({ name: "a", keys: ["request_id"] });
    expect(checked({ properties: { request_id: "x" } })).toThrow(failure.message);
  });

  it("a CPI entry that cannot be used does not affect the others", () => {
    const clouds = made.of(cpis({ name: "a", type: "tiny" }, { name: "b", type: "x", exec_path: "/bin/sh" }));
    expect(clouds.names).toEqual(["a", "b"]);
    expect(clouds.cloud("a").name).toBe("a");
    expect(() => clouds.cloud("b")).toThrow(CpiProgramRefused({ name: "b", path: "/bin/sh" }).message);
  });
});
