import { readExample } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Agreement, type CallerVersions, type Mix, negotiate, SHIPPED_CALLERS } from "./negotiate.ts";

function agreed(mix: Mix): Agreement {
  const decision = negotiate(mix);
  if (decision.outcome === "refused") throw new Error(`refused: ${decision.problems.join("; ")}`);
  return decision;
}

function refused(mix: Mix): string {
  const decision = negotiate(mix);
  if (decision.outcome === "agreed") throw new Error("agreed");
  expect(decision.problems.length).toBeGreaterThan(0);
  return decision.problems.join("; ");
}

const ALL_WRITES = ["create_vm", "attach_disk", "detach_disk", "delete_vm"];

/** The eight rows of the reference, each written out. */
const OLD = { result: "cid", writes: ALL_WRITES, userData: "registry" };
const ROWS = [
  { director: 1, cpi: 1, stemcell: 1, sent: 1, ...OLD },
  { director: 1, cpi: 1, stemcell: 2, sent: 1, ...OLD },
  { director: 1, cpi: 2, stemcell: 1, sent: 1, ...OLD },
  { director: 1, cpi: 2, stemcell: 2, sent: 1, ...OLD },
  { director: 2, cpi: 1, stemcell: 1, sent: 1, ...OLD },
  { director: 2, cpi: 1, stemcell: 2, sent: 1, ...OLD },
  {
    ...{ director: 2, cpi: 2, stemcell: 1, sent: 2, result: "[cid, networks]", writes: ALL_WRITES },
    ...{ userData: "registry" },
  },
  {
    ...{ director: 2, cpi: 2, stemcell: 2, sent: 2, result: "[cid, networks]", writes: [] },
    ...{ userData: "settings" },
  },
] as const;

describe("the eight mixes of the reference", () => {
  it.each(ROWS)("Director $director, CPI $cpi, stemcell $stemcell", (row) => {
    const decision = agreed(row);
    expect(decision.apiVersion).toBe(row.sent);
    expect(decision.createVmResult).toBe(row.result);
    expect(decision.registryWrites).toEqual(row.writes);
    expect(decision.userData).toBe(row.userData);
    expect(decision.attachDiskReturnsHint).toBe(row.sent === 2);
    expect(decision.registryless).toBe(row.writes.length === 0);
    expect(decision.notes).toEqual([]);
  });

  it("are registry-less only where all three are 2", () => {
    expect(ROWS.filter((row) => agreed(row).registryless)).toEqual([ROWS[7]]);
  });
});

describe("the frozen decisions", () => {
  interface Row {
    readonly director: number;
    readonly cpi: number;
    readonly stemcell: number;
    readonly [key: string]: unknown;
  }
  const { rows } = readExample("negotiation.json") as { rows: readonly Row[] };

  it("cover every mix of the three versions once", () => {
    const mixes = rows.map((row) => `${row.director}${row.cpi}${row.stemcell}`);
    const all = ["1", "2", "3"].flatMap((d) =>
      ["1", "2", "3"].flatMap((c) => ["1", "2", "3"].map((s) => d + c + s)),
    );
    expect(mixes).toEqual(all);
  });

  it.each(rows)("Director $director, CPI $cpi, stemcell $stemcell is decided as frozen", (row) => {
    const { director, cpi, stemcell } = row;
    const decision = agreed({ director, cpi, stemcell });
    expect({
      director: decision.director,
      cpi: decision.cpi,
      stemcell: decision.stemcell,
      api_version: decision.apiVersion,
      registryless: decision.registryless,
      create_vm_result: decision.createVmResult,
      attach_disk_returns_hint: decision.attachDiskReturnsHint,
      create_stemcell_takes_tags: decision.createStemcellTakesTags,
      user_data: decision.userData,
      registry_writes: decision.registryWrites,
    }).toEqual(row);
    expect(decision.reason).not.toBe("");
  });
});

