import { SlipwayError } from "@slipway/kernel/errors";
import {
  AwsRefused,
  BadCredentials,
  ExpiredCredentials,
  NoCapacity,
  NotPermitted,
  QuotaReached,
  type Refusal,
} from "../errors.ts";

const THROTTLING =
  /^(RequestLimitExceeded|Throttling(Exception)?|ThrottledException|EC2ThrottledException|RequestThrottled(Exception)?|TooManyRequestsException|SlowDown|PriorRequestNotComplete|BandwidthLimitExceeded)$/;
const FAILING = /^(InternalError|InternalFailure|Internal|ServiceUnavailable|Unavailable|RequestTimeout)$/;
const CAPACITY =
  /^(Insufficient(InstanceCapacity|HostCapacity|AddressCapacity|VolumeCapacity|Capacity|ReservedInstanceCapacity|FreeAddressesInSubnet)|SpotMaxPriceTooLow|MaxSpotFleetRequestCountExceeded)$/;
const QUOTA =
  /^(InstanceLimitExceeded|VcpuLimitExceeded|VolumeLimitExceeded|VolumeIOPSLimit|Max(IOPS|StorageBytes)LimitExceeded|MaxSpotInstanceCountExceeded|AddressLimitExceeded|AttachmentLimitExceeded|SnapshotLimitExceeded|NetworkInterfaceLimitExceeded|ConcurrentSnapshotLimitExceeded|TagLimitExceeded|ResourceLimitExceeded)$/;
const PERMISSION = /^(UnauthorizedOperation|AccessDenied(Exception)?|Client\.UnauthorizedOperation)$/;
const EXPIRED = /^(ExpiredToken(Exception)?|RequestExpired|TokenRefreshRequired)$/;
const CREDENTIALS =
  /^(AuthFailure|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|IncompleteSignature|MissingAuthenticationToken|InvalidAccessKeyId|OptInRequired|Blocked)$/;

export type RefusalClass = "throttled" | "failing" | "capacity" | "other";

export function classOf(code: string): RefusalClass {
  if (THROTTLING.test(code)) return "throttled";
  if (FAILING.test(code)) return "failing";
  return CAPACITY.test(code) ? "capacity" : "other";
}

/** Returns the error that operators get for a refusal, by its code. */
export function refusalError(refusal: Refusal, permission: string): SlipwayError {
  const { code } = refusal;
  const error = errorFor(code, refusal, permission);
  codes.set(error, code);
  return error;
}

function errorFor(code: string, refusal: Refusal, permission: string): SlipwayError {
  if (PERMISSION.test(code)) return NotPermitted({ ...refusal, permission });
  if (EXPIRED.test(code)) return ExpiredCredentials(refusal);
  if (CREDENTIALS.test(code)) return BadCredentials(refusal);
  if (CAPACITY.test(code)) return NoCapacity(refusal);
  if (QUOTA.test(code)) return QuotaReached(refusal);
  return AwsRefused(refusal);
}

/** The code of AWS behind an error of ours, kept apart from its text. */
const codes = new WeakMap<SlipwayError, string>();

/** Returns true if AWS refused with one of these codes; a code that ends in a dot stands for all that begin so. */
export function refusedAs(error: unknown, ...wanted: readonly string[]): boolean {
  const code = error instanceof SlipwayError ? codes.get(error) : undefined;
  return (
    code !== undefined && wanted.some((one) => code === one || (one.endsWith(".") && code.startsWith(one)))
  );
}

/** Returns undefined in place of a refusal with one of these codes. */
export async function unlessRefused<T>(
  work: Promise<T>,
  ...wanted: readonly string[]
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (refusedAs(error, ...wanted)) return undefined;
    throw error;
  }
}
