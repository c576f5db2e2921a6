import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { vmCid } from "@slipway/protocol/ids";
import { check } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import type { Disks } from "@slipway/protocol/settings/disks";
import { disks as disksSchema } from "@slipway/protocol/settings/disks";
import { type Networks, networks as networksSchema } from "@slipway/protocol/settings/networks";
import { composeRegistryUserData, composeSettings, type SettingsDocument } from "../agent-settings.ts";
import type { CreatedVm, CreateVmCall, VmSettings } from "../cpi.ts";
import { runCreation } from "../create.ts";
import { cpiError, NoUserData, RegistryNotConfigured } from "../errors.ts";
import { putEntry } from "../registry-entry.ts";
import { handlerOf, type Running } from "../running.ts";

interface Made {
  readonly cid: string;
  readonly networks: Networks;
  readonly disks: Disks;
}

const KIND = { remove: ["delete_vm", "vmCid"], exists: ["has_vm", "vmCid"] } as const;

/** create_vm: the author makes the VM; its agent's settings travel as the mix of versions needs. */
export async function createVm(running: Running): Promise<unknown> {
  if (!running.registryless && running.registry === undefined) {
    const why = running.version < 2 ? "The caller speaks API version 1." : "The stemcell's API version is 1.";
    throw RegistryNotConfigured({ method: "create_vm", why });
  }
  let said: { readonly vm: VmSettings; readonly settings: SettingsDocument } | undefined;
  const userData = (vm: VmSettings): string => {
    accept(networksSchema, vm.networks, "networks");
    accept(disksSchema, vm.disks ?? {}, "disks");
    said = { vm, settings: settingsFor(running, vm) };
    return JSON.stringify(
      running.registry === undefined ? said.settings : composeRegistryUserData(vm, running.registry),
    );
  };
  const made = await runCreation<Made>(running, {
    kind: KIND,
    create: async (call) => {
      const withUserData: CreateVmCall<unknown> = { ...call, userData };
      const vm = (await handlerOf(running.cpi, "createVm")?.(running.args, withUserData)) as CreatedVm;
      const cid = accept(vmCid, vm?.cid, "create_vm result: cid");
      if (said === undefined) return { cid, networks: vm.networks ?? {}, disks: {} };
      const networks = accept(networksSchema, vm.networks ?? said.vm.networks, "create_vm result: networks");
      return { cid, networks, disks: said.settings.disks };
    },
    finish: async (vm) => {
      if (said === undefined) throw NoUserData({ cid: vm.cid });
      if (said.vm.serverName !== undefined && said.vm.serverName !== vm.cid) {
        throw cpiError(
          `create_vm gave the agent the server name '${said.vm.serverName}', but the cid is '${vm.cid}'`,
        );
      }
      await putEntry(running, vm.cid, { ...said.settings, networks: vm.networks });
    },
  });
  return shape(made, running.version, running.cpi.capabilities ?? {});
}

function settingsFor(running: Running, vm: VmSettings): SettingsDocument {
  const { agentId, env, bootstrap } = running.args as {
    agentId: string;
    env: unknown;
    bootstrap?: JsonObject;
  };
  return composeSettings(vm, { agentId, env, agent: running.agent, bootstrap });
}

/** The shipped shape unless the CPI announces a draft's. Version 1 knows the cid only. */
function shape(made: Made, version: number, capabilities: Capabilities): unknown {
  if (version < 2) return made.cid;
  switch (capabilities.create_vm_result) {
    case "disks":
      return [made.cid, made.disks];
    case "networks+disks":
      return [made.cid, made.networks, made.disks];
    default:
      return [made.cid, made.networks];
  }
}

function accept<const S extends Schema>(schema: S, value: unknown, what: string) {
  const checked = check(schema, value, what);
  if (!checked.ok) throw cpiError(`the CPI broke its contract: ${checked.problems.join("; ")}`);
  return checked.value;
}