describe("callers as they shipped", () => {
  const caller = (name: keyof typeof SHIPPED_CALLERS): CallerVersions => SHIPPED_CALLERS[name];
  const withRegistry = (name: keyof typeof SHIPPED_CALLERS): CallerVersions => ({
    ...caller(name),
    registry: true,
  });
  const MODERN = { apiVersion: 2, registryless: true, registryWrites: [] };
  const BOTH = {
    apiVersion: 2,
    registryless: false,
    registryWrites: ALL_WRITES,
    createVmResult: "[cid, networks]",
  };
  const V1 = { apiVersion: 1, registryless: false, registryWrites: ALL_WRITES, createVmResult: "cid" };

  it.each(["cli v5.4 to v6", "director v268.2.1 to v271"] as const)(
    "%s: 2 and 2 without registry, 2 and 1 in version 2 shapes with it, CPI 1 as ever",
    (name) => {
      expect(agreed({ director: caller(name), cpi: 2, stemcell: 2 })).toMatchObject(MODERN);
      expect(agreed({ director: caller(name), cpi: 3, stemcell: 3 })).toMatchObject(MODERN);
      expect(agreed({ director: caller(name), cpi: 2, stemcell: 1 })).toMatchObject(BOTH);
      expect(agreed({ director: caller(name), cpi: 1, stemcell: 1 })).toMatchObject(V1);
      expect(agreed({ director: caller(name), cpi: 1, stemcell: 2 })).toMatchObject(V1);
    },
  );

  it("director up to v265 speaks version 1 with every CPI and stemcell", () => {
    for (const cpi of [1, 2, 3])
      for (const stemcell of [1, 2, 3])
        expect(agreed({ director: caller("director up to v265"), cpi, stemcell })).toMatchObject(V1);
  });

  it("director v272 to v282.0 decides as before where a registry runs outside it, and needs one", () => {
    const name = "director v272 to v282.0";
    expect(agreed({ director: caller(name), cpi: 2, stemcell: 2 })).toMatchObject(MODERN);
    for (const mix of [
      { cpi: 2, stemcell: 1 },
      { cpi: 1, stemcell: 1 },
      { cpi: 1, stemcell: 2 },
    ]) {
      const before = agreed({ director: caller("director v268.2.1 to v271"), ...mix });
      expect(agreed({ director: withRegistry(name), ...mix })).toEqual(before);
      expect(refused({ director: caller(name), ...mix })).toContain("needs a registry");
    }
  });

  it("director v282.1 speaks version 3 and still takes CPIs of version 1", () => {
    const name = "director v282.1";
    expect(agreed({ director: caller(name), cpi: 3, stemcell: 2 })).toMatchObject({
      apiVersion: 3,
      registryless: true,
      createStemcellTakesTags: true,
    });
    expect(agreed({ director: withRegistry(name), cpi: 1, stemcell: 2 })).toMatchObject(V1);
  });

  it("director v283 and later refuses CPIs of version 1, in its own words", () => {
    const name = "director v283 and later";
    const text = "CPI API version 1 is not supported. Minimum required version is 2.";
    for (const cpi of [1, undefined])
      for (const stemcell of [1, 2, 3]) {
        expect(refused({ director: caller(name), cpi, stemcell })).toBe(text);
        expect(refused({ director: withRegistry(name), cpi, stemcell })).toBe(text);
      }
    expect(agreed({ director: caller(name), cpi: 2, stemcell: 2 })).toMatchObject(MODERN);
    expect(agreed({ director: withRegistry(name), cpi: 2, stemcell: 1 })).toMatchObject(BOTH);
    expect(refused({ director: caller(name), cpi: 2, stemcell: 1 })).toContain("needs a registry");
  });

  it("cli v7 and later takes version 2 with a stemcell of 2 or more, nothing else, and never speaks 3", () => {
    const director = caller("cli v7 and later");
    expect(agreed({ director, cpi: 2, stemcell: 2 })).toMatchObject(MODERN);
    expect(agreed({ director, cpi: 3, stemcell: 3 })).toMatchObject({
      ...MODERN,
      createStemcellTakesTags: false,
    });
    refused({ director, cpi: 2, stemcell: 1 });
    refused({ director, cpi: 1, stemcell: 1 });
    refused({ director, cpi: 1, stemcell: 2 });
  });
});

