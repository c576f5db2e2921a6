import { mkdir, readFile, realpath, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { IntentRecord, Journal, JournalEntry } from "@slipway/engine/journal/journal";
import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type { AppliedSpec, InstanceRecord } from "@slipway/engine/model/records";
import { syncDirectory, writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { StateNotWritten, StateUnreadable } from "../errors.ts";
import { commitTo } from "./commit.ts";
import { formatState, type OwnInstance, readState, type StateDocument } from "./document.ts";
import { reconciled } from "./reconcile.ts";

/** The only instance there is. Upstream calls it `0`, in metadata and in what it applies. */
export const INSTANCE = "0" as InstanceUuid;

const EMPTY = {
  director_id: "",
  installation_id: "",
  current_vm_cid: "",
  current_stemcell_id: "",
  current_disk_id: "",
  current_release_ids: null,
  current_manifest_sha: "",
  disks: null,
  stemcells: null,
  releases: null,
} as const;

/**
 * The state file, the same in memory and on disk: every change is complete in both before its promise resolves. The owner
 * holds the lock.
 */
export class EnvStore implements Journal {
  readonly path: string;
  readonly #random: Random;
  #document: StateDocument;
  #lastNumber = 0;

  private constructor(path: string, document: StateDocument, random: Random) {
    this.path = path;
    this.#document = document;
    this.#random = random;
  }

  /** Undefined: there is no file. */
  static async open(path: string, random: Random): Promise<EnvStore | undefined> {
    const source = await readFile(path, "utf8").catch((cause: unknown) => {
      if (systemCode(cause) === "ENOENT") return undefined;
      throw StateUnreadable({ path, problems: ["it cannot be read"] }, { cause });
    });
    if (source === undefined) return undefined;
    // A link stays a link: what it points to is replaced.
    const real = await realpath(path);
    return new EnvStore(real, reconciled(readState(source, path), random), random);
  }

  /** A new one, written at once: it has the id everything is made under. */
  static async create(path: string, random: Random): Promise<EnvStore> {
    const store = new EnvStore(path, reconciled(EMPTY, random), random);
    await mkdir(dirname(path), { recursive: true });
    await store.update(() => undefined);
    return store;
  }

  get document(): Readonly<StateDocument> {
    return this.#document;
  }

  /** On disk when it resolves; when it fails, nothing has changed. */
  async update(change: (draft: StateDocument) => void): Promise<void> {
    const draft = structuredClone(this.#document);
    change(draft);
    try {
      await writeFileAtomic(this.path, formatState(draft), 0o600);
    } catch (cause) {
      throw StateNotWritten({ path: this.path }, { cause });
    }
    this.#document = draft;
  }

  /** The end of the environment. */
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    await syncDirectory(dirname(this.path));
  }

  /** Recorded instance, in the form the flows read. */
  get instanceNow(): InstanceRecord | undefined {
    const { instance } = this.#document.slipway;
    return instance === null ? undefined : recordOf(instance);
  }

  readonly taskId = 0;

  newNumber(): number {
    this.#lastNumber = Math.max(this.#lastNumber + 1, this.#document.slipway.nextId);
    return this.#lastNumber;
  }

  async commit(entry: JournalEntry): Promise<void> {
    const { close } = entry;
    if (close !== undefined && !this.#document.slipway.intents.some(({ id }) => id === close.number)) return;
    await this.update((draft) => commitTo(draft, entry, this.#random));
  }

  /** Returns open intents of the instance, whatever the deployment's name when they were begun; others by their scope. */
  openIntents(scope: string): Promise<readonly IntentRecord[]> {
    const found = this.#document.slipway.intents.filter(({ instance, scope: its }) =>
      scope.startsWith("stemcell ") ? its === scope : instance !== null || its === scope,
    );
    return Promise.resolve(
      found.map(({ id: number, instance, scope: its, step, version, intent, settlingRefused }) => ({
        taskId: 0,
        number,
        scope: its,
        instance: instance as InstanceUuid | null,
        step,
        version,
        intent,
        ...(settlingRefused === true && { settlingRefused }),
      })),
    );
  }

  instance(): Promise<InstanceRecord | undefined> {
    return Promise.resolve(this.instanceNow);
  }

  ownerOf(id: Parameters<Journal["ownerOf"]>[0]): Promise<InstanceRecord | undefined> {
    const instance = this.instanceNow;
    const owns =
      "vm" in id
        ? instance?.vms.some(({ cid }) => cid === id.vm)
        : "disk" in id
          ? instance?.disks.some(({ cid }) => cid === id.disk)
          : instance?.vms.some(({ agentId }) => agentId === id.agent);
    return Promise.resolve(owns === true ? instance : undefined);
  }
}

const recordOf = (own: OwnInstance): InstanceRecord => ({
  id: 1,
  uuid: INSTANCE,
  group: own.group as GroupName,
  index: 0,
  az: "unknown",
  state: "started",
  bootstrap: true,
  ignore: false,
  updateCompleted: own.updateCompleted,
  spec: own.spec as unknown as AppliedSpec | null,
  vms: structuredClone(own.vms),
  disks: structuredClone(own.disks),
  ips: [],
});
