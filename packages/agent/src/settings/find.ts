import { type Backoff, delayBefore } from "@slipway/kernel/backoff";
import { messageTrail } from "@slipway/kernel/errors";
import type { AgentSettings } from "@slipway/protocol/settings/agent-settings";
import { RegistryNotAllowed, SettingsNotFound } from "./errors.ts";
import { parseDocument } from "./parse.ts";
import { askRegistry, type RegistryTools } from "./registry.ts";
import type { SettingsReader } from "./sources/source.ts";

export interface FoundSettings {
  readonly settings: AgentSettings;
  /** Source that was used and why, in one line without secrets. */
  readonly origin: string;
}

export interface FinderOptions {
  readonly sources: readonly SettingsReader[];
  /** Forces or forbids the registry. Undefined to use it if the user-data name one. */
  readonly useRegistry: boolean | undefined;
  readonly useServerName: boolean;
  /** Called between two rounds with the round and what each source answered. */
  readonly onWait?: (round: string, cause: string) => void;
}

/** Every source is asked once in a round; a source that is slow to appear does not keep the next one from being used. */
export const FIRST_SEARCH: Backoff = { tries: 10, firstDelayMs: 1000, longestDelayMs: 2000 };
/** Retries if the settings of the last start can be used instead. */
export const REFRESH: Backoff = { tries: 3, firstDelayMs: 500, longestDelayMs: 1000 };

/** Finds the settings. The source that gave them is the only one asked from then on. */
export class SettingsFinder {
  readonly #options: FinderOptions;
  readonly #tools: RegistryTools;
  #pinned: SettingsReader | undefined;

  constructor(options: FinderOptions, tools: RegistryTools) {
    this.#options = options;
    this.#tools = tools;
  }

  async find(signal: AbortSignal, backoff: Backoff): Promise<FoundSettings> {
    const sources = this.#pinned === undefined ? this.#options.sources : [this.#pinned];
    let attempts: string[] = [];
    for (let round = 1; round <= backoff.tries; round++) {
      attempts = [];
      for (const source of sources) {
        try {
          const found = await this.#from(source, signal);
          this.#pinned = source;
          return found;
        } catch (error) {
          signal.throwIfAborted();
          attempts.push(messageTrail(error));
        }
      }
      this.#options.onWait?.(`round ${round} of ${backoff.tries}`, attempts.join("; "));
      if (round < backoff.tries)
        await this.#tools.clock.sleep(delayBefore(round, backoff, this.#tools.random), signal);
    }
    throw SettingsNotFound({ attempts });
  }

  /** The key of the first source that knows one. A source without it is no failure. */
  async sshKey(signal: AbortSignal): Promise<string | undefined> {
    const sources = this.#pinned === undefined ? this.#options.sources : [this.#pinned];
    for (const source of sources) {
      const key = await source.sshKey?.(signal).catch(() => undefined);
      signal.throwIfAborted();
      if (key !== undefined) return key;
    }
    return undefined;
  }

  async #from(source: SettingsReader, signal: AbortSignal): Promise<FoundSettings> {
    const userData = parseDocument(await source.read(signal), source.name);
    if (userData.form === "settings") {
      return { settings: userData.settings, origin: `settings from ${source.name}, which has an agent_id` };
    }
    const { useRegistry, useServerName } = this.#options;
    if (useRegistry === false) throw RegistryNotAllowed({ source: source.name });
    const { settings, where } = await askRegistry(
      userData.userData,
      source,
      useServerName,
      this.#tools,
      signal,
    );
    return { settings, origin: `settings from ${where}, to which ${source.name} leads; it has no agent_id` };
  }
}
