import type { TypedInput } from "../command.ts";
import { type Host, type SessionTools, type SshSession, withSession } from "./session.ts";

/** A VM, and the session it is entered in. */
export interface Entered {
  readonly host: Host;
  readonly session: SshSession;
}

/**
 * VMs of several slugs, each once; without slugs all. Each slug has a user of its own: two may mean the same VM, whose agent
 * makes no user twice.
 */
export async function withSessions<T>(
  asked: readonly string[],
  given: TypedInput,
  tools: SessionTools,
  work: (entered: readonly Entered[]) => Promise<T>,
): Promise<T> {
  const enter = async (rest: readonly (string | undefined)[], entered: readonly Entered[]): Promise<T> => {
    const [next, ...others] = rest;
    if (rest.length === 0) return await work(entered);
    return await withSession(next, given, tools, (session) => {
      const isNew = ({ name }: Host) => entered.every(({ host }) => host.name !== name);
      const more = session.hosts.filter(isNew).map((host) => ({ host, session }));
      return enter(others, [...entered, ...more]);
    });
  };
  return await enter(asked.length === 0 ? [undefined] : [...new Set(asked)], []);
}
