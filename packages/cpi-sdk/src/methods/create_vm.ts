import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { vmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Disks } from "@slipway/protocol/settings/disks";
import { disks as disksSchema } from "@slipway/protocol/settings/disks";
import { type Networks, networks as networksSchema } from "@slipway/protocol/settings/networks";
import { composeRegistryUserData, composeSettings, type SettingsDocument } from "../agent-settings.ts";
import type { CreatedVm, CreateVmCall, VmSettings } from "../cpi.ts";
import { accept, runCreation } from "../create.ts";
import { cpiError, NoUserData, RegistryNotConfigured } from "../errors.ts";
import { keepsEntries, putEntry, tryDeleteEntry } from "../registry-entry.ts";
import { handlerOf, type RunningCall } from "../running-call.ts";

interface Made {
  readonly cid: string;
  readonly networks: Networks;
  readonly disks: Disks;
}

const KIND = { remove: ["delete_vm", "vmCid"], exists: ["has_vm", "vmCid"] } as const;

/** create_vm: the author makes the VM; its agent's settings travel as the mix of versions needs. */
export async function createVm(running: RunningCall): Promise<unknown> {
  if (!running.registryless && !keepsEntries(running)) {
    const stemcell = running.stemcellUnknown
      ? "The caller did not give the stemcell's API version, which means 1."
      : "The stemcell's API version is 1.";
    const why = running.version < 2 ? "The caller speaks API version 1." : stemcell;
    throw RegistryNotConfigured({ method: "create_vm", why });
  }
  let said: { readonly vm: VmSettings; readonly settings: SettingsDocument } | undefined;
  let found = false;
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
      const networks = vm.networks ?? said?.vm.networks ?? (running.args.networks as Networks);
      // Found by its token, it has had its user-data since the first run.
      found = said === undefined && call.repeated && running.registry === undefined;
      return { cid, networks, disks: said?.settings.disks ?? {} };
    },
    finish: async (vm) => {
      accept(networksSchema, vm.networks, "create_vm result: networks");
      if (found) return;
      if (said === undefined) throw NoUserData({ cid: vm.cid });
      if (said.vm.serverName !== undefined && said.vm.serverName !== vm.cid) {
        throw cpiError(
          `create_vm gave the agent the server name '${said.vm.serverName}', but the cid is '${vm.cid}'`,
        );
      }
      await putEntry(running, vm.cid, { ...said.settings, networks: vm.networks });
    },
    // The entry holds credentials, and no caller will ever delete it: the caller never learns the cid.
    unfinish: (vm) => tryDeleteEntry(running, vm.cid),
  });
  return shape(made, running.version, running.cpi.capabilities ?? {});
}

function settingsFor(running: RunningCall, vm: VmSettings): SettingsDocument {
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
