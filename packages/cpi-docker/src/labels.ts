import { isObject, type JsonObject } from "@slipway/protocol/schema/json";

/** Labels of everything of ours on an engine, so that `docker ps --filter label=…` finds it. */
export const LABEL = {
  kind: "slipway.kind",
  cid: "slipway.cid",
  director: "slipway.director",
  deployment: "slipway.deployment",
  instanceGroup: "slipway.instance-group",
  agent: "slipway.agent-id",
  request: "slipway.request-id",
  stemcell: "slipway.stemcell",
  /** Set on a stemcell whose properties named its command. */
  command: "slipway.command",
  /** Set on a VM: the init of a stemcell with upstream's agent. */
  init: "slipway.init",
  disks: "slipway.disks",
  version: "slipway.version",
  majors: "slipway.majors",
  made: "slipway.made",
} as const;

export type LabelKind = "vm" | "stemcell" | "network" | "disks" | "keeper";
export type Labels = Readonly<Record<string, string>>;

interface Asked {
  readonly directorUuid: string;
  readonly requestId: string | undefined;
}

export const labelsOf = (kind: LabelKind, cid: string, { directorUuid, requestId }: Asked): Labels => ({
  [LABEL.kind]: kind,
  [LABEL.cid]: cid,
  [LABEL.director]: directorUuid,
  ...(requestId !== undefined && { [LABEL.request]: requestId }),
});

/**
 * Returns labels with the owner of a VM. A Director names itself, the deployment and the group, in this order, in
 * `env.bosh.groups`.
 */
export function ownerLabels(env: unknown): Labels {
  const bosh = objectIn(objectIn(env)?.bosh);
  const tags = objectIn(bosh?.tags);
  const groups = Array.isArray(bosh?.groups) ? (bosh.groups as unknown[]) : [];
  const deployment = tags?.deployment ?? groups[1];
  const group = tags?.instance_group ?? groups[2];
  return {
    ...(typeof deployment === "string" && { [LABEL.deployment]: deployment }),
    ...(typeof group === "string" && { [LABEL.instanceGroup]: group }),
  };
}

const objectIn = (value: unknown): JsonObject | undefined =>
  isObject(value) ? (value as JsonObject) : undefined;

/** The `filters` of a list: all of these labels. */
export const labelled = (labels: Labels): string =>
  JSON.stringify({ label: Object.entries(labels).map(([key, value]) => `${key}=${value}`) });
