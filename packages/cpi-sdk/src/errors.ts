import { defineError, messageTrail, SlipwayError } from "@slipway/kernel/errors";
import { CPI_ERRORS, type CpiErrorName } from "@slipway/protocol/cpi/errors";

/** An error with a type of the wire. Thrown by a CPI's methods; the SDK answers with it as it stands. */
export class CpiFailure extends Error {
  override readonly name = "CpiFailure";
  readonly wire: CpiErrorName;
  readonly okToRetry: boolean;

  constructor(
    wire: CpiErrorName,
    message: string,
    options: { readonly cause?: unknown; readonly okToRetry?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.wire = wire;
    this.okToRetry = options.okToRetry ?? false;
  }

  get type(): string {
    return CPI_ERRORS[this.wire].type;
  }
}

/** An error as the reply's message has it: with its code, its causes and the operator's next step, ending in a dot. */
export function failureText(error: unknown): string {
  const trail = (messageTrail(error) || "unknown error").replace(/\.$/, "");
  return error instanceof SlipwayError ? `${error.code} ${trail}. ${error.next}` : `${trail}.`;
}

interface Options {
  readonly cause?: unknown;
  /** True only if the identical call may succeed when repeated. */
  readonly okToRetry?: boolean;
}

export const vmNotFound = (cid: string, options?: Options) =>
  new CpiFailure("VMNotFound", `VM '${cid}' not found`, options);
export const diskNotFound = (cid: string, options?: Options) =>
  new CpiFailure("DiskNotFound", `Disk '${cid}' not found`, options);
export const stemcellNotFound = (cid: string, options?: Options) =>
  new CpiFailure("StemcellNotFound", `Stemcell '${cid}' not found`, options);
export const networkNotFound = (cid: string, options?: Options) =>
  new CpiFailure("NetworkNotFound", `Network '${cid}' not found`, options);
export const diskNotAttached = (vm: string, disk: string, options?: Options) =>
  new CpiFailure("DiskNotAttached", `Disk '${disk}' is not attached to VM '${vm}'`, options);
export const noDiskSpace = (message: string, options?: Options) =>
  new CpiFailure("NoDiskSpace", message, options);
export const vmCreationFailed = (message: string, options?: Options) =>
  new CpiFailure("VMCreationFailed", message, options);
export const notSupported = (message: string, options?: Options) =>
  new CpiFailure("NotSupported", message, options);
export const notImplemented = (method: string) =>
  new CpiFailure("NotImplemented", `Method is not known, got: '${method}'`);
export const cloudError = (message: string, options?: Options) =>
  new CpiFailure("CloudError", message, options);
/** The call itself is wrong, or the CPI broke its contract. */
export const cpiError = (message: string, options?: Options) => new CpiFailure("CpiError", message, options);

export const RegistryNotConfigured = defineError<{ method: string; why: string }>({
  code: "SDK-001",
  kind: "operator",
  message: (p) => `${p.method} needs the registry, and none is configured; nothing was changed. ${p.why}`,
  next: "Use a stemcell and a Director of API version 2 or later, or give the CPI registry.{endpoint,user,password}.",
});

export const BadConfig = defineError<{ what: string; problems: readonly string[] }>({
  code: "SDK-002",
  kind: "operator",
  message: (p) => `the configuration of the CPI is not usable (${p.what}): ${p.problems.join("; ")}`,
  next: "Correct the CPI's configuration file, or the properties of this CPI in the CPI config.",
});

export const Interrupted = defineError<{ method: string; signal: string }>({
  code: "SDK-003",
  kind: "outside",
  message: (p) => `${p.method} was interrupted by ${p.signal}`,
  next: "Repeat the call. What a create method had made is removed unless this message says otherwise.",
});

export const NoUserData = defineError<{ cid: string }>({
  code: "SDK-004",
  kind: "bug",
  message: (p) =>
    `create_vm made VM '${p.cid}' without asking for its user-data, so its agent would find no settings`,
  next: "In the CPI's createVm, pass the text of call.userData(...) to the cloud before the VM starts.",
});

export const RegistryEntryMissing = defineError<{ method: string; cid: string }>({
  code: "SDK-005",
  kind: "outside",
  message: (p) =>
    `${p.method}: the registry has no entry for VM '${p.cid}', so its agent cannot learn of the disk`,
  next: "Recreate the VM: create_vm writes the entry. If the registry lost its data, restore it first.",
});

export const BadRegistryEntry = defineError<{ method: string; cid: string; problems: readonly string[] }>({
  code: "SDK-006",
  kind: "outside",
  message: (p) =>
    `${p.method}: the registry entry of VM '${p.cid}' is not a settings document: ${p.problems.join("; ")}`,
  next: "Recreate the VM: create_vm writes a new entry. The old one was left as it is.",
});

export const StoredSettingsMissing = defineError<{ method: string; cid: string }>({
  code: "SDK-160",
  kind: "outside",
  message: (p) =>
    `${p.method}: the cloud has no settings of VM '${p.cid}', so its agent cannot learn of the disk`,
  next: "Recreate the VM: create_vm writes its settings.",
});

export const BadStoredSettings = defineError<{ problems: readonly string[] }>({
  code: "SDK-161",
  kind: "outside",
  message: (p) =>
    `the stored settings of the VM's agent are not a settings document: ${p.problems.join("; ")}`,
  next: "Recreate the VM: create_vm writes new settings. The old ones were left as they are.",
});
