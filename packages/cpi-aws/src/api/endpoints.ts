import type { AwsConfig } from "../config.ts";
import { BadAwsProperties } from "../errors.ts";

export interface Endpoints {
  readonly ec2: URL;
  readonly elb: URL;
  readonly sts: URL;
  readonly region: string;
}

export function endpointsOf(config: AwsConfig): Endpoints {
  const { ec2_endpoint: ec2, elb_endpoint: elb, sts_endpoint: sts, dualstack } = config;
  const region = config.region || regionIn(ec2);
  if (region === undefined)
    throw BadAwsProperties({
      what: "the configuration",
      problems: ["aws.region is missing, and aws.ec2_endpoint does not name it"],
    });
  const host = (service: string, both: boolean) =>
    both && dualstack ? `${service}.${region}.api.aws` : `${service}.${region}.${domainOf(region)}`;
  return {
    ec2: urlOf("ec2_endpoint", ec2 || host("ec2", true)),
    elb: urlOf("elb_endpoint", elb || host("elasticloadbalancing", true)),
    sts: urlOf("sts_endpoint", sts || host("sts", false)),
    region,
  };
}

const domainOf = (region: string) => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");

const regionIn = (endpoint: string | null | undefined): string | undefined =>
  (endpoint ?? "").split(/[./:]/).find((part) => /^[a-z]{2}-[a-z-]{1,30}-\d$/.test(part));

/** Upstream's endpoints have no scheme. */
function urlOf(key: string, text: string): URL {
  const full = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (!URL.canParse(full))
    throw BadAwsProperties({ what: "the configuration", problems: [`aws.${key} is not a host or a URL`] });
  const url = new URL(full);
  // The path is signed as it is sent, and requests go to the root.
  if (url.pathname === "") url.pathname = "/";
  return url;
}
