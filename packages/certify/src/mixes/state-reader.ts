import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { CloudPart } from "@slipway/cpi-sdk/certify-adapter";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type DiskHint, formatDiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import {
  checkPersistentDiskHints,
  hintFromStored,
  type StoredDiskHint,
} from "@slipway/protocol/settings/persistent-disk-hints";
import { parseUserData } from "@slipway/protocol/settings/user-data";
import { registryClient } from "@slipway/registry/client";
import type { CallRecorder } from "./call-recorder.ts";
import type { Hints, MixSnapshot, RegistryState, When } from "./row.ts";

/** Access to the registry, as the Director passed it to the CPI. */
export interface RegistryCredentials {
  readonly endpoint: string;
  readonly user: string;
  readonly password: string;
}

type Settings = Readonly<Record<string, unknown>> & {
  readonly agent_id?: unknown;
  readonly disks?: { readonly persistent?: Hints };
};

const DISK_MESSAGES =
  / (add_persistent_disk|update_persistent_disk|mount_disk|migrate_disk|unmount_disk|remove_persistent_disk) from /gm;

/** Looks at what all parts leave behind: files of the VMs, entries of the registry. Nothing is changed. */
export class StateReader {
  readonly #part: CloudPart;
  readonly #state: string;

  /** `state`: the Director's directory. */
  constructor(places: { readonly part: CloudPart; readonly state: string }) {
    this.#part = places.part;
    this.#state = places.state;
  }

  /** All of it at one moment of the story. */
  async moment(
    when: When,
    { vm, disk, access, calls }: CallRecorder,
    data: MixSnapshot["data"],
  ): Promise<MixSnapshot> {
    const last = calls.at(-1)?.vm ?? "";
    return {
      when,
      vm,
      disk,
      registry: await this.registry(vm ?? last, access),
      userData: vm === null ? null : await this.userData(vm),
      settingsFrom: vm === null ? null : await this.settingsFrom(vm, access),
      hints: vm === null ? null : await this.hints(vm),
      data,
    };
  }

  async registry(vm: string, access: RegistryCredentials | undefined): Promise<RegistryState> {
    const settings = await this.#entry(vm, access);
    if (typeof settings === "string") return settings;
    return { agentId: String(settings.agent_id), disks: settings.disks?.persistent ?? {} };
  }

  async #entry(
    vm: string,
    access: RegistryCredentials | undefined,
  ): Promise<Settings | "not started" | "no entry"> {
    if (!existsSync(join(this.#state, "registry"))) return "not started";
    if (access === undefined) throw new Error("there is a registry, and the Director never said where");
    const { endpoint, user: username, password } = access;
    const text = await registryClient({ endpoint, username, password }).get(vm);
    return text === undefined ? "no entry" : (parseStrictJson(text, "an entry of the registry") as Settings);
  }

  /** Returns the hints that the agent itself wrote down. */
  async hints(vm: string): Promise<Hints> {
    const text = await this.#part.hints(vm);
    if (text === undefined) return {};
    const stored = checkPersistentDiskHints(parseStrictJson(text, "the hints of the agent"));
    if (!stored.ok) throw new Error(stored.problems.join("; "));
    return Object.fromEntries(
      Object.entries(stored.value).flatMap(([cid, one]) => {
        const hint = wholeHint(one) ?? hintFromStored(one);
        return hint === undefined ? [] : [[cid, formatDiskHint(hint)]];
      }),
    );
  }

  async userData(vm: string): Promise<NonNullable<MixSnapshot["userData"]>> {
    const parsed = parseUserData(await this.#part.userData(vm));
    return parsed.ok ? parsed.userData.form : "unusable";
  }

  /**
   * The settings the agent works with are those of the registry or those of the user-data, whichever they are equal to;
   * and its log must say the same. The disks are left out: they change while the agent goes on with what it has read.
   */
  async settingsFrom(
    vm: string,
    access: RegistryCredentials | undefined,
  ): Promise<NonNullable<MixSnapshot["settingsFrom"]>> {
    const used = parseStrictJson(await this.#part.settings(vm), "the settings of the agent") as Settings;
    const said = /ready: settings from the registry /.test(await this.#part.agentLog(vm));
    const entry = await this.#entry(vm, access);
    if (typeof entry !== "string" && said && sameBesideDisks(used, entry)) return "registry";
    const given = parseStrictJson(await this.#part.userData(vm), "user-data") as Settings;
    return !said && sameBesideDisks(used, given) ? "user-data" : "unknown";
  }

  async told(vm: string): Promise<readonly string[]> {
    return [...(await this.#part.agentLog(vm)).matchAll(DISK_MESSAGES)].map(([, message = ""]) => message);
  }

  /** VMs and disks that there are. */
  async things(): Promise<readonly string[]> {
    return [...(await this.#part.vms()), ...(await this.#part.disks())];
  }
}

/** Our agent keeps a hint whole where upstream's fields cannot hold it. */
function wholeHint(stored: StoredDiskHint): DiskHint | undefined {
  const parsed = parseDiskHint((stored as Readonly<Record<string, unknown>>).Hint);
  return parsed.ok ? parsed.hint : undefined;
}

function sameBesideDisks(one: Settings, other: Settings): boolean {
  return isDeepStrictEqual({ ...one, disks: null }, { ...other, disks: null });
}
