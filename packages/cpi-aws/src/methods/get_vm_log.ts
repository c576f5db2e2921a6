import { vmLog } from "@slipway/cpi-sdk/vm-log";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import { openCloud } from "../cloud.ts";
import { mustFindVm } from "../ec2/instances.ts";
import type { AwsMethods } from "./_method.ts";

const output = open({ output: v.optional(v.string()) });
const attribute = open({
  userData: v.optional(v.union([v.literal(""), open({ value: v.optional(v.string()) })])),
});

/** Returns the console output: of types on Nitro until now, of others until EC2 last looked. */
export const getVmLog: AwsMethods["getVmLog"] = async ({ vmCid }, call) => {
  const cloud = openCloud(call);
  const vm = await mustFindVm(cloud, vmCid);
  const ask = (more: object) => cloud.ec2.call(output, "GetConsoleOutput", { InstanceId: vmCid, ...more });
  const latest = await unlessRefused(ask({ Latest: true }), "UnsupportedOperation", "InvalidParameterValue");
  const { output: log } = latest ?? (await ask({}));
  const { userData } = await cloud.ec2.call(attribute, "DescribeInstanceAttribute", {
    ...{ InstanceId: vmCid, Attribute: "userData" },
  });
  const settings = userData === undefined || userData === "" ? "" : text(userData.value);
  return vmLog(text(log), settings, { off: vm.instanceState.name !== "running" });
};

const text = (base64: string | undefined): string => Buffer.from(base64 ?? "", "base64").toString("utf8");
