/** Type of a CPI error, and how callers react to it. */
interface WireError {
  readonly type: string;
  readonly meaning: string;
  /** True if the Ruby Director reads `ok_to_retry` of this type; it acts on the flag for VMCreationFailed only. */
  readonly retryFlag: boolean;
  readonly director: string;
  readonly cli: string;
}

const error = <const T extends string>(
  type: T,
  meaning: string,
  director: string,
  cli: string,
  retryFlag = false,
): WireError & { readonly type: T } => ({ type, meaning, retryFlag, director, cli });

/** Every error type of the wire, by the short name we use in code. */
export const CPI_ERRORS = {
  CpiError: error("Bosh::Clouds::CpiError", "the call or the CPI itself is broken", "fatal", "fatal"),
  NotImplemented: error(
    "Bosh::Clouds::NotImplemented",
    "the CPI does not have this method",
    "tolerated for info (Directors before v283), has_vm, has_disk, metadata, snapshots, resize_disk, update_disk",
    "info: version 1; metadata: ignored; else fatal",
  ),
  NotSupported: error(
    "Bosh::Clouds::NotSupported",
    "the method exists, but not for these inputs",
    "resize_disk, update_disk: the disk is copied instead; else fatal",
    "fatal",
  ),
  CloudError: error("Bosh::Clouds::CloudError", "the IaaS failed", "fatal", "fatal"),
  VMNotFound: error(
    "Bosh::Clouds::VMNotFound",
    "no such VM",
    "delete_vm: counts as deleted",
    "delete_vm: skipped",
  ),
  NetworkNotFound: error(
    "Bosh::Clouds::NetworkNotFound",
    "no such network",
    "delete_network: counts as deleted",
    "not used",
  ),
  StemcellNotFound: error(
    "Bosh::Clouds::StemcellNotFound",
    "no such stemcell",
    "not known to it: fatal",
    "delete_stemcell: skipped",
  ),
  NoDiskSpace: error("Bosh::Clouds::NoDiskSpace", "out of space", "fatal; nothing retries it", "fatal", true),
  DiskNotAttached: error(
    "Bosh::Clouds::DiskNotAttached",
    "the disk is not on that VM",
    "detach_disk: success for an inactive disk record, else fatal",
    "fatal",
    true,
  ),
  DiskNotFound: error(
    "Bosh::Clouds::DiskNotFound",
    "no such disk",
    "delete_disk and delete_snapshot of orphans: counts as deleted",
    "delete_disk: skipped",
    true,
  ),
  VMCreationFailed: error(
    "Bosh::Clouds::VMCreationFailed",
    "create_vm failed and everything it made is removed",
    "create_vm is tried again when ok_to_retry, five times in all",
    "fatal",
    true,
  ),
  /** Older SDKs answer these; the Director knows none of them. Read, never written by us. */
  InvalidCall: error("InvalidCall", "the request is malformed (Ruby SDK)", "fatal", "fatal"),
  Unknown: error("Unknown", "uncaught exception (Ruby SDK)", "fatal", "fatal"),
  CPIAPIVersionNotSupported: error(
    "Bosh::Clouds::CPIAPIVersionNotSupported",
    "the requested api_version is not supported",
    "fatal",
    "fatal",
  ),
  /** Raised by a caller, not by a CPI: a v2 attach_disk gave no hint. */
  AttachDiskResponseError: error(
    "Bosh::Clouds::AttachDiskResponseError",
    "attach_disk returned no disk hint",
    "raises it",
    "-",
  ),
} as const;

export type CpiErrorName = keyof typeof CPI_ERRORS;
export type CpiErrorType = (typeof CPI_ERRORS)[CpiErrorName]["type"];

const BY_TYPE = new Map<string, CpiErrorName>(
  (Object.keys(CPI_ERRORS) as CpiErrorName[]).map((name) => [CPI_ERRORS[name].type, name]),
);

/** Returns the name of a wire error; undefined for types that are not in the contract. */
export function errorNameOf(type: string, message: string): CpiErrorName | undefined {
  return isLegacyNotImplemented(type, message) ? "NotImplemented" : BY_TYPE.get(type);
}

/** Two older spellings of NotImplemented that both real callers understand. */
export function isLegacyNotImplemented(type: string, message: string): boolean {
  if (type === "InvalidCall") return message.startsWith("Method is not known, got");
  return type === "Bosh::Clouds::CloudError" && message.startsWith("Invalid Method:");
}
