import { createPublicKey, X509Certificate } from "node:crypto";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureDeployment } from "../../store/deployments.ts";
import { ensureVariableSet, pinVariable, useVariableSet } from "../../store/variable-sets.ts";
import { ownVariables } from "../../variables/built-in.ts";
import { type Harness, startHarness } from "../testing/harness.ts";

let api: Harness;
beforeEach(async () => {
  api = await startHarness();
});
afterEach(() => api.close());

interface Value {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly value: unknown;
}
interface Change {
  readonly variables: readonly { readonly name: string; readonly id: string }[];
  readonly deployments: readonly string[];
  readonly step?: string;
}
interface Certificate {
  readonly ca: string;
  readonly certificate: string;
  readonly private_key: string;
}

const read = async (name: string) => (await api.get(`/variable?name=${name}`)).json as Value;
const certificate = async (name: string) => (await read(name)).value as Certificate;
const send = (method: string, path: string, body: object) =>
  api.ask(method, path, { type: "application/json", body: JSON.stringify(body) });
const regenerate = async (name: string, more: object = {}) =>
  (await send("POST", "/variable/regeneration", { name, ...more })).json as Change;
const generated = (
  name: string,
  type: string,
  options: object,
  mode: "no-overwrite" | "overwrite" = "no-overwrite",
) =>
  ownVariables({ db: api.db, clock: systemClock, random: systemRandom }).generate({
    ...{ name, type, options: { ...options }, mode, requestId: `${name} ${JSON.stringify(options)}` },
  });
const pems = (text: string) =>
  text
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((one) => one !== "")
    .map((one) => new X509Certificate(one));

describe("a variable of the Director's own config server", () => {
  it("is read, set and regenerated, with the deployments that still use an earlier version", async () => {
    const id = await generated("/lab/shop/pw", "password", { length: 12 });
    await ensureDeployment(api.db, "shop", []);
    const set = await ensureVariableSet(api.db, "shop", 1);
    await pinVariable(api.db, set.id, { name: "/lab/shop/pw", id });
    await useVariableSet(api.db, set.id);
    const first = await read("/lab/shop/pw");
    expect(first).toMatchObject({ id, version: 1, value: expect.stringMatching(/^[a-z0-9]{12}$/) });
    const changed = await regenerate("/lab/shop/pw");
    expect(changed.deployments).toEqual(["shop"]);
    const second = await read("/lab/shop/pw");
    expect(second).toMatchObject({ id: changed.variables[0]?.id, version: 2 });
    expect(second.value).toMatch(/^[a-z0-9]{12}$/);
    expect(second.value).not.toBe(first.value);
    await send("PUT", "/variable", { name: "/lab/shop/pw", value: "mine" });
    expect(await read("/lab/shop/pw")).toMatchObject({ version: 3, value: "mine", type: "password" });
    await send("PUT", "/variable", { name: "/lab/new", value: { a: 1 } });
    expect(await read("/lab/new")).toMatchObject({ version: 1, value: { a: 1 }, type: "value" });
    const { status, body } = await send("POST", "/variable/regeneration", { name: "/lab/new" });
    expect([status, body]).toEqual([409, expect.stringContaining("it was set, as a value")]);
  });

  it("leaves events with its name and without its value", async () => {
    await send("PUT", "/variable", { name: "/lab/pw", value: "canary-of-a-secret" });
    await read("/lab/pw");
    const { body } = await api.get("/events");
    expect(JSON.parse(body)).toMatchObject([
      { action: "read", object_type: "variable", object_name: "/lab/pw", user: "admin" },
      { action: "update", object_type: "variable", object_name: "/lab/pw", user: "admin" },
    ]);
    expect(body).not.toContain("canary");
  });

  it("is unknown by another name, and belongs to the other program where there is one", async () => {
    expect((await api.get("/variable?name=/lab/none")).status).toBe(404);
    expect((await send("PUT", "/variable", { name: "/bad name", value: 1 })).status).toBe(400);
    const external = await startHarness({ configServerUrl: "https://credhub:8844" });
    const { status, body } = await external.get("/variable?name=/lab/pw");
    await external.close();
    expect([status, body]).toEqual([409, expect.stringContaining("https://credhub:8844")]);
  });
});

