import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { BadJson, parseStrictJson } from "@slipway/kernel/strict-json";
import { type Checked, check } from "@slipway/protocol/schema/check";
import {
  type AgentSettings,
  type UpdateSettings,
  updateSettings,
} from "@slipway/protocol/settings/agent-settings";
import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import {
  checkPersistentDiskHints,
  type PersistentDiskHints,
} from "@slipway/protocol/settings/persistent-disk-hints";
import type { Paths } from "../paths.ts";
import type { DiskSettings } from "../platform/disks.ts";
import type { SettingsService } from "../services.ts";
import { putAside, readState, type StateTools, sweepTemporaries, writeState } from "../state/state-file.ts";
import { keepsSettingsInMemory } from "./effective.ts";
import { SettingsNotLoaded } from "./errors.ts";
import { FIRST_SEARCH, type FoundSettings, REFRESH, type SettingsFinder } from "./find.ts";
import { knownDisks, storedHint } from "./hints.ts";
import { mergeUpdates, updatesDocument } from "./merge-updates.ts";
import { parseSettings } from "./parse.ts";

export interface SettingsStoreOptions {
  readonly paths: Paths;
  readonly finder: Pick<SettingsFinder, "find">;
  readonly tools: StateTools;
  /** Makes a tmpfs of a directory unless it is one, for settings that must not touch a disk. */
  readonly mountTmpfs: (directory: string) => Promise<void>;
}

interface Files {
  readonly settings: string;
  readonly updates: string;
  readonly hints: string;
}

