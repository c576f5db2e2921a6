import type { FlowSettings } from "@slipway/engine/steps/context";
import { agentEnvOf } from "@slipway/engine/steps/env";
import type { ProxySettings } from "@slipway/kernel/http/proxy";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { OperationContext } from "../operations/operation.ts";
import { certificateOf } from "../variables/open.ts";

/** Returns the settings that steps get from the configuration. */
export async function flowSettings(
  { agent, director: limits = {} }: DirectorConfig,
  { name, uuid }: { readonly name: string; readonly uuid: string },
): Promise<FlowSettings> {
  return {
    directorName: name,
    directorUuid: uuid,
    agentEnvBosh: agentEnvOf(agent?.env as JsonObject | undefined),
    trustedCerts: await certificateOf("agent.trusted_certs", agent?.trusted_certs),
    agentWaitMs: (agent?.wait_timeout_s ?? 600) * 1000,
    maxVmCreateTries: limits.max_vm_create_tries ?? 5,
    keepUnreachableVms: limits.keep_unreachable_vms ?? false,
    stopTimeoutMs: 300_000,
    generateVmPasswords: limits.generate_vm_passwords,
  };
}

export const proxyOf = ({ proxy }: DirectorConfig): ProxySettings | undefined =>
  proxy && { http: proxy.http, https: proxy.https, noProxy: proxy.no_proxy };

export const operationOptions = ({ director: limits = {} }: DirectorConfig): OperationContext["options"] => ({
  enableCpiResizeDisk: limits.enable_cpi_resize_disk ?? false,
  enableCpiUpdateDisk: limits.enable_cpi_update_disk ?? false,
  enableSnapshots: limits.enable_snapshots,
  enableCpiNetworkManagement: limits.enable_cpi_network_management,
  ignoreMissingGateway: limits.ignore_missing_gateway,
  allowErrandsOnStoppedInstances: limits.allow_errands_on_stopped_instances,
  sshGateway: limits.default_ssh_options && {
    host: limits.default_ssh_options.gateway_host,
    user: limits.default_ssh_options.gateway_user ?? "vcap",
  },
});