describe("an authority", () => {
  beforeEach(async () => {
    const common = { key_length: 2048 };
    await generated("/lab/ca", "certificate", { ...common, is_ca: true, common_name: "root" });
    await generated("/lab/web", "certificate", { ...common, ca: "/lab/ca", common_name: "web" });
  });

  it("is rotated in three steps, and no certificate in use is distrusted in any of them", async () => {
    const before = { ca: await certificate("/lab/ca"), web: await certificate("/lab/web") };
    const start = await regenerate("/lab/ca");
    expect(start).toMatchObject({ step: "start", variables: [{ name: "/lab/ca" }, { name: "/lab/web" }] });
    const both = { ca: await certificate("/lab/ca"), web: await certificate("/lab/web") };
    expect(both.web.certificate).toBe(before.web.certificate);
    expect(both.ca.certificate).toBe(before.ca.certificate);
    expect(pems(both.web.ca)).toHaveLength(2);
    expect((await regenerate("/lab/ca")).step).toBe("switch");
    const switched = { ca: await certificate("/lab/ca"), web: await certificate("/lab/web") };
    const [next, old] = pems(switched.web.ca);
    expect(new X509Certificate(switched.web.certificate).checkIssued(next as X509Certificate)).toBe(true);
    // Those who have not been deployed again since the first step trust the new one, and the other way round.
    for (const bundle of [both.web.ca, switched.web.ca])
      for (const leaf of [before.web, switched.web]) expect(trusts(bundle, leaf.certificate)).toBe(true);
    expect(old?.raw.equals(new X509Certificate(before.ca.certificate).raw)).toBe(true);
    expect((await regenerate("/lab/ca")).step).toBe("finish");
    const after = { ca: await certificate("/lab/ca"), web: await certificate("/lab/web") };
    expect(pems(after.web.ca)).toHaveLength(1);
    expect(after.web.certificate).toBe(switched.web.certificate);
    expect(Object.keys(after.ca).sort()).toEqual(["ca", "certificate", "private_key"]);
    expect((await regenerate("/lab/ca")).step).toBe("start");
  });

  it("signs certificates that are made between the steps, which then have both to trust", async () => {
    await regenerate("/lab/ca");
    await generated("/lab/late", "certificate", { key_length: 2048, ca: "/lab/ca", common_name: "late" });
    expect(pems((await certificate("/lab/late")).ca)).toHaveLength(2);
  });

  it("is made again once if it has signed the authority that signs it", async () => {
    await generated("/lab/a", "certificate", { is_ca: true, common_name: "a" });
    await generated("/lab/b", "certificate", { is_ca: true, common_name: "b", ca: "/lab/a" });
    await generated("/lab/a", "certificate", { is_ca: true, common_name: "a", ca: "/lab/b" }, "overwrite");
    const { variables } = await regenerate("/lab/a");
    expect(variables.map(({ name }) => name)).toEqual(["/lab/a", "/lab/b"]);
  });

  it("is replaced at once on request, with all it has signed", async () => {
    const { step, variables } = await regenerate("/lab/ca", { at_once: true });
    expect([step, variables.map(({ name }) => name)]).toEqual([undefined, ["/lab/ca", "/lab/web"]]);
    const web = await certificate("/lab/web");
    expect(web.ca).toBe((await certificate("/lab/ca")).certificate);
    expect(trusts(web.ca, web.certificate)).toBe(true);
  });
});

const trusts = (bundle: string, leaf: string): boolean =>
  pems(bundle).some((ca) =>
    new X509Certificate(leaf).verify(createPublicKey(ca.publicKey.export({ type: "spki", format: "pem" }))),
  );