/** The settings of this VM: asked from their source, kept in upstream's files, changed by the Director. */
export class SettingsStore implements SettingsService {
  readonly #options: SettingsStoreOptions;
  readonly #onDisk: Files;
  readonly #inMemory: Files;
  #files: Files;
  #settings: AgentSettings | undefined;
  #updates: UpdateSettings = {};
  #hints: PersistentDiskHints = {};
  #origin = "no settings yet";
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: SettingsStoreOptions) {
    const { paths } = options;
    this.#options = options;
    this.#onDisk = {
      settings: paths.settings,
      updates: paths.updateSettings,
      hints: paths.persistentDiskHints,
    };
    const tmpfs = join(paths.boshDir, "settings");
    this.#inMemory = {
      settings: join(tmpfs, "settings.json"),
      updates: join(tmpfs, "update_settings.json"),
      hints: join(tmpfs, "persistent_disk_hints.json"),
    };
    this.#files = this.#onDisk;
  }

  /** Takes up the files of the last start. Whether there are usable settings among them. */
  async loadStored(): Promise<boolean> {
    const { tools } = this.#options;
    this.#files = (await exists(this.#inMemory.settings)) ? this.#inMemory : this.#onDisk;
    await sweepTemporaries([...Object.values(this.#onDisk), ...Object.values(this.#inMemory)]);
    const { settings, updates, hints } = this.#files;
    this.#settings = await readState(settings, (text) => parseSettings(text, settings), tools);
    this.#updates = (await readState(updates, (text) => parsed(text, updates, checkUpdates), tools)) ?? {};
    const hadHints = await exists(hints);
    const stored = await readState(hints, (text) => parsed(text, hints, checkPersistentDiskHints), tools);
    this.#hints = stored ?? {};
    if (hadHints && stored === undefined) {
      tools.log.warn(
        "the disk hints are lost; disks are known from the settings only, until hints are sent again",
      );
    }
    if (this.#settings !== undefined) this.#origin = `settings from ${settings}, until a source answers`;
    return this.#settings !== undefined;
  }

  /** Settings for this start: from a source, or those of the last start when none answers. */
  async load(signal: AbortSignal): Promise<AgentSettings> {
    const { finder, tools } = this.#options;
    const stored = this.#settings;
    try {
      const found = await finder.find(signal, stored === undefined ? FIRST_SEARCH : REFRESH);
      if (stored !== undefined && stored.agent_id !== found.settings.agent_id) await this.#forgetForeign();
      await this.#adopt(found);
    } catch (error) {
      signal.throwIfAborted();
      if (stored === undefined) throw error;
      this.#origin = `settings from ${this.#files.settings}, because ${messageTrail(error)}`;
      tools.log.warn(this.#origin);
    }
    return this.current();
  }

  async reload(signal: AbortSignal): Promise<AgentSettings> {
    const { finder, tools } = this.#options;
    try {
      const found = await finder.find(signal, REFRESH);
      if (found.settings.agent_id === this.current().agent_id) await this.#adopt(found);
      else tools.log.warn("the settings at the source are now another agent's; they are not used");
    } catch (error) {
      signal.throwIfAborted();
      tools.log.warn(`the settings were not refreshed: ${messageTrail(error)}`);
    }
    return this.current();
  }

  current(): AgentSettings {
    if (this.#settings === undefined) throw SettingsNotLoaded({});
    return this.#settings;
  }

  updates(): UpdateSettings {
    return this.#updates;
  }

  origin(): string {
    return this.#origin;
  }

  async saveUpdates(pushed: UpdateSettings): Promise<{ readonly restart: boolean }> {
    return await this.#oneAtATime(async () => {
      const { updates, restart } = mergeUpdates(this.current(), this.#updates, pushed);
      await this.#keepUpdates(updates);
      return { restart };
    });
  }

  async #keepUpdates(updates: UpdateSettings): Promise<void> {
    await writeState(this.#files.updates, JSON.stringify(updatesDocument(updates)));
    this.#updates = updates;
  }

  async persistentDisks(): Promise<ReadonlyMap<string, DiskSettings>> {
    return knownDisks(this.current(), this.#updates, this.#hints);
  }

  async addHint(cid: string, hint: DiskHint): Promise<void> {
    await this.#changeHints((hints) => ({ ...hints, [cid]: storedHint(cid, hint, this.current()) }));
  }

  async removeHint(cid: string): Promise<void> {
    await this.#changeHints((hints) => without(hints, cid));
    await this.#oneAtATime(async () => {
      const { disks } = this.#updates;
      if (disks?.persistent?.[cid] === undefined) return;
      await this.#keepUpdates({
        ...this.#updates,
        disks: { ...disks, persistent: without(disks.persistent, cid) },
      });
    });
  }

  async saveDisks(disks: Disks): Promise<void> {
    await this.#oneAtATime(() => this.#keepUpdates({ ...this.#updates, disks }));
    // The newer word counts: a hint from before must not hide it.
    const named = Object.keys(disks.persistent ?? {}).filter((cid) => Object.hasOwn(this.#hints, cid));
    if (named.length > 0) await this.#changeHints((hints) => without(hints, ...named));
  }

  async #changeHints(change: (hints: PersistentDiskHints) => PersistentDiskHints): Promise<void> {
    await this.#oneAtATime(async () => {
      const next = change(this.#hints);
      await writeState(this.#files.hints, JSON.stringify(next));
      this.#hints = next;
    });
  }

  /** Two changes at once would each write without the other's. */
  async #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#writing.then(work);
    this.#writing = mine.catch(() => undefined);
    return await mine;
  }

  async #adopt(found: FoundSettings): Promise<void> {
    const { tools } = this.#options;
    const same = JSON.stringify(this.#settings) === JSON.stringify(found.settings);
    this.#settings = found.settings;
    if (this.#origin !== found.origin) tools.log.info(found.origin);
    this.#origin = found.origin;
    if (keepsSettingsInMemory(found.settings) && this.#files !== this.#inMemory) await this.#moveToMemory();
    else if (same && (await exists(this.#files.settings))) return;
    try {
      await writeState(this.#files.settings, JSON.stringify(found.settings));
    } catch (error) {
      // Only a cache of what the source has just said; a full disk must not keep the agent from running.
      tools.log.error(`the settings are in use but not kept: ${messageTrail(error)}`);
    }
  }

  async #moveToMemory(): Promise<void> {
    await this.#options.mountTmpfs(join(this.#options.paths.boshDir, "settings"));
    const from = this.#files;
    this.#files = this.#inMemory;
    for (const key of ["updates", "hints"] as const) {
      const content = key === "updates" ? updatesDocument(this.#updates) : this.#hints;
      if (await exists(from[key])) await writeState(this.#inMemory[key], JSON.stringify(content));
    }
    for (const file of Object.values(from)) await rm(file, { force: true });
  }

  /** A root disk that another VM had before: what that VM was told is not for this one. */
  async #forgetForeign(): Promise<void> {
    for (const file of Object.values(this.#files)) {
      await putAside(file, "it was written for another agent id", this.#options.tools);
    }
    this.#updates = {};
    this.#hints = {};
  }
}

const without = <T>(all: Readonly<Record<string, T>>, ...cids: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([cid]) => !cids.includes(cid)));

const checkUpdates = (value: unknown) => check(updateSettings, value, "update_settings.json");

function parsed<T>(text: string, path: string, checked: (value: unknown) => Checked<T>): T {
  const result = checked(parseStrictJson(text, path));
  if (!result.ok) throw BadJson({ what: path, why: result.problems.join("; ") });
  return result.value;
}
