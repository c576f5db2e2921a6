import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { refusedAs } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { AwsMissing } from "../errors.ts";
import type { VmProperties } from "../properties.ts";

const targetGroups = open({
  DescribeTargetGroupsResult: open({
    TargetGroups: v.array(open({ TargetGroupName: v.string(), TargetGroupArn: v.string() })),
  }),
});

/** Registers the VM; done twice, it is registered once. Load balancers drop instances that have ended by themselves. */
export async function registerWithLoadBalancers(
  cloud: AwsCloud,
  vm: string,
  { elbs, lb_target_groups: groups }: VmProperties,
): Promise<void> {
  for (const name of groups ?? []) {
    const missing = () => AwsMissing({ kind: "target group", name, where: `region ${cloud.region}` });
    const found = await orMissing(
      cloud.elbv2.call(targetGroups, "DescribeTargetGroups", { Names: { member: [name] } }),
      ["TargetGroupNotFound"],
      missing,
    );
    const arn = found.DescribeTargetGroupsResult.TargetGroups[0]?.TargetGroupArn;
    if (arn === undefined) throw missing();
    await cloud.elbv2.call(v.unknown(), "RegisterTargets", {
      TargetGroupArn: arn,
      Targets: { member: [{ Id: vm }] },
    });
  }
  for (const name of elbs ?? [])
    await orMissing(
      cloud.elb.call(v.unknown(), "RegisterInstancesWithLoadBalancer", {
        LoadBalancerName: name,
        Instances: { member: [{ InstanceId: vm }] },
      }),
      ["LoadBalancerNotFound", "AccessPointNotFound"],
      () => AwsMissing({ kind: "load balancer", name, where: `region ${cloud.region}` }),
    );
}

async function orMissing<T>(work: Promise<T>, codes: readonly string[], missing: () => Error): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusedAs(error, ...codes) ? missing() : error;
  }
}
