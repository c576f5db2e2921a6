import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type DockerCloudContext, isPlain } from "../cloud-context.ts";
import { refused } from "../engine/engine.ts";
import { EngineRefused } from "../errors.ts";
import { LABEL, type Labels, labelled } from "../labels.ts";

/** Container as the engine shows it. */
const container = open({
  Id: v.string(),
  /** Programs that run in it beside its first process. */
  ExecIDs: v.optional(v.nullable(v.array(v.string()))),
  State: open({ Status: v.string(), Running: v.boolean(), ExitCode: v.optional(v.number()) }),
  Config: open({ Labels: v.optional(v.nullable(mapOf(v.string()))) }),
  NetworkSettings: v.optional(
    open({ Networks: v.optional(v.nullable(mapOf(open({ IPAddress: v.optional(v.string()) })))) }),
  ),
});
export type Container = v.InferOutput<typeof container>;

const at = (name: string): string => `/containers/${encodeURIComponent(name)}`;

export const findContainer = ({ engine }: DockerCloudContext, name: string): Promise<Container | undefined> =>
  engine.find(container, { doing: `looking for '${name}'`, method: "GET", path: `${at(name)}/json` });

/** Finds the container of a VM, by the cid as its name and by its kind: other containers on the engine are no VMs. */
export async function findVm(cloud: DockerCloudContext, cid: string): Promise<Container | undefined> {
  const found = isPlain(cid) ? await findContainer(cloud, cid) : undefined;
  return found?.Config.Labels?.[LABEL.kind] === "vm" ? found : undefined;
}

export async function mustFindVm(cloud: DockerCloudContext, cid: string): Promise<Container> {
  const found = await findVm(cloud, cid);
  if (found === undefined) throw vmNotFound(cid);
  return found;
}

const listed = v.array(open({ Id: v.string(), Labels: v.optional(v.nullable(mapOf(v.string()))) }));

export async function listContainers(
  { engine }: DockerCloudContext,
  labels: Labels,
): Promise<readonly { readonly id: string; readonly cid: string }[]> {
  const found = await engine.json(listed, {
    doing: "listing containers",
    method: "GET",
    path: "/containers/json",
    query: { all: "true", filters: labelled(labels) },
  });
  return found.map(({ Id, Labels }) => ({ id: Id, cid: Labels?.[LABEL.cid] ?? Id }));
}

const GONE_WITHIN_MS = 30_000;

/** Ends and removes it, with its anonymous volumes. Whether there was one. */
export async function removeContainer(cloud: DockerCloudContext, name: string): Promise<boolean> {
  const { engine, clock } = cloud;
  const doing = `deleting '${name}'`;
  const since = clock.monotonic();
  for (let found = false; ; found = true) {
    const reply = await engine.attempt({
      doing,
      method: "DELETE",
      path: at(name),
      query: { force: "true", v: "true" },
    });
    if (!refused(reply)) {
      reply.discard();
      return true;
    }
    if (reply.status === 404) return found;
    // Another call is deleting it in this moment, or its processes take their time.
    const later =
      reply.status === 409 || /device or resource busy|did not receive an exit event/.test(reply.said);
    if (!later || clock.monotonic() - since > GONE_WITHIN_MS) throw EngineRefused({ doing, ...reply });
    await clock.sleep(200);
  }
}

/** Started already is success. */
export async function startContainer(
  { engine }: DockerCloudContext,
  name: string,
  doing: string,
): Promise<void> {
  await engine.run({ doing, method: "POST", path: `${at(name)}/start` });
}

/** Ended at once if it does not end itself within the seconds. */
export async function restartContainer(
  { engine }: DockerCloudContext,
  name: string,
  seconds: number,
): Promise<void> {
  await engine.run({
    doing: `restarting '${name}'`,
    method: "POST",
    path: `${at(name)}/restart`,
    query: { t: String(seconds) },
  });
}

export const networksOf = ({ NetworkSettings }: Container): readonly string[] =>
  Object.keys(NetworkSettings?.Networks ?? {});

const volumes = open({ Volumes: v.optional(v.nullable(v.array(open({ Name: v.string() })))) });

/** Removes the volumes that go with a VM, found by its cid. */
export async function removeVolumesOf({ engine }: DockerCloudContext, cid: string): Promise<void> {
  const doing = `removing what '${cid}' has left`;
  const query = { filters: labelled({ [LABEL.kind]: "vm", [LABEL.cid]: cid }) };
  const { Volumes } = await engine.json(volumes, { doing, method: "GET", path: "/volumes", query });
  for (const { Name } of Volumes ?? [])
    await engine.run({ doing, method: "DELETE", path: `/volumes/${Name}` });
}
