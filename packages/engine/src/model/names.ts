import { text } from "@slipway/protocol/schema/json";
import * as v from "valibot";

const id = <const B extends string>(brand: B, what: string) => v.pipe(text(what), v.brand(brand));

/** Names and ids of different things are different types, and none of them can be empty. */
export const deploymentName = id("DeploymentName", "a deployment name");
export const groupName = id("GroupName", "an instance group name");
export const instanceUuid = id("InstanceUuid", "an instance id");

export type DeploymentName = v.InferOutput<typeof deploymentName>;
export type GroupName = v.InferOutput<typeof groupName>;
export type InstanceUuid = v.InferOutput<typeof instanceUuid>;

/** `''` is the Director's own CPI, the only one without a CPI config. */
export type CpiName = string;

/** For people. */
export const cpiText = (name: CpiName): string => (name === "" ? "the Director's own CPI" : `CPI '${name}'`);

/** `group/uuid`, as upstream writes it. */
export const slug = (instance: { readonly group: string; readonly uuid: string }): string =>
  `${instance.group}/${instance.uuid}`;

/** `group/uuid (index)`, as people read it in event logs. */
export const display = (instance: {
  readonly group: string;
  readonly uuid: string;
  readonly index: number;
}): string => `${slug(instance)} (${instance.index})`;
