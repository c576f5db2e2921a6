import { failureText, vmCreationFailed } from "@slipway/cpi-sdk/errors";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { QueryParameters, QueryValue } from "../api/query.ts";
import { refusedAs } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { describeInstance, type Instance, isAlive, vmOfRequest } from "../ec2/instances.ts";
import { type Tags, tagSpecification } from "../ec2/tags.ts";
import { CONSISTENT_WITHIN_MS, SETTLED_WITHIN_MS, waitFor } from "../ec2/wait.ts";
import { LaunchEnded, NoCapacity, UserDataTooLarge } from "../errors.ts";
import type { VmProperties } from "../properties.ts";

export interface Launch {
  readonly token: string;
  readonly image: string;
  readonly zone: string;
  readonly userData: string;
  readonly properties: VmProperties;
  readonly mappings: readonly QueryParameters[];
  readonly interfaces: readonly QueryParameters[];
  readonly tags: Tags;
}

/** Launches that may end by themselves before one is given up, as upstream has it. */
const LAUNCHES = 3;
const LARGEST_USER_DATA = 16_384;
/** Refusals of a spot request that an ordinary instance may get past. */
const SPOT_REFUSALS = [
  ...[
    "InsufficientInstanceCapacity",
    "SpotMaxPriceTooLow",
    "MaxSpotInstanceCountExceeded",
    "InsufficientCapacity",
  ],
  ...["Unsupported", "InvalidSpotInstanceRequest.", "UnsupportedOperation", "InvalidParameterValue"],
];

/**
 * Launches an instance, and returns it when it runs. The client token makes it one instance however often this is repeated.
 * EC2 answers with an ended instance for the token of one, so each launch has a token of its own.
 */
export async function launch(cloud: AwsCloud, asked: Launch): Promise<Instance> {
  const bytes = Buffer.byteLength(asked.userData);
  if (bytes > LARGEST_USER_DATA) throw UserDataTooLarge({ bytes });
  for (let at = 0; ; at++) {
    const id = await run(cloud, asked, at);
    const found = await started(cloud, id);
    if (isAlive(found)) return found;
    const error = LaunchEnded({ instance: id, why: reasonOf(found) });
    cloud.warn(error.message);
    if (at + 1 >= LAUNCHES) throw error;
  }
}

async function run(cloud: AwsCloud, asked: Launch, at: number): Promise<string> {
  const { spot_bid_price: price, spot_ondemand_fallback: fallback } = asked.properties;
  try {
    if (price != null) {
      try {
        return await runInstances(cloud, asked, `${asked.token}-s${at}`, spotOptions(price));
      } catch (error) {
        if (!fallback || !refusedAs(error, ...SPOT_REFUSALS)) throw error;
        cloud.warn(`no spot instance, an ordinary one is made instead: ${failureText(error)}`);
      }
    }
    return await runInstances(cloud, asked, `${asked.token}-${at}`, undefined);
  } catch (error) {
    if (!NoCapacity.is(error)) throw error;
    // Nothing was made, and another try of the Director may find capacity.
    throw vmCreationFailed(failureText(error), { cause: error, okToRetry: true });
  }
}

const spotOptions = (price: number | string): QueryValue => ({
  MarketType: "spot",
  SpotOptions: {
    ...{ MaxPrice: String(price), SpotInstanceType: "one-time" },
    InstanceInterruptionBehavior: "terminate",
  },
});

const ran = open({ instancesSet: v.array(open({ instanceId: v.string() })) });

async function runInstances(
  cloud: AwsCloud,
  asked: Launch,
  token: string,
  market: QueryValue,
): Promise<string> {
  const { properties, tags, interfaces } = asked;
  const profile = properties.iam_instance_profile ?? cloud.config.default_iam_instance_profile;
  try {
    const reply = await cloud.ec2.call(ran, "RunInstances", {
      ...{ MinCount: 1, MaxCount: 1, ImageId: asked.image, InstanceType: properties.instance_type },
      KeyName: properties.key_name ?? cloud.config.default_key_name ?? undefined,
      ClientToken: token,
      UserData: Buffer.from(asked.userData).toString("base64"),
      Placement: {
        AvailabilityZone: asked.zone,
        GroupName: properties.placement_group ?? undefined,
        Tenancy: properties.tenancy === "dedicated" ? "dedicated" : undefined,
      },
      IamInstanceProfile: profile ? { Name: profile } : undefined,
      MetadataOptions: metadataOptions(cloud, properties),
      BlockDeviceMapping: asked.mappings,
      NetworkInterface: interfaces,
      InstanceMarketOptions: market,
      TagSpecification: [
        ...tagSpecification(["instance", "volume"], tags),
        // Interfaces that were made before have theirs.
        ...(interfaces.every((one) => one.NetworkInterfaceId === undefined)
          ? tagSpecification(["network-interface"], tags)
          : []),
      ],
    });
    const id = reply.instancesSet[0]?.instanceId;
    if (id === undefined) throw new Error("RunInstances answers no instance");
    return id;
  } catch (error) {
    // A repeat of this request with other settings, such as a fresh certificate: the first one's instance is the VM.
    if (!refusedAs(error, "IdempotentParameterMismatch")) throw error;
    return await waitFor(cloud, async () => (await vmOfRequest(cloud, asked.token))?.instanceId, {
      ...{ withinMs: CONSISTENT_WITHIN_MS, what: "the instance of this request", wanted: "visible" },
      is: () => "not found by its tag",
    });
  }
}

/** IMDSv2 is required unless the operator says otherwise: with version 1, whoever makes a job fetch an address reads the settings. */
function metadataOptions(cloud: AwsCloud, { metadata_options: own }: VmProperties): QueryParameters {
  const merged: Record<string, unknown> = {
    http_tokens: "required",
    ...(cloud.config.metadata_options ?? {}),
    ...(own ?? {}),
  };
  return Object.fromEntries(
    Object.entries(merged)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [
        key.replace(/(?:^|_)([a-z\d])/g, (_, letter: string) => letter.toUpperCase()),
        String(value),
      ]),
  );
}

/** Returns the instance once it runs or has ended. */
async function started(cloud: AwsCloud, id: string): Promise<Instance> {
  let state = "not visible yet";
  return await waitFor(
    cloud,
    async () => {
      const found = await describeInstance(cloud, id);
      state = found?.instanceState.name ?? state;
      return found === undefined || state === "pending" ? undefined : found;
    },
    { withinMs: SETTLED_WITHIN_MS, what: `instance ${id}`, wanted: "running", is: () => state },
  );
}

function reasonOf({ stateReason, instanceState }: Instance): string {
  if (stateReason === undefined || stateReason === "") return `it is ${instanceState.name}`;
  return stateReason.message ?? stateReason.code;
}
