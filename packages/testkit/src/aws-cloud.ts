import { afterAll, beforeAll, beforeEach } from "vitest";
import { needs } from "./needs.ts";
import { programAvailable, serverProgram } from "./server-program.ts";
import { AWS_KEY, StrictAws } from "./strict-aws.ts";
import { allOf } from "./strict-aws-rules.ts";

/** A region as tests find it: a VPC with two subnets, security groups and an image. */
export interface AwsSite {
  readonly proxy: StrictAws;
  /** In the first zone, 10.0.1.0/24. */
  readonly subnet: string;
  readonly zone: string;
  /** In another zone, 10.0.2.0/24. */
  readonly otherSubnet: string;
  readonly vpc: string;
  readonly image: string;
  /** Groups by name: `jobs`, `databases`. */
  readonly groups: Readonly<Record<string, string>>;
  /** The section `aws` of the CPI's configuration. */
  readonly config: Readonly<Record<string, unknown>>;
}

export const hasMoto = (): boolean =>
  needs("moto", programAvailable("moto_server"), "pip3 install 'moto[server]==5.2.5'");

/**
 * Starts moto with a strict proxy in front for the tests of a file. Each test begins without faults, and with
 * the actions that the policy allows. Call it in a `describe`.
 */
export function awsSite(policy?: readonly string[]): () => AwsSite {
  const moto = motoServer();
  let site: AwsSite | undefined;
  beforeAll(async () => {
    site = await makeSite(await StrictAws.open(moto().url));
    site.proxy.allowed = policy === undefined ? undefined : new Set(policy);
  }, 120_000);
  beforeEach(() => site?.proxy.calm());
  afterAll(() => site?.proxy.close());
  return () => {
    if (site === undefined) throw new Error("the site was not made");
    return site;
  };
}

const motoServer = () =>
  serverProgram(
    ({ port }) =>
      Promise.resolve({
        command: "env",
        // Its list of public images takes a second and is of no use here.
        args: ["MOTO_EC2_LOAD_DEFAULT_AMIS=false", "moto_server", "-H", "127.0.0.1", "-p", String(port)],
      }),
    async ({ url }) => (await fetch(`${url}/moto-api/data.json`).catch(() => undefined))?.ok === true,
  );

async function makeSite(proxy: StrictAws): Promise<AwsSite> {
  const made = async (action: string, name: string, parameters: Readonly<Record<string, string>>) => {
    const text = await proxy.ask(action, parameters);
    const [id] = allOf(text, name);
    if (id === undefined) throw new Error(`${action}: ${text}`);
    return id;
  };
  const vpc = await made("CreateVpc", "vpcId", { CidrBlock: "10.0.0.0/16" });
  const subnetIn = (AvailabilityZone: string, CidrBlock: string) =>
    made("CreateSubnet", "subnetId", { VpcId: vpc, AvailabilityZone, CidrBlock });
  const group = (GroupName: string) =>
    made("CreateSecurityGroup", "groupId", { VpcId: vpc, GroupName, GroupDescription: GroupName });
  const url = proxy.url;
  return {
    ...{ proxy, vpc, zone: "us-east-1a" },
    subnet: await subnetIn("us-east-1a", "10.0.1.0/24"),
    otherSubnet: await subnetIn("us-east-1b", "10.0.2.0/24"),
    image: await made("RegisterImage", "imageId", { Name: "stemcell", RootDeviceName: "/dev/xvda" }),
    groups: { jobs: await group("jobs"), databases: await group("databases") },
    config: {
      ...{ ...AWS_KEY, region: "us-east-1", default_security_groups: ["jobs"] },
      ...{ ec2_endpoint: url, elb_endpoint: url, sts_endpoint: url },
    },
  };
}
