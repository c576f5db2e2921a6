import type { Schema } from "@slipway/protocol/schema/marks";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type * as v from "valibot";
import { browser } from "./browser.ts";
import type { Client, Problem } from "./client.ts";

export const ClientContext = createContext<Client | undefined>(undefined);

export function useClient(): Client {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error("bug: no client around this component");
  return client;
}

export interface Live<T> {
  /** The newest answer. It stays while the Director does not answer. */
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
}

/** Time after an answer that has changed, and the longest time between two that have not. */
const SOON_MS = 2000;
const LATE_MS = 10_000;

/**
 * Keeps the answer to a question current while it is on screen. Asks with the ETag of the last answer, less often while
 * nothing changes, and not at all while the page is hidden. Without a path, nothing is asked.
 */
export function useLive<const S extends Schema>(path: string | undefined, schema: S): Live<v.InferOutput<S>> {
  const client = useClient();
  const [live, setLive] = useState<Live<v.InferOutput<S>> & { readonly path?: string | undefined }>(NOTHING);
  useEffect(() => {
    if (path === undefined) return undefined;
    let etag: string | undefined;
    return repeat(async () => {
      const answer = await client.get(path, schema, etag);
      if (answer.kind === "unchanged") return "same";
      if (answer.kind === "value") {
        etag = answer.etag;
        setLive({ path, value: answer.value, problem: undefined });
        return "changed";
      }
      const { problem } = answer;
      setLive((before) => ({ path, value: before.path === path ? before.value : undefined, problem }));
      return problem.kind === "offline" ? "changed" : "same";
    });
  }, [client, path, schema]);
  // Of another path: what was asked before is not shown for what is asked now.
  return live.path === path ? live : NOTHING;
}

const NOTHING = { value: undefined, problem: undefined };

type Outcome = "changed" | "same" | "over";

/** Repeats work until it is over or the returned function is called. Waits while the page is hidden. */
export function repeat(work: () => Promise<Outcome>, soon = SOON_MS): () => void {
  let stopped = false;
  let wait = soon;
  let cancel = () => {};
  const turn = async () => {
    cancel();
    if (stopped || document.hidden) return;
    const outcome = await work();
    if (stopped || outcome === "over") return;
    wait = outcome === "changed" ? soon : Math.min(wait * 1.5, LATE_MS);
    cancel = browser.after(wait, start);
  };
  // Work reports its own failures; what it throws is a bug of the page, and the browser's console shows it.
  const start = () => void turn();
  const onVisible = () => {
    if (!document.hidden) start();
  };
  document.addEventListener("visibilitychange", onVisible);
  start();
  return () => {
    stopped = true;
    cancel();
    document.removeEventListener("visibilitychange", onVisible);
  };
}
