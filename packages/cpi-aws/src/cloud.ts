import type { Call } from "@slipway/cpi-sdk/cpi";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { AwsService, RetryBudget } from "./api/client.ts";
import { credentialsOf } from "./api/credentials.ts";
import { endpointsOf } from "./api/endpoints.ts";
import type { AwsConfig } from "./config.ts";

/** The services of one region, for one CPI call. Nothing is kept in memory or on disk between calls. */
export interface AwsCloud {
  readonly ec2: AwsService;
  /** Classic load balancers. */
  readonly elb: AwsService;
  /** Target groups. */
  readonly elbv2: AwsService;
  readonly region: string;
  readonly config: AwsConfig;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly directorUuid: string;
  readonly warn: (line: string) => void;
}

const RETRIES = 8;
/** Repeats of all requests of a call together, as a multiple of those of one. */
const SHARED = 4;

export function openCloud(call: Pick<Call<AwsConfig>, "config" | "signal" | "log" | "request">): AwsCloud {
  const { config, signal, log, request } = call;
  const { ec2, elb, sts, region } = endpointsOf(config);
  const retries = config.max_retries ?? RETRIES;
  const tools = {
    ...{ clock: systemClock, random: systemRandom, signal, retries, region },
    budget: new RetryBudget(retries * SHARED),
    ca: config.connection_options?.ca_cert || undefined,
    warn: (line: string) => log.warn(line),
  };
  const credentials = credentialsOf(config, { ...tools, env: process.env, stsEndpoint: sts });
  const elbTools = { ...tools, credentials, endpoint: elb, service: "elasticloadbalancing" } as const;
  return {
    ec2: new AwsService({ ...tools, credentials, endpoint: ec2, service: "ec2", version: "2016-11-15" }),
    elb: new AwsService({ ...elbTools, version: "2012-06-01" }),
    elbv2: new AwsService({ ...elbTools, version: "2015-12-01" }),
    ...{ region, config, clock: systemClock, signal, warn: tools.warn },
    directorUuid: request.directorUuid,
  };
}

/** Returns the cloud for work that must be done although the call was aborted. */
export const unstoppable = (cloud: AwsCloud): AwsCloud => ({
  ...cloud,
  ec2: cloud.ec2.withoutSignal(),
  elb: cloud.elb.withoutSignal(),
  elbv2: cloud.elbv2.withoutSignal(),
  signal: undefined,
});
