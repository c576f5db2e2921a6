import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Action } from "./action.ts";

/** Returns the applied spec, flattened as upstream does, and the current state of the agent. */
export const getState: Action<"get_state"> = async ({ filter, more }, { services }) => {
  const spec = (await services.spec.load()) ?? {};
  const { state, processes } = await services.supervisor.status({ problems: more === "problems" });
  const settings = services.settings.current();
  const { store, data } = services.paths;
  return {
    ...flattened(spec),
    agent_id: settings.agent_id,
    job_state: state,
    vm: { name: settings.vm?.name ?? "" },
    ...(processes.length > 0 && { processes: processes.map((one) => ({ ...one })) }),
    ...(filter === "full" && {
      vitals: await services.platform.system.vitals({ ephemeral: data, persistent: store }),
    }),
  } as JsonObject;
};

/** Networks, packages and the resource pool are never null; the rest is null until an apply says otherwise. */
function flattened(spec: ApplySpec): Record<string, unknown> {
  const logging = (spec.properties as { logging?: { max_log_file_size?: string } } | null | undefined)
    ?.logging;
  return {
    properties: { logging: { max_log_file_size: logging?.max_log_file_size ?? "" } },
    job: {
      name: spec.job?.name ?? null,
      release: spec.job?.release ?? "",
      template: spec.job?.template ?? "",
      version: spec.job?.version ?? "",
      templates: spec.job?.templates?.map(({ name, version }) => ({ name, version: version ?? "" })) ?? null,
    },
    packages: spec.packages ?? {},
    configuration_hash: spec.configuration_hash ?? "",
    networks: spec.networks ?? {},
    resource_pool: spec.resource_pool ?? {},
    deployment: spec.deployment ?? "",
    name: spec.name ?? "",
    index: spec.index ?? null,
    id: spec.id ?? "",
    az: spec.az ?? "",
    persistent_disk: spec.persistent_disk ?? 0,
    rendered_templates_archive: spec.rendered_templates_archive ?? null,
  };
}
