import { systemRandom } from "@slipway/kernel/random";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { expect } from "vitest";

/** A CPI with a cloud of the test's own, asked as a Director of version 2 asks it. */
export abstract class CpiUnderTest {
  readonly director: string;
  #last = 0;

  protected constructor(director: string) {
    this.director = director;
  }

  abstract ask(method: string, args: readonly unknown[], requestId?: string): Promise<CpiResponse>;

  /** A number that nothing else of this cloud has. */
  protected next(): number {
    return ++this.#last;
  }

  request(method: string, args: readonly unknown[], requestId?: string) {
    return {
      method,
      arguments: args,
      context: {
        director_uuid: this.director,
        request_id: requestId ?? `request-${this.next()}-${systemRandom.hex(8)}`,
        vm: { stemcell: { api_version: 3 } },
      },
      api_version: 2,
    };
  }

  async result<T = unknown>(method: string, args: readonly unknown[], requestId?: string): Promise<T> {
    const reply = await this.ask(method, args, requestId);
    expect(reply.error).toBeNull();
    return reply.result as T;
  }

  /** The text of the refusal. */
  async refusal(method: string, args: readonly unknown[]): Promise<string> {
    const reply = await this.ask(method, args);
    expect(reply.error).not.toBeNull();
    return `${reply.error?.type} ${reply.error?.message}`;
  }
}
