import { X509Certificate } from "node:crypto";
import type { GenerationRequest } from "@slipway/engine/variables/config-server";
import { VariableMissing, VariableNotGenerated } from "@slipway/engine/variables/errors";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { freshDatabase } from "@slipway/testkit/database";
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { builtInConfigServer } from "./built-in.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeEach(async () => {
  base = await freshDatabase();
  return () => base.close();
});

const server = () =>
  builtInConfigServer({
    db: base.db,
    write: (work) => base.db.transaction().execute(work),
    clock: systemClock,
    random: systemRandom,
  });
let count = 0;
const wanted = (more: Partial<GenerationRequest> = {}): GenerationRequest => ({
  name: "/lab/shop/pw",
  type: "password",
  options: {},
  mode: "no-overwrite",
  requestId: `request-${count++}`,
  ...more,
});

describe("the Director's own config server", () => {
  it("generates once, and finds by name and by id", async () => {
    const one = server();
    const id = await one.generate(wanted());
    expect(await one.generate(wanted({ type: "rsa" }))).toBe(id);
    const found = await one.newest("/lab/shop/pw");
    expect(found).toMatchObject({ id, value: expect.stringMatching(/^[a-z0-9]{20}$/) });
    expect(await one.byId(id, "/lab/shop/pw")).toEqual(found);
  });

  it("many at once make one", async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => server().generate(wanted())));
    expect(new Set(ids).size).toBe(1);
  });

  it("overwrites on request, once for each request, and keeps what was before", async () => {
    const one = server();
    const first = await one.generate(wanted());
    const again = wanted({ mode: "overwrite" });
    const second = await one.generate(again);
    expect(second).not.toBe(first);
    expect(await one.generate(again)).toBe(second);
    expect([(await one.newest(again.name)).id, (await one.byId(first, again.name)).id]).toEqual([
      second,
      first,
    ]);
  });

  it("converges: a new version only for another definition", async () => {
    const one = server();
    const converge = (options: GenerationRequest["options"]) =>
      one.generate(wanted({ mode: "converge", options }));
    const first = await converge({ length: 10 });
    expect(await converge({ length: 10 })).toBe(first);
    const second = await converge({ length: 12 });
    expect(second).not.toBe(first);
    expect((await one.newest("/lab/shop/pw")).value).toMatch(/^[a-z0-9]{12}$/);
    expect(await one.generate(wanted({ options: { length: 99 } }))).toBe(second);
  });

  it("signs with an authority that it has made", async () => {
    const one = server();
    const certificate = (name: string, options: GenerationRequest["options"]) =>
      one.generate(wanted({ name, type: "certificate", options: { key_length: 2048, ...options } }));
    await certificate("/lab/shop/ca", { is_ca: true, common_name: "root" });
    await certificate("/lab/shop/web", { ca: "/lab/shop/ca", common_name: "web" });
    const [ca, web] = await Promise.all(
      ["ca", "web"].map(
        async (name) => (await one.newest(`/lab/shop/${name}`)).value as Record<string, string>,
      ),
    );
    expect(web?.ca).toBe(ca?.certificate);
    expect(
      new X509Certificate(web?.certificate ?? "").checkIssued(new X509Certificate(ca?.certificate ?? "")),
    ).toBe(true);
    await expect(certificate("/lab/shop/x", { ca: "/lab/shop/gone" })).rejects.toSatisfy(
      VariableNotGenerated.is,
    );
  });

  it("says what it has not, and what it cannot make", async () => {
    await expect(server().newest("/x")).rejects.toSatisfy(VariableMissing.is);
    await expect(server().byId("7", "/x")).rejects.toSatisfy(VariableMissing.is);
    await expect(server().generate(wanted({ type: "poem" }))).rejects.toThrow(
      /^Config Server failed to generate value for '\/lab\/shop\/pw' with type 'poem'\. There is no such type/,
    );
  });

  it("no value stands in the database as it is", async () => {
    const one = server();
    await one.generate(wanted({ options: { length: 33 } }));
    const { value } = await one.newest("/lab/shop/pw");
    const { rows } = await sql<{ all: string }>`select v::text as all from variables v`.execute(base.db);
    expect(rows.map(({ all }) => all).join()).not.toContain(String(value));
    expect(rows.length).toBe(1);
  });
});
