import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Journal } from "./journal.ts";

/**
 * What is recorded of one instance, read when it is needed and again only after a step that may have changed it. Nobody
 * else changes it: whoever runs steps holds the lock of the deployment.
 */
export class Records {
  readonly uuid: InstanceUuid;
  readonly #journal: Pick<Journal, "instance">;
  #known: InstanceRecord | undefined;

  constructor(uuid: InstanceUuid, journal: Pick<Journal, "instance">) {
    this.uuid = uuid;
    this.#journal = journal;
  }

  async instance(): Promise<InstanceRecord | undefined> {
    this.#known ??= await this.#journal.instance(this.uuid);
    return this.#known;
  }

  forget(): void {
    this.#known = undefined;
  }
}
