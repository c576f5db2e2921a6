import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import type { ApiRequest, DirectorApi } from "./director-api.ts";
import { OddAnswer } from "./errors.ts";
import { refusalOf } from "./refusal.ts";
import { requestName, requestPath } from "./request-path.ts";

/** Documents that are asked for again and again: one that has not changed is not sent again. */
export class DocumentCache {
  readonly #api: DirectorApi;
  readonly #known = new Map<string, { readonly etag: string; readonly value: unknown }>();

  constructor(api: DirectorApi) {
    this.#api = api;
  }

  /** The same object as the last time, if it is the same document. */
  async json<const S extends v.GenericSchema>(request: ApiRequest, schema: S): Promise<v.InferOutput<S>> {
    const path = requestPath(request);
    const known = this.#known.get(path);
    const headers: Record<string, string> = known === undefined ? {} : { "if-none-match": known.etag };
    try {
      const reply = await this.#api.raw({ ...request, headers });
      const checked = check(schema, parseStrictJson(reply.text, "it"), "answer");
      if (!checked.ok) throw OddAnswer({ what: requestName(request), why: checked.problems.join("; ") });
      const etag = reply.headers.find(([name]) => name.toLowerCase() === "etag")?.[1];
      if (etag === undefined) this.#known.delete(path);
      else this.#known.set(path, { etag, value: checked.value });
      return checked.value;
    } catch (error) {
      if (known !== undefined && refusalOf(error)?.status === 304) return known.value as v.InferOutput<S>;
      throw error;
    }
  }
}