describe("versions that are missing", () => {
  it.each([undefined, null])("mean 1 (%s)", (none) => {
    expect(agreed({ director: 2, cpi: 2, stemcell: none })).toEqual(
      agreed({ director: 2, cpi: 2, stemcell: 1 }),
    );
    expect(agreed({ director: 2, cpi: none, stemcell: 2 })).toEqual(
      agreed({ director: 2, cpi: 1, stemcell: 2 }),
    );
    expect(agreed({ director: none, cpi: 2, stemcell: 2 })).toEqual(
      agreed({ director: 1, cpi: 2, stemcell: 2 }),
    );
    expect(agreed({ director: { max: none, min: none }, cpi: 2 })).toEqual(agreed({ director: 1, cpi: 2 }));
  });

  it("all together are version 1 with a registry", () => {
    expect(agreed({})).toMatchObject({ apiVersion: 1, registryless: false, userData: "registry" });
  });
});

describe("versions that make no sense", () => {
  const NONSENSE = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "2", "", true, [2], {}];
  const parts = ["cpi", "stemcell"] as const;

  it.each(parts.flatMap((part) => NONSENSE.map((value) => [part, value] as const)))(
    "are refused for the %s, which is named: %j",
    (part, value) => {
      expect(refused({ director: 2, cpi: 2, stemcell: 2, [part]: value })).toContain(
        `${part} version must be`,
      );
    },
  );

  it.each([0, -1, 1.5, "2", [2]])(
    "are refused for the director, alone or as its highest or lowest: %j",
    (value) => {
      expect(refused({ director: value, cpi: 2, stemcell: 2 })).toContain("director version must be");
      expect(refused({ director: { max: value }, cpi: 2 })).toContain("director version must be");
      expect(refused({ director: { max: 2, min: value }, cpi: 2 })).toContain(
        "director minimum version must be",
      );
    },
  );

  it("are all reported at once", () => {
    expect(refused({ director: 0, cpi: "2", stemcell: 1.5 }).split("; ")).toHaveLength(3);
  });

  it.each(["director", ...parts])(
    "are read as 3 when newer than this contract, with a note about the %s",
    (part) => {
      const decision = agreed({ director: 3, cpi: 3, stemcell: 3, [part]: 99 });
      expect({ ...decision, notes: [] }).toEqual(agreed({ director: 3, cpi: 3, stemcell: 3 }));
      expect(decision.notes).toEqual([`${part} version 99 is newer than this contract; read as 3`]);
    },
  );

  it("never throw, whatever they are", () => {
    const anything = fc.anything();
    fc.assert(
      fc.property(fc.record({ director: anything, cpi: anything, stemcell: anything }), (mix) => {
        expect(["agreed", "refused"]).toContain(negotiate(mix).outcome);
      }),
    );
  });
});

describe("every decision", () => {
  const version = fc.integer({ min: 1, max: 5 });

  it("follows the one formula, and the smaller of Director and CPI decides the shapes", () => {
    fc.assert(
      fc.property(version, version, version, (director, cpi, stemcell) => {
        const decision = agreed({ director, cpi, stemcell });
        expect(decision.apiVersion).toBe(Math.min(director, cpi, 3));
        expect(decision.registryless).toBe(decision.apiVersion >= 2 && stemcell >= 2);
        expect(decision.registryWrites.length === 0).toBe(decision.registryless);
        expect(decision.userData === "settings").toBe(decision.registryless);
        expect(decision.attachDiskReturnsHint).toBe(decision.apiVersion >= 2);
      }),
    );
  });

  it("an agreement that needs the registry says whose version is why", () => {
    expect(agreed({ director: 1, cpi: 2, stemcell: 2 }).reason).toMatch(/api_version 1/);
    expect(agreed({ director: 2, cpi: 2, stemcell: 1 }).reason).toMatch(/stemcell version 1/);
    expect(agreed({ director: 1, cpi: 1, stemcell: 1 }).reason).toMatch(/api_version 1.*stemcell version 1/);
    expect(agreed({ director: 2, cpi: 2, stemcell: 2 }).reason).toMatch(/no registry/);
  });
});
