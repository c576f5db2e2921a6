import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { readExample } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentId } from "../ids.ts";
import { matches } from "../schema/check.ts";
import { shapeOf } from "../schema/children.ts";
import type { Schema } from "../schema/marks.ts";
import {
  type AgentSettings,
  agentSettings,
  checkAgentSettings,
  mergeSettings,
  updateSettings,
} from "./agent-settings.ts";
import { type Disks, disks } from "./disks.ts";
import { type Networks, networks } from "./networks.ts";
import { readUserData, registryUserData } from "./user-data.ts";

describe("agent settings", () => {
  it("come out of the check as the same object that went in", () => {
    const value = readExample("settings/agent-settings.full.json");
    const checked = checkAgentSettings(value);
    expect(checked.ok && checked.value).toBe(value);
  });

  it("rejects an object for the root disk: no agent could decode it", () => {
    expect(checkAgentSettings({ agent_id: "a", disks: { system: { path: "/dev/sda" } } })).toEqual({
      ok: false,
      problems: ["settings.disks.system: expected string, got an object"],
    });
  });

  it.each([[undefined], [null], [""], ["/dev/sdb"], [{ path: "/dev/sdb" }], [{ lun: "0" }]])(
    "take %j for the ephemeral disk",
    (ephemeral) => {
      expect(
        checkAgentSettings({ agent_id: "a", disks: ephemeral === undefined ? {} : { ephemeral } }).ok,
      ).toBe(true);
    },
  );

  it.each([[""], ["ext4"], ["xfs"], [null]])("take the file system %j", (fs) => {
    expect(checkAgentSettings({ agent_id: "a", env: { persistent_disk_fs: fs } }).ok).toBe(true);
  });

  it("let keys through that they do not know, at every level", () => {
    const value = {
      agent_id: "a",
      future: 1,
      vm: { name: "n", id: "vm-1" },
      networks: { berth: { future: [1] } },
      disks: { future: {} },
      env: { mine: { x: 1 }, bosh: { ipv6: { enable: true }, parallel: 5 } },
    };
    expect(checkAgentSettings(value).ok).toBe(true);
  });
});

describe("settings with nulls", () => {
  /** Fields that may be missing but not null, as paths. Hints are their own contract: an agent panics on their nulls. */
  function fieldsWithoutNull(schema: Schema, path: string): readonly string[] {
    const shape = shapeOf(schema);
    switch (shape.kind) {
      case "maybe":
        return [
          ...(shape.missing && !matches(schema, null) ? [path] : []),
          ...fieldsWithoutNull(shape.inner, path),
        ];
      case "fields":
        return Object.entries(shape.fields).flatMap(([name, field]) =>
          fieldsWithoutNull(field, `${path}.${name}`),
        );
      case "map":
        return fieldsWithoutNull(shape.value, `${path}.*`);
      case "list":
        return fieldsWithoutNull(shape.item, `${path}[]`);
      default:
        return [];
    }
  }

  it.each([
    ["settings", agentSettings],
    ["update_settings", updateSettings],
    ["user-data", registryUserData],
  ])("fit the schema of %s wherever a field may be missing", (name, schema) => {
    expect(fieldsWithoutNull(schema as Schema, name)).toEqual([]);
  });

  it.each(["bosh-cpi-go", "bosh-cpi-go-with-hints-unset", "create-env-in-go", "nulls"])(
    "as agent-settings.%s.json has them are read without them",
    (name) => {
      const read = checkAgentSettings(readExample(`settings/agent-settings.${name}.json`));
      expect(read).toMatchObject({ ok: true });
      expect(JSON.stringify(read)).not.toContain("null");
    },
  );

  it("in the user-data and the registry entry of the AWS CPI are read without them", () => {
    const userData = readUserData(readExample("settings/user-data.aws-cpi.json"));
    expect(userData).toMatchObject({ ok: true, userData: { form: "settings" } });
    const entry = checkAgentSettings(readExample("registry/settings.aws-cpi.json"));
    expect(entry).toMatchObject({ ok: true, value: { networks: { berth: { use_dhcp: true } } } });
    expect(JSON.stringify([userData, entry])).not.toContain("null");
  });

  it("are read also where the contract asks a CPI to leave the key out", () => {
    const hints = { "disk-1": null, "disk-2": { path: "/dev/sdc", id: null } };
    expect(checkAgentSettings({ agent_id: "a", ntp: [null, "x"], disks: { persistent: hints } })).toEqual({
      ok: true,
      value: { agent_id: "a", ntp: ["x"], disks: { persistent: { "disk-2": { path: "/dev/sdc" } } } },
    });
  });

  it("for the agent id are refused", () => {
    expect(checkAgentSettings({ agent_id: null })).toEqual({
      ok: false,
      problems: ["settings.agent_id: it is missing"],
    });
  });
});

describe("settings composed in the draft way", () => {
  const bootstrap = {
    agent_id: "agent-1",
    vm: { name: "crane" },
    mbus: "nats://x",
    env: { bosh: { group: "g" } },
  };
  const nets: Networks = { berth: { ip: "10.0.0.9" } };

  it("are what the Director knew with what the CPI made of networks and disks", () => {
    expect(
      mergeSettings(bootstrap, nets, { system: "/dev/sda", ephemeral: "/dev/sdb", persistent: {} }),
    ).toEqual({
      ...bootstrap,
      networks: nets,
      disks: { system: "/dev/sda", ephemeral: "/dev/sdb", persistent: {} },
    });
  });

  it("keep disks that were recorded, and take the CPI's word for those it names", () => {
    const recorded = {
      ...bootstrap,
      disks: {
        system: "/dev/sda",
        ephemeral: "/dev/sdb",
        persistent: { "disk-1": "/dev/sdc", "disk-2": "/dev/sdd" },
      },
    };
    const made: Disks = {
      ephemeral: { path: "/dev/vdb" },
      persistent: { "disk-2": { id: "6000" }, "disk-3": "/dev/sde" },
    };
    expect(mergeSettings(recorded, nets, made).disks).toEqual({
      system: "/dev/sda",
      ephemeral: { path: "/dev/vdb" },
      persistent: { "disk-1": "/dev/sdc", "disk-2": { id: "6000" }, "disk-3": "/dev/sde" },
    });
  });

  it("always have a map of persistent disks, and networks of before do not linger", () => {
    const before: AgentSettings & { disks: Disks | null } = {
      agent_id: "agent-1" as AgentId,
      networks: { old: {} },
      disks: null,
    };
    const merged = mergeSettings(before, nets, {});
    expect(merged.disks).toEqual({ persistent: {} });
    expect(merged.networks).toEqual(nets);
  });

  it("leave what went in untouched, and fit the schema whenever the parts do", () => {
    const parts = fc.tuple(arbitraryFor(agentSettings), arbitraryFor(networks), arbitraryFor(disks));
    fc.assert(
      fc.property(parts, ([settings, newNetworks, newDisks]) => {
        const before = JSON.stringify([settings, newNetworks, newDisks]);
        const given = settings as AgentSettings & { readonly disks?: Disks | null };
        const merged = mergeSettings(given, newNetworks as Networks, newDisks as Disks);
        expect(JSON.stringify([settings, newNetworks, newDisks])).toBe(before);
        expect(checkAgentSettings(merged)).toMatchObject({ ok: true });
        expect(merged.networks).toEqual(newNetworks);
        expect(merged.agent_id).toBe(given.agent_id);
      }),
    );
  });
});
