import { openCloud } from "../cloud.ts";
import { persistentDisks } from "../disks/attach.ts";
import { mustFindVm } from "../ec2/instances.ts";
import type { AwsMethods } from "./_method.ts";

export const getDisks: AwsMethods["getDisks"] = async ({ vmCid }, call) => [
  ...persistentDisks(await mustFindVm(openCloud(call), vmCid)),
];
