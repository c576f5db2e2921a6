import type { Info } from "@slipway/protocol/director/info";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client } from "../api/client.ts";

export interface Session {
  readonly client: Client;
  /** `GET /info` at the time of sign-in. */
  readonly info: Info;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("bug: nobody is signed in");
  return session;
}

/** Tells whether the user may change things of these teams. The Director decides; the page hides what it would refuse. */
export function mayChange({ info }: Session, teams: readonly string[] = []): boolean {
  const access = info.slipway?.access;
  if (access === undefined) return false;
  return access.admin || teams.some((team) => access.admin_of.includes(team));
}
