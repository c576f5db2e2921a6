import { MIXES, rowsOf } from "@slipway/protocol/mixes";
import { describe, expect, it } from "vitest";
import { mixesSentence, mixesTable } from "./table.ts";

const vm = (name: string, apiVersion: number, stemcell: number) => ({ name, apiVersion, stemcell });

describe("the eight mixes", () => {
  it("stand in the order of the table, and only the last needs no registry", () => {
    expect(MIXES.map(({ director, cpi, stemcell }) => `${director}${cpi}${stemcell}`)).toEqual([
      "111",
      "112",
      "121",
      "122",
      "211",
      "212",
      "221",
      "222",
    ]);
    expect(MIXES.filter(({ agreed }) => agreed.registryless).map(({ number }) => number)).toEqual([8]);
    const rows = mixesTable([], 3).rows.map((row) => row.slice(0, 9).join(" "));
    expect(rows[0]).toBe("1 v1 v1 v1 v1 cid nothing registry yes");
    expect(rows[6]).toBe("7 v2+ v2+ v1 v2+ [cid, networks] hint registry yes");
    expect(rows[7]).toBe("8 v2+ v2+ v2+ v2+ [cid, networks] hint user-data no");
  });

  it.each([
    [3, 2, 2, [8]],
    [3, 3, 3, [8]],
    [3, 2, 1, [7]],
    [2, 1, 2, [6]],
    [2, 1, 1, [5]],
    [1, 1, 3, [2, 4]],
    [1, 1, 1, [1, 3]],
  ])(
    "with Director %i, calls of version %i and stemcell %i the VM is in %j",
    (director, api, stemcell, rows) => {
      expect(rowsOf(vm("x", api, stemcell), director).map(({ number }) => number)).toEqual(rows);
    },
  );

  it("say how many VMs run in each, which, and what that means", () => {
    const vms = [vm("shop: db/0", 2, 3), vm("shop: web/0", 2, 2), vm("old: a/0", 2, 1)];
    const { rows } = mixesTable(vms, 3);
    expect(rows[7]?.slice(-2)).toEqual(["2", "shop: db/0\nshop: web/0"]);
    expect(rows[6]?.slice(-2)).toEqual(["1", "old: a/0"]);
    expect(rows[0]?.slice(-2)).toEqual(["0", ""]);
    expect(mixesSentence(vms, 3)).toBe("3 VMs run: 2 without a registry, 1 with one.");
    expect(mixesSentence(vms.slice(0, 2), 3)).toBe("2 VMs run without a registry.");
    expect(mixesSentence(vms.slice(2), 3)).toBe("The only VM runs with a registry.");
    expect(mixesSentence([], 3)).toBe("There are no VMs yet.");
  });
});
