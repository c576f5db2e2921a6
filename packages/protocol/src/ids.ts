import * as v from "valibot";
import { keyText } from "./schema/json.ts";

/** Some clouds have cids of hundreds of characters; the Director keeps them in indexes, which take no more. */
const LONGEST = 2048;

const id = <const B extends string>(brand: B, what: string) => v.pipe(keyText(what, LONGEST), v.brand(brand));

/** Ids of different things are different types, and none of them can be empty. */
export const vmCid = id("VmCid", "a VM cid");
export const diskCid = id("DiskCid", "a disk cid");
export const stemcellCid = id("StemcellCid", "a stemcell cid");
export const snapshotCid = id("SnapshotCid", "a snapshot cid");
export const networkCid = id("NetworkCid", "a network cid");
export const agentId = id("AgentId", "an agent id");
export const directorUuid = id("DirectorUuid", "a director uuid");
export const requestId = id("RequestId", "a request id");

export type VmCid = v.InferOutput<typeof vmCid>;
export type DiskCid = v.InferOutput<typeof diskCid>;
export type StemcellCid = v.InferOutput<typeof stemcellCid>;
export type SnapshotCid = v.InferOutput<typeof snapshotCid>;
export type NetworkCid = v.InferOutput<typeof networkCid>;
export type AgentId = v.InferOutput<typeof agentId>;
export type DirectorUuid = v.InferOutput<typeof directorUuid>;
export type RequestId = v.InferOutput<typeof requestId>;
